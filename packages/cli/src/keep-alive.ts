// Owns the wait for somebody who never answers: timers of the engine do not keep the process alive,
// so without this it would end in the middle of a command that waits for nothing else.

const LONG_MS = 2 ** 30;

/** Keeps the process alive until the returned function is called. */
export function keepAlive(): () => void {
  const timer = setInterval(() => undefined, LONG_MS);
  return () => clearInterval(timer);
}
