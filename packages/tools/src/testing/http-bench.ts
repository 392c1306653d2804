// Owns what the tests of HTTP tools share: a service on the loopback, and calls of it.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonValue } from "@agenttx/model";
import { afterAll, afterEach, beforeEach } from "vitest";
import type { HttpService } from "../http/services.js";
import { type HttpOptions, httpTools } from "../http/tools.js";
import { BookingService } from "./booking-service.js";
import { call, toolContext } from "./context.js";

export type HttpTools = ReturnType<typeof httpTools>;

export const LOOPBACK = ["127.0.0.1"];

/** A service for the tests of one file, fresh in what it has seen and answers for each of them. */
export async function openHttpBench() {
  const directory = mkdtempSync(join(tmpdir(), "agenttx-http-"));
  const service = await BookingService.start(join(directory, "bookings.db"));
  beforeEach(() => {
    service.seen.splice(0);
  });
  afterEach(() => {
    service.answer = () => null;
  });
  afterAll(async () => {
    await service.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const make = (more: Partial<HttpService> = {}, options: Partial<HttpOptions> = {}): HttpTools =>
    httpTools({ allow: [{ url: service.origin, networks: LOOPBACK, ...more }], ...options });
  return { directory, service, make, port: new URL(service.origin).port };
}

export function send(
  [tool]: HttpTools,
  args: JsonValue,
  context = toolContext(),
): Promise<JsonValue> {
  return call(tool, args, context);
}

export function get(tools: HttpTools, url: string): Promise<JsonValue> {
  return send(tools, { method: "GET", url });
}

/** The error of an attempt; one that says so when it went through. */
export async function errorOf(attempt: Promise<unknown>): Promise<Error & { definite?: boolean }> {
  return attempt.then(
    () => new Error("went through"),
    (error: unknown) => error as Error,
  );
}
