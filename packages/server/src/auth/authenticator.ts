// Owns how a caller is recognised, on every face alike: bearer token, else client certificate, else
// the local principal of a server without either.

import type { Principal } from "./principal.js";
import { LOCAL_PRINCIPAL, SCOPES } from "./principal.js";
import { bearerOf, type TokenFile, unauthenticated } from "./tokens.js";

export interface Credentials {
  readonly authorization: string | undefined;
  /** Common name of a client certificate that TLS has verified. */
  readonly certificateName: string | null;
}

export class Authenticator {
  readonly #tokens: TokenFile | null;
  readonly #certificates: boolean;

  /** `certificates`: TLS verifies client certificates, whose common name is the tenant. */
  constructor(tokens: TokenFile | null, certificates: boolean) {
    this.#tokens = tokens;
    this.#certificates = certificates;
  }

  /** Throws UNAUTHENTICATED. */
  authenticate(credentials: Credentials): Principal {
    const token = bearerOf(credentials.authorization);
    if (this.#tokens !== null && token !== null)
      return this.#tokens.authenticate(token, Date.now());
    const { certificateName } = credentials;
    if (this.#certificates && this.#tokens === null && certificateName !== null) {
      return {
        name: certificateName,
        tenant: certificateName,
        scopes: new Set(SCOPES),
        tools: null,
        expiresAtMs: null,
      };
    }
    if (this.#tokens === null && !this.#certificates) return LOCAL_PRINCIPAL;
    throw unauthenticated();
  }

  /** For streams: throws UNAUTHENTICATED when the token was revoked or has expired since. */
  recheck(credentials: Credentials): void {
    this.authenticate(credentials);
  }
}
