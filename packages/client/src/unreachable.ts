// Owns what is said when a server was not reached, by what the transport says of it: what happened, that
// nothing was changed where that is certain, and what to do.

interface Reason {
  /** Of the transport's text. */
  readonly sign: RegExp;
  /** True: the request certainly did not reach anybody. */
  readonly unsent: boolean;
  readonly text: (address: string) => string;
}

const REASONS: readonly Reason[] = [
  {
    sign: /ENOTFOUND|EAI_AGAIN|Name resolution failed/i,
    unsent: true,
    text: (address) => `The host of ${address} is not known; check the address.`,
  },
  {
    sign: /altnames|does not match certificate/i,
    unsent: true,
    text: (address) =>
      `The certificate of ${address} is for another name; connect by its name, or set tls.serverName.`,
  },
  {
    sign: /self.signed|unable to (?:verify|get)|UNABLE_TO|certificate has expired|CERT_/i,
    unsent: true,
    text: (address) =>
      `The certificate of ${address} is not trusted; give the authority that signed it (--tls-ca, tls.caFile).`,
  },
  {
    sign: /wrong version number|EPROTO|packet length too long/i,
    unsent: true,
    text: (address) => `${address} does not speak TLS; connect without it, or to another port.`,
  },
  {
    sign: /ECONNREFUSED|ENOENT/,
    unsent: true,
    text: (address) =>
      `Nothing listens at ${address}; start the server there (agenttx serve), or give its address.`,
  },
];

/** A refusal that another try cannot change while nobody acts: the connection never came to be. */
export function isUnsent(details: string): boolean {
  return REASONS.some(({ sign, unsent }) => unsent && sign.test(details));
}

export function unreachable(address: string, details: string): string {
  const reason = REASONS.find(({ sign }) => sign.test(details));
  if (reason !== undefined) return `${reason.text(address)} Nothing was sent.`;
  const why = details.replace(/ ?Resolution note: ?$/, "").trim();
  return `No answer from ${address} (${why}). If it is a server with TLS, connect with TLS. A call that changes something may be sent again with the same request id.`;
}
