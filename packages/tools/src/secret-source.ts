// Owns secrets in the configuration of tools: values are fetched when they are used, and taken out
// of everything that comes back.

import { DefiniteFailure } from "@agenttx/model";

/** Where `${secrets.NAME}` comes from; the engine's secret source fits. */
export interface SecretSource {
  /** Null when there is no such secret. */
  get(name: string): Promise<string | null> | string | null;
}

const REFERENCE = /\$\{secrets\.([^{}]+)\}/g;

/** Values of secrets that a call used, to be taken out of answers. */
export type UsedSecrets = Map<string, string>;

/** The text with its secrets filled in. Throws when one is missing: nothing was sent then. */
export async function withSecrets(
  text: string,
  source: SecretSource | null,
  used: UsedSecrets,
): Promise<string> {
  for (const [, name = ""] of text.matchAll(REFERENCE)) {
    if (used.has(name)) continue;
    const value = (await source?.get(name)) ?? null;
    if (value === null) {
      throw new DefiniteFailure(`the secret ${name} is not available; nothing was sent`);
    }
    used.set(name, value);
  }
  return text.replaceAll(REFERENCE, (all, name: string) => used.get(name) ?? all);
}

/** The text with references where values of secrets stood. */
export function withoutSecretValues(text: string, used: UsedSecrets): string {
  let clean = text;
  for (const [name, value] of used) {
    if (value !== "") clean = clean.replaceAll(value, `\${secrets.${name}}`);
  }
  return clean;
}
