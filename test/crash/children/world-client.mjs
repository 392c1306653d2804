// Owns a victim's line to the world outside: one socket, one answer per request.
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";

export async function connectWorld(path) {
  const socket = connect(path);
  await once(socket, "connect");
  // The socket alone keeps no process alive: what waits for an answer does.
  const waiting = new Map();
  let last = 0;
  createInterface({ input: socket }).on("line", (line) => {
    const { id, answer } = JSON.parse(line);
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  const ask = (op, key, fields = {}) =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      socket.write(`${JSON.stringify({ id: last, op, key, ...fields })}\n`);
    });
  return {
    /** "done", or "sealed": the key was given up before and never lands. */
    do: (key, item, delayMs = 0) => ask("do", key, { item, delayMs }),
    /** Takes it back, and seals the key: what is still on its way never lands. */
    undo: (key) => ask("undo", key),
    /** True when it landed; otherwise the key is sealed, so that "absent" is final. */
    landed: (key) => ask("ask", key),
    close: () => socket.destroy(),
  };
}
