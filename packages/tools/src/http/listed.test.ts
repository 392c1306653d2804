// Goal: what is not listed is not called and what is not public is not reached, whatever names,
// addresses and redirects do. Method: a real service on the loopback; the test resolves names.

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BookingService } from "../testing/booking-service.js";
import { toolContext, undoContext } from "../testing/context.js";
import { errorOf, get, LOOPBACK, openHttpBench, send } from "../testing/http-bench.js";
import { listOf, mayConnect } from "./addresses.js";
import type { HostAddress } from "./resolve.js";
import { type HttpOptions, httpTools } from "./tools.js";

const { directory, service, make, port } = await openHttpBench();

describe("the list of services", () => {
  const refused = (url: string): readonly [string, string] => [url, "url"];
  const cases = [
    refused("https://example.com/"),
    refused(`http://localhost:${port}/v1/x`),
    refused(`http://127.0.0.1:${port}/v2/x`),
    refused(`http://127.0.0.1:${port}/v10`),
    refused(`http://127.0.0.1:${port}/v1/../admin`),
    refused(`http://127.0.0.1:${port}/v1/%2e%2e/admin`),
    refused(`http://127.0.0.1:${port}/v1/..%2fadmin`),
    refused(`http://127.0.0.1:${port}/v1/..%5cadmin`),
    refused(`http://127.0.0.1:${port}/v1/a%2Eb`),
    refused(`http://user:pass@127.0.0.1:${port}/v1/x`),
    refused(`http://127.0.0.1:${port}@example.com/v1/x`),
    refused(`ftp://127.0.0.1:${port}/v1/x`),
    refused("file:///etc/passwd"),
    refused("/v1/x"),
    refused(`https://127.0.0.1:${port}/v1/x`),
  ];
  for (const [url] of cases) {
    it(`does not cover ${url.replace(port, "PORT")}`, async () => {
      const tools = make({ url: `${service.origin}/v1` });
      const error = await errorOf(get(tools, url));
      expect(error.message).toMatch(/^url: /);
      expect(service.seen).toEqual([]);
    });
  }

  it("takes the prefix itself and what lies below, in any spelling of the address", async () => {
    const tools = make({ url: `${service.origin}/v1` });
    service.answer = () => [200, ""];
    for (const host of ["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1"]) {
      await get(tools, `http://${host}:${port}/v1`);
      await get(tools, `http://${host}:${port}/v1/a/b?c=d`);
    }
    expect(service.seen).toHaveLength(10);
  });

  it("refuses methods that a service does not offer", async () => {
    const tools = make({ methods: ["GET"] });
    const error = await errorOf(send(tools, { method: "DELETE", url: `${service.origin}/x` }));
    expect(error.message).toMatch(/^method: /);
  });

  it("refuses headers that only the configuration sets, and broken ones", async () => {
    const tools = make({ headers: { "X-Team": "a" }, idempotencyHeader: "x-key" });
    const headers = ["Host", "authorization", "Cookie", "x-team", "X-Key", "X-Forwarded-For"];
    for (const name of headers) {
      const args = { method: "GET", url: service.origin, headers: { [name]: "x" } };
      expect((await errorOf(send(tools, args))).message, name).toMatch(/^headers: /);
    }
    for (const [name, value] of [
      ["a b", "x"],
      ["a", "x\r\nb: c"],
    ] as const) {
      const args = { method: "GET", url: service.origin, headers: { [name]: value } };
      expect((await errorOf(send(tools, args))).message).toMatch(/^headers/);
    }
    expect(service.seen).toEqual([]);
  });

  it("is refused itself when an entry cannot be meant", () => {
    const invalid = expect.objectContaining({ code: "TOOL_INVALID" });
    const wrong: HttpOptions["allow"][] = [
      [],
      ["example.com"],
      ["ftp://example.com/"],
      ["https://user@example.com/"],
      ["https://example.com/?a=b"],
      [{ url: "https://example.com", networks: ["10.0.0.0/33"] }],
      [{ url: "https://example.com", networks: ["somewhere"] }],
      [{ url: "https://example.com", headers: { "a b": "c" } }],
      [{ url: "https://example.com", calls: [{ method: "POST", path: "../x" }] }],
      [
        {
          url: "https://e.com",
          calls: [{ method: "POST", path: "x", lookup: { path: "//e.org" } }],
        },
      ],
    ];
    for (const allow of wrong) {
      expect(() => httpTools({ allow }), JSON.stringify(allow)).toThrow(invalid);
    }
  });
});

describe("addresses", () => {
  const PRIVATE = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:10.0.0.1",
    "0:0:0:0:0:ffff:a9fe:a9fe",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:0:53aa:64c::1",
    "2001:10::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "3fff::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "5f00::1",
    "localhost",
    "",
    "1.2.3",
  ];
  const PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "192.167.1.1",
    "198.17.0.1",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "::ffff:8.8.8.8",
  ];

  it("are refused when they are not public", () => {
    expect(PRIVATE.filter((address) => mayConnect(address, null))).toEqual([]);
  });

  it("are taken when they are public", () => {
    expect(PUBLIC.filter((address) => !mayConnect(address, null))).toEqual([]);
  });

  it("are taken when their range is listed, and no others", () => {
    const allowed = listOf(["10.1.0.0/16", "fd00::/8", "127.0.0.1"]);
    const taken = ["10.1.2.3", "10.2.0.1", "fd12::1", "127.0.0.1", "::ffff:127.0.0.1", "127.0.0.2"];
    expect(taken.map((address) => mayConnect(address, allowed))).toEqual([
      true,
      false,
      true,
      true,
      true,
      false,
    ]);
  });

  it("written in any way are checked as what they are", async () => {
    for (const host of [
      "127.0.0.1",
      "2130706433",
      "0x7f.1",
      "0177.0.0.1",
      "[::1]",
      "[::ffff:7f00:1]",
    ]) {
      const url = `http://${host}:${port}`;
      const error = await errorOf(get(httpTools({ allow: [url] }), url));
      expect(error, host).toMatchObject({ definite: true, code: "EACCES" });
    }
    expect(service.seen).toEqual([]);
  });

  const named = (answers: readonly (readonly string[])[], networks: readonly string[] = []) => {
    let asked = 0;
    const resolve = async (): Promise<HostAddress[]> => {
      const addresses = answers[Math.min(asked, answers.length - 1)] ?? [];
      asked += 1;
      return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    };
    const url = `http://api.example.test:${port}`;
    return { url, tools: httpTools({ allow: [{ url, networks }], resolve }), asked: () => asked };
  };

  it("are refused when one of several is not public, and their values are not told", async () => {
    const { url, tools } = named([["93.184.216.34", "127.0.0.1"]]);
    const error = await errorOf(get(tools, url));
    expect(error).toMatchObject({ definite: true, code: "EACCES" });
    expect(error.message).not.toContain("127.0.0.1");
    expect(service.seen).toEqual([]);
  });

  it("that were checked are the ones connected to: the name is asked once", async () => {
    const { url, tools, asked } = named([["127.0.0.1"], ["10.0.0.1"]], LOOPBACK);
    service.answer = () => [200, "here"];
    expect(await get(tools, url)).toMatchObject({ body: "here" });
    expect(service.seen[0]?.headers.host).toBe(`api.example.test:${port}`);
    expect(asked()).toBe(1);
    const rebound = await errorOf(get(tools, url));
    expect(rebound).toMatchObject({ definite: true, code: "EACCES" });
  });

  it("are checked for the undo and the lookup as well", async () => {
    const url = `http://api.example.test:${port}`;
    let address = "127.0.0.1";
    const [tool] = httpTools({
      allow: [
        {
          url,
          networks: LOOPBACK,
          calls: [
            {
              method: "POST",
              path: "bookings",
              lookup: { path: "bookings/by-key/{key}" },
              cancel: { method: "DELETE", path: "bookings/{output.body.id}" },
            },
          ],
        },
      ],
      resolve: async () => [{ address, family: 4 }],
    });
    const args = { method: "POST", url: `${url}/bookings`, body: { item: "x" } } as const;
    const context = toolContext({ key: "rebinding" });
    const output = (await tool.execute(args, context)) as never;
    address = "127.0.0.2";
    const undo = async () => tool.compensate?.({ args, output }, undoContext("rebinding"));
    const lookup = async () =>
      tool.lookup?.({ args, idempotencyKey: "rebinding" }, undoContext("rebinding"));
    for (const attempt of [undo, lookup]) {
      expect(await errorOf(attempt())).toMatchObject({ code: "EACCES" });
    }
  });

  it("that do not exist are a definite failure", async () => {
    const { url, tools } = named([[]]);
    expect(await errorOf(get(tools, url))).toMatchObject({ definite: true, code: "ENOTFOUND" });
  });
});

describe("redirects", () => {
  const hop = (location: string) => {
    service.answer = ({ path }) => (path === "/start" ? [302, "", { location }] : [200, path]);
  };

  it("are not followed by default", async () => {
    hop("/end");
    const error = await errorOf(get(make(), `${service.origin}/start`));
    expect(error.message).toMatch(/^HTTP\/1\.1 302 Found/);
    expect(service.seen).toHaveLength(1);
  });

  it("of a read are followed as far as allowed, each hop on the list", async () => {
    const tools = make({}, { redirectsMax: 1 });
    hop("/end");
    expect(await get(tools, `${service.origin}/start`)).toMatchObject({ body: "/end" });
    for (const to of [
      "http://169.254.169.254/",
      `http://localhost:${port}/x`,
      "file:///etc/passwd",
    ]) {
      hop(to);
      expect(await errorOf(get(tools, `${service.origin}/start`)), to).toMatchObject({
        definite: true,
      });
    }
    hop("/start");
    expect((await errorOf(get(tools, `${service.origin}/start`))).message).toContain("redirects");
  });

  it("do not carry headers to another service", async () => {
    const other = await BookingService.start(join(directory, "other.db"));
    try {
      hop(`${other.origin}/bookings/1`);
      const allow = [
        { url: service.origin, networks: LOOPBACK, headers: { "x-token": "first" } },
        { url: other.origin, networks: LOOPBACK },
      ];
      const tools = httpTools({ allow, redirectsMax: 2 });
      const headers = { "x-mine": "1" };
      await errorOf(send(tools, { method: "GET", url: `${service.origin}/start`, headers }));
      expect(service.seen[0]?.headers).toMatchObject({ "x-token": "first", "x-mine": "1" });
      expect(other.seen[0]?.headers).not.toHaveProperty("x-token");
      expect(other.seen[0]?.headers).not.toHaveProperty("x-mine");
    } finally {
      await other.close();
    }
  });

  it("of a change are never followed", async () => {
    hop("/end");
    const tools = make({}, { redirectsMax: 5 });
    await errorOf(send(tools, { method: "POST", url: `${service.origin}/start` }));
    expect(service.seen.map(({ path }) => path)).toEqual(["/start"]);
  });
});
