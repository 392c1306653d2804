// Owns refusals of calls that a tool makes after its step has ended, often without waiting.

/** A rejection that nobody has to handle: whoever awaits it gets the error, nobody dies of it. */
export function rejected(error: Error): Promise<never> {
  const promise = Promise.reject(error);
  promise.catch(() => undefined);
  return promise;
}
