// Owns the signs of the timeline, each with a plain text for terminals without Unicode. A sign never
// stands alone: the words beside it say the same.

export interface Symbols {
  readonly begin: string;
  readonly success: string;
  readonly failure: string;
  readonly rewind: string;
  readonly undone: string;
  readonly restored: string;
  readonly told: string;
  readonly frozen: string;
  readonly warning: string;
  readonly delivered: string;
  readonly running: string;
  readonly ellipsis: string;
}

const UNICODE: Symbols = {
  begin: "●",
  success: "✔",
  failure: "✘",
  rewind: "↶",
  undone: "↩",
  restored: "≡",
  told: "→",
  frozen: "■",
  warning: "▲",
  delivered: "✉",
  running: "…",
  ellipsis: "…",
};

const ASCII: Symbols = {
  begin: "*",
  success: "+",
  failure: "x",
  rewind: "<",
  undone: "-",
  restored: "=",
  told: ">",
  frozen: "#",
  warning: "!",
  delivered: "@",
  running: ".",
  ellipsis: "...",
};

/** The signs for these settings of the environment: Unicode where the locale says UTF-8. */
export function symbolsFor(environment: NodeJS.ProcessEnv, platform: string): Symbols {
  if (platform === "win32") return environment.WT_SESSION ? UNICODE : ASCII;
  if (environment.TERM === "linux") return ASCII;
  const locale = environment.LC_ALL || environment.LC_CTYPE || environment.LANG || "";
  return platform === "darwin" || /utf-?8/i.test(locale) ? UNICODE : ASCII;
}
