// Owns the way from a host name to the addresses that a request may connect to.
//
//   A1 All addresses of a name are checked, and one that may not be reached refuses the name.
//   A2 The connection goes to the addresses that were checked: the name is not resolved again.

import { lookup } from "node:dns/promises";
import { type BlockList, isIP, type LookupFunction } from "node:net";
import { mayConnect } from "./addresses.js";
import { httpRefusal } from "./errors.js";

export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name. */
export type ResolveHost = (hostname: string) => Promise<readonly HostAddress[]>;

export const systemResolve: ResolveHost = (hostname) => lookup(hostname, { all: true });

/** `URL.hostname` without the brackets of IPv6. */
export function plainHost(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

/** The checked addresses of a host (A1). Throws DefiniteFailure: nothing was sent. */
export async function checkedAddresses(
  hostname: string,
  allowed: BlockList | null,
  resolve: ResolveHost,
): Promise<readonly HostAddress[]> {
  const host = plainHost(hostname);
  const family = isIP(host);
  const addresses = family === 0 ? await resolved(host, resolve) : [{ address: host, family }];
  if (addresses.length === 0) throw httpRefusal(`getaddrinfo ENOTFOUND ${host}`, "ENOTFOUND");
  if (!addresses.every(({ address }) => mayConnect(address, allowed))) {
    // Which address it is stays here: answers must not map the network for whoever asks.
    throw httpRefusal(`${host} is not a public address; nothing was sent`, "EACCES");
  }
  return addresses;
}

async function resolved(host: string, resolve: ResolveHost): Promise<readonly HostAddress[]> {
  try {
    return await resolve(host);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "ENOTFOUND";
    throw httpRefusal(`getaddrinfo ${code} ${host}`, code);
  }
}

/** A lookup for `node:http` that knows the checked addresses and nothing else (A2). */
export function pinned(addresses: readonly HostAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all === true) {
      callback(null, [...addresses]);
    } else if (first === undefined) {
      callback(new Error("there is no address"), "", 4);
    } else {
      callback(null, first.address, first.family);
    }
  };
}
