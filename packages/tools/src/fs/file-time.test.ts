// Goal: a file that was put back has the modification time it had, to the microsecond, however often
// it is put back. Method: times all over the last decades are set on a real file and read again.
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { setModified } from "./file-time.js";
import { modifiedUsOf } from "./image.js";

it("is set and read again without a step in between", async () => {
  const directory = await mkdtemp(join(tmpdir(), "agenttx-file-time-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const handle = await open(join(directory, "file"), "w+");
  try {
    for (let index = 0; index < 2_000; index += 1) {
      // A step that shares no factor with a second or a millisecond.
      const modifiedUs = 946_684_800_000_000 + index * 424_242_424_241;
      await setModified(handle, modifiedUs);
      expect(modifiedUsOf(await handle.stat({ bigint: true }))).toBe(modifiedUs);
    }
  } finally {
    await handle.close();
  }
});
