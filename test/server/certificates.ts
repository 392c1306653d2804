// Owns certificates for tests, made by the openssl command.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Signed {
  readonly cert: string;
  readonly key: string;
}

export function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** An authority in a directory, and what it signs. */
export class Authority {
  readonly cert: string;
  readonly #key: string;
  readonly #folder: string;
  readonly #name: string;

  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.#name = name;
    this.cert = join(folder, `${name}.pem`);
    this.#key = join(folder, `${name}.key`);
    openssl(
      "req",
      "-x509",
      ...FRESH,
      this.#key,
      "-out",
      this.cert,
      "-subj",
      `/CN=${name}`,
      "-days",
      "2",
    );
  }

  /** A certificate for 127.0.0.1 or for a client of this common name. */
  sign(name: string): Signed {
    const at = (ending: string) => join(this.#folder, `${this.#name}-${name}.${ending}`);
    const [cert, key, request, extra] = [at("pem"), at("key"), at("csr"), at("ext")];
    openssl("req", ...FRESH, key, "-out", request, "-subj", `/CN=${name}`);
    writeFileSync(extra, "subjectAltName=IP:127.0.0.1,DNS:localhost\n");
    const by = ["-CA", this.cert, "-CAkey", this.#key, "-CAcreateserial"];
    openssl("x509", "-req", "-in", request, ...by, "-out", cert, "-days", "2", "-extfile", extra);
    return { cert, key };
  }
}

const FRESH = [
  "-newkey",
  "ec",
  "-pkeyopt",
  "ec_paramgen_curve:prime256v1",
  "-nodes",
  "-keyout",
] as const;

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
}
