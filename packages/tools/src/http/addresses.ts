// Owns which addresses may be connected to. Everything that is not plainly public is refused: the
// lists name what is allowed, so that a range nobody thought of is not reached by accident.

import { BlockList, isIP } from "node:net";
import { AgentTxError } from "@agenttx/model";

/** Special purpose ranges of IPv4 (IANA), multicast and reserved ones included. */
const SPECIAL_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

/** Global unicast of IPv6; mapped, translated (NAT64), link-local and unique-local lie outside. */
const GLOBAL_V6 = "2000::/3";

/** Inside it: protocol assignments with Teredo and ORCHID, documentation, 6to4. */
const SPECIAL_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"];

const specialV4 = listOf(SPECIAL_V4);
const globalV6 = listOf([GLOBAL_V6]);
const specialV6 = listOf(SPECIAL_V6);

/** Ranges as `address/bits` or single addresses. Throws TOOL_INVALID for anything else. */
export function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    const family = isIP(address);
    const most = family === 4 ? 32 : 128;
    const length = bits === undefined ? most : Number(bits);
    if (family === 0 || bits === "" || !Number.isInteger(length) || length < 0 || length > most) {
      throw new AgentTxError(
        "TOOL_INVALID",
        `${range} is no range of addresses; no tool was made.`,
      );
    }
    list.addSubnet(address, length, family === 4 ? "ipv4" : "ipv6");
  }
  return list;
}

const MAPPED = /^::ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/;

/** An IPv4 address that is written as IPv6 (`::ffff:127.0.0.1`), as itself; others unchanged. */
export function unmapped(address: string): string {
  if (isIP(address) !== 6) return address;
  // The URL parser is the one canonical form of IPv6 that Node has.
  const canonical = new URL(`http://[${address.split("%", 1)[0]}]/`).hostname.slice(1, -1);
  const [, dotted, high, low] = MAPPED.exec(canonical) ?? [];
  if (dotted !== undefined) return dotted;
  if (high === undefined || low === undefined) return canonical;
  const [upper, lower] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join(".");
}

/** True for an address of the public internet, or one in `allowed`. False for what is no address. */
export function mayConnect(address: string, allowed: BlockList | null): boolean {
  const plain = unmapped(address);
  const family = isIP(plain);
  if (family === 0) return false;
  const type = family === 4 ? "ipv4" : "ipv6";
  if (allowed?.check(plain, type) === true) return true;
  if (family === 4) return !specialV4.check(plain, type);
  // A zone names a link, and what is on a link is not public.
  if (address.includes("%")) return false;
  return globalV6.check(plain, type) && !specialV6.check(plain, type);
}
