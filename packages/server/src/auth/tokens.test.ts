// Goal: a token opens while it is in the file, in force and in time, by the wall clock.
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Authenticator } from "./authenticator.js";
import { createToken, revokeToken } from "./token-store.js";
import { bearerOf, TokenFile } from "./tokens.js";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "agenttx-tokens-"));
  path = join(folder, "tokens.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const entry = { tenant: "", tools: null, scopes: ["run" as const], expiresAt: null };

describe("the tokens file", () => {
  it("says when a token expires, by the wall clock, wherever that jumps", () => {
    const token = createToken(path, { ...entry, name: "a", expiresAt: "2030-01-01T00:00:00Z" });
    let now = 0;
    const authenticator = new Authenticator(new TokenFile(path, () => {}), false, () => now);
    const credentials = { authorization: `Bearer ${token}`, certificateName: null };
    const opens = () => {
      try {
        return authenticator.authenticate(credentials).name;
      } catch {
        return null;
      }
    };
    const expiry = Date.parse("2030-01-01T00:00:00Z");
    const seen = [0, expiry - 1, expiry, expiry + 3.2e11, expiry - 1].map((at) => {
      now = at;
      return opens();
    });
    expect(seen).toEqual(["a", "a", null, null, "a"]);
  });

  it("is private, never half-written, and holds no token", () => {
    const token = createToken(path, { ...entry, name: "a" });
    chmodSync(path, 0o644);
    createToken(path, { ...entry, name: "b" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).not.toContain(token.slice(4));
    expect(revokeToken(path, "a")).toBe(1);
    expect(revokeToken(path, "a")).toBe(0);
    expect(() => revokeToken(path, "c")).toThrow(/no token named c/);
    createToken(path, { ...entry, name: "a" });
  });

  it("is changed by one at a time", () => {
    writeFileSync(`${path}.lock`, "");
    expect(() => createToken(path, { ...entry, name: "a" })).toThrow(/another change/);
  });

  it("is refused at the start when it cannot be used, with the reason", () => {
    for (const text of ["", "{}", '{"tokens":[{"name":"a"}]}', '{"tokens":[],"more":1}']) {
      writeFileSync(path, text);
      expect(() => new TokenFile(path, () => {})).toThrow(/tokens file/);
    }
  });

  it("warns when others can read it", () => {
    createToken(path, { ...entry, name: "a" });
    chmodSync(path, 0o644);
    const warnings: string[] = [];
    new TokenFile(path, (message) => warnings.push(message));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("chmod 600");
  });
});

describe("certificates", () => {
  it("whose name is no tenant name open nothing", () => {
    const authenticator = new Authenticator(null, true);
    const as = (certificateName: string | null) => () =>
      authenticator.authenticate({ authorization: undefined, certificateName });
    expect(as("acme")().tenant).toBe("acme");
    for (const name of [null, "", "a/b", "a b", "x".repeat(65), "ä"]) expect(as(name)).toThrow();
  });
});

describe("a bearer header", () => {
  it("is read strictly", () => {
    expect(bearerOf("Bearer abc")).toBe("abc");
    expect(bearerOf("bearer abc")).toBe("abc");
    for (const header of [undefined, "", "abc", "Basic abc", "Bearer ", "Bearer a b", "Bearer ä"]) {
      expect(bearerOf(header)).toBeNull();
    }
    expect(bearerOf(`Bearer ${"x".repeat(513)}`)).toBeNull();
  });
});
