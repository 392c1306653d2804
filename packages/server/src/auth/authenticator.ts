// Owns how a caller is recognised, on every face alike: bearer token, else client certificate, else
// the local principal of a server without either.

import type { Principal } from "./principal.js";
import { LOCAL_PRINCIPAL, SCOPES } from "./principal.js";
import { bearerOf, TENANT, type TokenFile, unauthenticated } from "./tokens.js";

export interface Credentials {
  readonly authorization: string | undefined;
  /** Common name of a client certificate that TLS has verified. */
  readonly certificateName: string | null;
}

export class Authenticator {
  readonly #tokens: TokenFile | null;
  readonly #certificates: boolean;
  readonly #now: () => number;

  /**
   * `certificates`: TLS verifies client certificates. Without a tokens file their common name is
   * the tenant; with one a certificate is needed beside the token. `now` is wall-clock time.
   */
  constructor(tokens: TokenFile | null, certificates: boolean, now: () => number = Date.now) {
    this.#tokens = tokens;
    this.#certificates = certificates;
    this.#now = now;
  }

  /** Throws UNAUTHENTICATED. */
  authenticate(credentials: Credentials): Principal {
    if (this.#tokens !== null) {
      const token = bearerOf(credentials.authorization);
      if (token === null) throw unauthenticated();
      return this.#tokens.authenticate(token, this.#now());
    }
    if (!this.#certificates) return LOCAL_PRINCIPAL;
    const { certificateName } = credentials;
    // A name that is no tenant name could be read as another's in logs and listings.
    if (certificateName === null || !TENANT.test(certificateName)) throw unauthenticated();
    return {
      name: certificateName,
      tenant: certificateName,
      scopes: new Set(SCOPES),
      tools: null,
      expiresAtMs: null,
    };
  }
}
