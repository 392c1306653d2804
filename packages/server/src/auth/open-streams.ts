// Owns the streams that stay open (sessions, watchers, workers, on both faces): their number per
// tenant, the second look at their caller's token, their end when the server stops.
//
//   A1 A token that was revoked, has expired or lost what the stream needs ends the stream within
//      LOOK_EVERY_MS plus the time the tokens file is trusted.

import { type AgentTxError, isAgentTxError } from "@agenttx/model";
import type { Tenants } from "../limits/tenants.js";
import type { Authenticator, Credentials } from "./authenticator.js";
import type { Principal } from "./principal.js";
import { unauthenticated } from "./tokens.js";

const LOOK_EVERY_MS = 1_000;

export interface OpenStream {
  readonly credentials: Credentials;
  readonly tenant: string;
  /** Takes over what the token allows now; throws when the stream may not go on with it. */
  renew(principal: Principal): void;
  /** The caller may not go on. */
  refuse(error: AgentTxError): void;
  /** The server stops: answer what runs, then end. */
  leave(): void;
}

export class OpenStreams {
  readonly #authenticator: Authenticator;
  readonly #tenants: Tenants;
  readonly #open = new Set<OpenStream>();
  readonly #timer: NodeJS.Timeout;

  constructor(authenticator: Authenticator, tenants: Tenants) {
    this.#authenticator = authenticator;
    this.#tenants = tenants;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  get size(): number {
    return this.#open.size;
  }

  /** Counts the stream until the returned function is called. Throws RESOURCE_EXHAUSTED. */
  open(stream: OpenStream): () => void {
    const release = this.#tenants.openStream(stream.tenant);
    this.#open.add(stream);
    return () => {
      this.#open.delete(stream);
      release();
    };
  }

  /** Asks every stream to end. */
  leaveAll(): void {
    for (const stream of [...this.#open]) stream.leave();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    for (const stream of [...this.#open]) {
      try {
        const principal = this.#authenticator.authenticate(stream.credentials);
        if (principal.tenant !== stream.tenant) throw unauthenticated();
        stream.renew(principal);
      } catch (error) {
        stream.refuse(isAgentTxError(error) ? error : unauthenticated());
      }
    }
  }
}
