// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of plans look like that
// Goal: a plan is either understood completely or refused with every problem and its place.

import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parsePlan, readPlan } from "./schema.js";

const MINIMAL = { name: "p", decisions: [{ tool: "kv.put" }] };

describe("parsePlan", () => {
  it("fills in what a short plan leaves out", () => {
    expect(parsePlan(MINIMAL, "p.json")).toEqual({
      name: "p",
      agent: "agenttx-cli",
      metadata: {},
      inputs: {},
      policy: {},
      decisions: [{ tool: "kv.put", args: {}, alternatives: [] }],
    });
  });

  it("names every problem with its place", () => {
    const bad = { name: "", decisions: [{ tool: 7 }, { tool: "a", alternatives: [{ when: {} }] }] };
    const refused = () => parsePlan(bad, "bad.json");
    expect(refused).toThrow(/name:/);
    expect(refused).toThrow(/decisions\[0\]\.tool:/);
    expect(refused).toThrow(/decisions\[1\]\.alternatives\[0\]\.when: names neither/);
  });

  it.each([
    ["a misspelt field", { ...MINIMAL, descisions: [] }, /descisions/],
    ["no decisions", { name: "p", decisions: [] }, /decisions/],
    ["a policy out of range", { ...MINIMAL, policy: { maxLocalDepth: 17 } }, /maxLocalDepth/],
    ["no object at all", null, /plan:/],
  ])("refuses %s", (_what, value, message) => {
    expect(() => parsePlan(value, "bad.json")).toThrow(message);
  });

  it("keeps the type of an input that stands alone and makes text of one inside a text", () => {
    const plan = parsePlan(
      {
        name: "p",
        inputs: { count: 2, id: "A-1" },
        decisions: [{ tool: "t", args: { n: "${inputs.count}", s: "order ${inputs.id}" } }],
      },
      "p.json",
    );
    expect(plan.decisions[0]?.args).toEqual({ n: 2, s: "order A-1" });
  });

  it("replaces an input inside nested arguments and alternatives, not the references to steps", () => {
    const plan = parsePlan(
      {
        name: "p",
        inputs: { id: "A-1" },
        decisions: [
          {
            tool: "t",
            args: { list: [{ id: "${inputs.id}" }], ref: "${steps.1.id}" },
            alternatives: [{ when: { key: "id" }, args: { id: "${inputs.id}-b" } }],
          },
        ],
      },
      "p.json",
      { id: "B-2" },
    );
    expect(plan.decisions[0]?.args).toEqual({ list: [{ id: "B-2" }], ref: "${steps.1.id}" });
    expect(plan.decisions[0]?.alternatives[0]?.args).toEqual({ id: "B-2-b" });
  });

  it("reads a number for an input that is one, and leaves text alone", () => {
    const value = {
      name: "p",
      inputs: { count: 1, zip: "01234" },
      decisions: [{ tool: "t", args: { count: "${inputs.count}", zip: "${inputs.zip}" } }],
    };
    const plan = parsePlan(value, "p.json", { count: "5", zip: "09999" });
    expect(plan.decisions[0]?.args).toEqual({ count: 5, zip: "09999" });
  });

  it("refuses an input that the plan does not declare, on either side", () => {
    const value = { name: "p", decisions: [{ tool: "t", args: { id: "${inputs.id}" } }] };
    expect(() => parsePlan(value, "p.json")).toThrow(/inputs\.id.* not declared/);
    expect(() => parsePlan(MINIMAL, "p.json", { id: "1" })).toThrow(/no input "id"/);
  });
});

describe("readPlan", () => {
  it("says where the JSON breaks", async () => {
    const path = join(await mkdtemp(join(tmpdir(), "plan-")), "p.json");
    await writeFile(path, '{\n  "name": "p",\n  oops\n}');
    await expect(readPlan(path)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("line 3, column 3"),
    });
  });

  it("answers NOT_FOUND for a file that is not there", async () => {
    await expect(readPlan("/nonexistent/plan.json")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
