// Owns the HTTP listener: TLS, limits against slow and greedy clients, graceful end.

import { createServer as createPlain, type Server } from "node:http";
import { createServer as createTls } from "node:https";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import type { Settings } from "../settings.js";
import { readTlsFiles } from "../tls-files.js";
import type { HttpBindings } from "./certificate.js";

export class HttpServer {
  readonly #address: string;
  readonly #server: Server;

  constructor(app: Hono<{ Bindings: HttpBindings }>, settings: Settings) {
    this.#address = settings.httpListen;
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
    const limits = {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 60_000,
      keepAliveTimeout: 30_000,
    };
    const files = readTlsFiles(settings);
    if (files === null) {
      this.#server = createPlain(limits, listener);
    } else {
      const { cert, key, clientCa } = files;
      const ca = clientCa === null ? {} : { ca: clientCa, requestCert: true };
      this.#server = createTls({ ...limits, cert, key, ...ca }, listener);
    }
    this.#server.maxConnections = 2_000;
  }

  /** Resolves with the bound port; null when off or on a unix socket. */
  async listen(): Promise<number | null> {
    if (this.#address === "off") return null;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      const listening = () => {
        this.#server.off("error", reject);
        resolve();
      };
      if (this.#address.startsWith("unix:")) {
        this.#server.listen(this.#address.slice("unix:".length), listening);
        return;
      }
      const colon = this.#address.lastIndexOf(":");
      const host = this.#address.slice(0, colon).replace(/^\[|\]$/g, "");
      this.#server.listen(Number(this.#address.slice(colon + 1)), host, listening);
    });
    const address = this.#server.address() as AddressInfo | string | null;
    return typeof address === "object" && address !== null ? address.port : null;
  }

  /** Takes no new connections; what is left when `quiet` resolves is cut. */
  async close(quiet: Promise<void>): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeIdleConnections();
    await Promise.race([closed, quiet]);
    this.#server.closeAllConnections();
    await closed;
  }
}
