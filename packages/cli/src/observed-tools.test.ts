// Goal: watching a tool changes nothing about it.

import type { ToolShape } from "@agenttx/engine";
import { describe, expect, it } from "vitest";
import { type LookupReport, observeLookups } from "./observed-tools.js";

class Tool {
  readonly name = "t";
  readonly effect = "reversible" as const;
  readonly schema = {
    "~standard": { version: 1 as const, vendor: "test", validate: (value: unknown) => ({ value }) },
  };
  answer: { status: string } | Error = { status: "landed" };
  execute(): string {
    return "done";
  }
  lookup(): { status: string } {
    if (this.answer instanceof Error) throw this.answer;
    return this.answer;
  }
}

function observed(tool: Tool) {
  const reports: LookupReport[] = [];
  // Any object with these members is a tool; a class keeps its methods on the prototype.
  const watched = observeLookups(tool as unknown as ToolShape, (done) => reports.push(done));
  const lookup = (watched as unknown as { lookup(call: object, context: object): unknown }).lookup;
  return { reports, watched, ask: () => lookup({}, { step: 3 }) };
}

describe("observeLookups", () => {
  it("reports the answer and hands it on", async () => {
    const { reports, ask } = observed(new Tool());
    expect(await ask()).toEqual({ status: "landed" });
    expect(reports).toMatchObject([{ step: 3, tool: "t", answer: "landed" }]);
  });

  it("reports an error and throws it", async () => {
    const tool = new Tool();
    tool.answer = new Error("down");
    const { reports, ask } = observed(tool);
    await expect(ask()).rejects.toThrow("down");
    expect(reports).toMatchObject([{ answer: "error" }]);
  });

  it("keeps the methods of a class and its own fields", () => {
    const { watched } = observed(new Tool());
    expect(watched.name).toBe("t");
    expect((watched as unknown as Tool).execute()).toBe("done");
  });
});
