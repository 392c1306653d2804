// Goal: a server that demands certificates takes no reversible tool that has none: an adapter that
// fails its suite is refused, unless it is trusted by name.
import { defineTool, type ToolShape } from "@agenttx/engine";
import { expect, it } from "vitest";
import { z } from "zod";
import { agentTools, startTestServer } from "./test-server.js";

const book = defineTool({
  name: "carrier.book",
  schema: z.object({}),
  effect: "reversible",
  execute: () => 1,
  compensate: () => undefined,
}) as unknown as ToolShape;

it.each([{ requireCertified: true }, { trust: ["another"] }])("refuses it with %j", async (how) => {
  await expect(startTestServer(how, [book])).rejects.toMatchObject({
    code: "TOOL_INVALID",
    message: expect.stringContaining("carrier.book"),
  });
});

it.each([{}, { requireCertified: true, trust: ["carrier.book"] }, { trust: "carrier.book" }])(
  "serves it with %j",
  async (how) => {
    const at = await startTestServer(how, [book]);
    await at.remove();
  },
);

it("asks nothing of tools that only read", async () => {
  const at = await startTestServer({ requireCertified: true }, agentTools());
  await at.remove();
});
