// Owns what a person sees while something long compiles: one line rewritten in place on a terminal,
// a line every 20 seconds elsewhere.

const EVERY_MS = 20_000;

function elapsed(sinceMs) {
  const seconds = Math.round((Date.now() - sinceMs) / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

export class Progress {
  #title;
  #startedMs = Date.now();
  #shownMs = 0;
  #state = "";
  #timer;
  #inPlace = process.stderr.isTTY === true;

  constructor(title) {
    this.#title = title;
    this.#timer = setInterval(() => this.#show(), this.#inPlace ? 1000 : EVERY_MS);
    this.#timer.unref();
  }

  /** Reads ninja's "[7/14] ..." and make's "[ 50%] ..." lines. */
  line(text) {
    const units = /^\[(\d+)\/(\d+)\]/.exec(text);
    const percent = /^\[ *(\d+)%\]/.exec(text);
    if (units) this.#state = `${units[1]}/${units[2]} units`;
    else if (percent) this.#state = `${percent[1]}%`;
    else return;
    if (this.#inPlace) this.#show();
  }

  #text() {
    return [this.#state, elapsed(this.#startedMs)].filter((part) => part !== "").join(", ");
  }

  #show() {
    this.#shownMs = Date.now();
    if (this.#inPlace) process.stderr.write(`\r\x1b[K${this.#title}: ${this.#text()}`);
    else process.stderr.write(`${this.#title}: ${this.#text()}\n`);
  }

  /** Ends the display. A build that was never shown stays silent unless `always`. */
  end(always) {
    clearInterval(this.#timer);
    if (this.#inPlace && this.#shownMs > 0) process.stderr.write("\r\x1b[K");
    if (always) process.stderr.write(`${this.#title}: done, ${elapsed(this.#startedMs)}\n`);
  }
}
