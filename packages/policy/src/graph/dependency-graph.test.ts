// Goal: G1-G4 and G3a, one claim per word of the rules. Method: small graphs, one thing each.
import { describe, expect, it } from "vitest";
import { PolicyError } from "../policy-error.js";
import { DependencyGraph } from "./dependency-graph.js";
import { EDGES_PER_STEP_MAX, SCALARS_PER_STEP_MAX } from "./limits.js";
import type { GraphReference } from "./links.js";

interface Ran {
  readonly in?: unknown;
  readonly out?: unknown;
  readonly refs?: readonly GraphReference[];
}

/** Steps 1, 2, … as given. */
function graphOf(...steps: readonly Ran[]): DependencyGraph {
  const graph = new DependencyGraph();
  for (const [index, ran] of steps.entries()) {
    const step = index + 1;
    graph.addStep({ step, tool: "t", inputs: ran.in ?? {}, references: ran.refs ?? [] });
    if ("out" in ran) graph.recordOutput(step, ran.out);
  }
  return graph;
}

function ref(from: number, outputPath: string, inputPath: string): GraphReference {
  return { from, outputPath, inputPath };
}

/** Does an output of step 1 link to an input of step 2? */
function links(out: unknown, inputs: unknown): boolean {
  return graphOf({ out }, { in: inputs }).producersOf(2).length === 1;
}

describe("G1 implicit edges", () => {
  it("link an input to an earlier output of the same name and value", () => {
    const graph = graphOf({ out: { order: "o-1" } }, { in: { order: "o-1" } });
    expect(graph.edgesInto(2)).toEqual([
      { from: 1, outputPath: "order", to: 2, inputPath: "order", explicit: false },
    ]);
  });

  it.each([
    ["id", "customer_id"],
    ["id", "ID"],
    ["Id", "customer_iD"],
    ["id", "customerId"],
    ["id", "customer-id"],
    ["customer_id", "customerId"],
    ["customerId", "CUSTOMER_ID"],
    ["customerId", "CUSTOMERID"],
    ["order_id", "parent_order_id"],
    ["orderId", "parentOrderId"],
    ["_id", "id"],
    ["HTTPServerName", "http_server_name"],
    ["größe", "GRÖẞE"],
  ])("relate the output key %s with the input key %s", (output, input) => {
    expect(links({ [output]: 42 }, { [input]: 42 })).toBe(true);
  });

  it.each([
    ["id", "paid"],
    ["id", "customerid"],
    ["customer_id", "id"],
    ["id", "id_customer"],
    ["id", "ids"],
    ["order_id", "customer_id"],
    ["user_name", "username"],
    ["", ""],
  ])("do not relate the output key %j with the input key %j", (output, input) => {
    expect(links({ [output]: 42 }, { [input]: 42 })).toBe(false);
  });

  it.each([
    [1, "1"],
    ["1", 1],
    [1, true],
    [42, 43],
    ["a", "A"],
    ["a", "a "],
  ])("keep values of different type or content apart: %j and %j", (output, input) => {
    expect(links({ id: output }, { id: input })).toBe(false);
  });

  it.each([true, false, null, ""])("never link the value %j", (value) => {
    expect(links({ id: value }, { id: value })).toBe(false);
  });

  it.each([0, -1.5, 1e21, " ", "0", "ünïcode"])("link the value %j", (value) => {
    expect(links({ id: value }, { id: value })).toBe(true);
  });

  it("take -0 for 0, as JSON does", () => {
    expect(links({ id: -0 }, { id: 0 })).toBe(true);
  });

  it("find scalars in nested objects and arrays on both sides", () => {
    expect(links({ customer: { id: 42 } }, { customer_id: 42 })).toBe(true);
    expect(links({ id: 42 }, { lines: [{ sku: 1 }, { order: { id: 42 } }] })).toBe(true);
    expect(links([{ id: 41 }, { id: 42 }], { id: 42 })).toBe(true);
  });

  it("name array elements after the array", () => {
    const graph = graphOf({ out: { ids: [1, 2] } }, { in: { order_ids: [7, 2] } });
    expect(graph.edgesInto(2)).toMatchObject([{ outputPath: "ids[1]", inputPath: "order_ids[1]" }]);
    expect(links({ ids: [2] }, { id: 2 })).toBe(false);
  });

  it("need a name: a bare scalar output links to nothing", () => {
    expect(links(42, { id: 42 })).toBe(false);
    expect(links([42], [42])).toBe(false);
  });

  it("come from the most recent producer, also when an older one has the closer name", () => {
    const graph = graphOf(
      { out: { customer_id: 42 } },
      { out: { id: 42 } },
      { in: { customer_id: 42 } },
    );
    expect(graph.producersOf(3)).toEqual([2]);
  });

  it("come from the closest name within one producer", () => {
    const graph = graphOf({ out: { id: 42, customer_id: 42 } }, { in: { customer_id: 42 } });
    expect(graph.edgesInto(2)).toMatchObject([{ outputPath: "customer_id" }]);
  });

  it("come from the shallowest place within one producer and name", () => {
    const graph = graphOf({ out: { rows: [{ id: 42 }], id: 42 } }, { in: { id: 42 } });
    expect(graph.edgesInto(2)).toMatchObject([{ outputPath: "id" }]);
  });

  it("never come from the step itself or a later one", () => {
    const graph = graphOf({ in: { id: 42 }, out: { id: 42 } }, { out: { id: 42 } });
    expect(graph.producersOf(1)).toEqual([]);
    expect(graph.producersOf(2)).toEqual([]);
  });

  it("come from a step only once its output is recorded", () => {
    const graph = graphOf({}, { in: { id: 42 } });
    graph.recordOutput(1, { id: 42 });
    graph.addStep({ step: 3, tool: "t", inputs: { id: 42 } });
    expect(graph.producersOf(2)).toEqual([]);
    expect(graph.producersOf(3)).toEqual([1]);
  });

  it("come from the later step when outputs are recorded late and out of order", () => {
    const graph = graphOf({}, {}, {});
    graph.recordOutput(3, { id: 42 });
    graph.recordOutput(1, { id: 42 });
    graph.recordOutput(2, { id: 42 });
    graph.addStep({ step: 4, tool: "t", inputs: { id: 42 } });
    expect(graph.producersOf(4)).toEqual([3]);
    for (const step of [3, 2]) {
      graph.rewindTo(step);
      graph.addStep({ step, tool: "t", inputs: { id: 42 } });
      expect(graph.producersOf(step)).toEqual([step - 1]);
    }
  });
});

describe("G1 explicit edges", () => {
  it("are made by references and suppress implicit ones for their input", () => {
    const graph = graphOf(
      { out: { id: 42 } },
      { out: { id: 42 } },
      { in: { id: 42, other_id: 42 }, refs: [ref(1, "id", "id")] },
    );
    expect(graph.edgesInto(3)).toEqual([
      { from: 1, outputPath: "id", to: 3, inputPath: "id", explicit: true },
      { from: 2, outputPath: "id", to: 3, inputPath: "other_id", explicit: false },
    ]);
  });

  it("cover everything inside a referenced object", () => {
    const customer = { id: 42, active: true, tags: ["a"] };
    const graph = graphOf(
      { out: { found: customer } },
      { out: { id: 42 } },
      { in: { customer }, refs: [ref(1, "found", "customer")] },
    );
    expect(graph.producersOf(3)).toEqual([1]);
    expect(graph.edgesInto(3).map((edge) => [edge.outputPath, edge.inputPath])).toEqual([
      ["found", "customer"],
      ["found.id", "customer.id"],
      ["found.active", "customer.active"],
      ["found.tags[0]", "customer.tags[0]"],
    ]);
    for (const key of ["customer", "id", "customer.id", "active", "tags", "customer.email"]) {
      expect(graph.findRootCause(3, key)).toBe(1);
    }
  });

  it("let the inner reference win over the one around it", () => {
    const graph = graphOf(
      { out: { customer: { id: 1 } } },
      { out: { id: 2 } },
      {
        in: { customer: { id: 2 } },
        refs: [ref(1, "customer", "customer"), ref(2, "id", "customer.id")],
      },
    );
    expect(graph.findRootCause(3, "customer.id")).toBe(2);
    expect(graph.findRootCause(3, "customer")).toBe(1);
  });

  it("may be several for one input, as in a text with two references", () => {
    const graph = graphOf(
      { out: { a: "x" } },
      { out: { b: "y" } },
      { in: { note: "x and y" }, refs: [ref(1, "a", "note"), ref(2, "b", "note")] },
    );
    expect(graph.producersOf(3)).toEqual([1, 2]);
    expect(graph.findRootCause(3, "note")).toBe(1);
  });

  it("may carry a whole output, or be the whole input", () => {
    const whole = graphOf({ out: { id: 1 } }, { in: { id: 1 }, refs: [ref(1, "", "")] });
    expect(whole.findRootCause(2, "id")).toBe(1);
    expect(whole.findRootCause(2, "missing")).toBe(1);
    expect(whole.findRootCause(2, "missing.too")).toBe(1);
  });

  it("are recorded for a path that is missing in the output (G3)", () => {
    const inputs = { customer_id: "$" + "{steps.1.nope}" };
    const graph = graphOf(
      { out: { id: 42 } },
      { in: inputs, refs: [ref(1, "nope", "customer_id")] },
    );
    expect(graph.findRootCause(2, "customer_id")).toBe(1);
  });

  it.each([0, -1, 2, 3, 1.5, Number.NaN])("ignore a reference to step %d from step 2", (from) => {
    const graph = graphOf({ out: { id: 1 } }, { refs: [ref(from, "id", "id")] });
    expect(graph.producersOf(2)).toEqual([]);
  });
});

describe("G2 root cause", () => {
  it("follows renames", () => {
    const graph = graphOf(
      { out: { id: 42 } },
      { in: { customer_id: 42 }, out: { reservation: "r-1" } },
      { in: { reservation: "r-1", customer_id: 42 } },
    );
    expect(graph.findRootCause(3, "customer_id")).toBe(1);
    expect(graph.findRootCause(3, "reservation")).toBe(2);
  });

  it("follows values passed through, under another name at each hop", () => {
    const graph = graphOf(
      { out: { id: 7 } },
      { in: { id: 7 }, out: { customer: { id: 7 } } },
      { in: { customer: { id: 7 } }, out: { found: true } },
      { in: { owner: 7 }, refs: [ref(2, "customer.id", "owner")] },
    );
    expect(graph.traceRootCause(4, "owner")).toEqual({
      root: 1,
      path: [
        { from: 2, outputPath: "customer.id", to: 4, inputPath: "owner", explicit: true },
        { from: 1, outputPath: "id", to: 2, inputPath: "id", explicit: false },
      ],
    });
  });

  it("stops at a producer whose inputs have nothing to do with the output", () => {
    const graph = graphOf(
      { out: { id: 1 } },
      { in: { customer_id: 1 }, out: { order: 99 } },
      { in: { order: 99 } },
    );
    expect(graph.findRootCause(3, "order")).toBe(2);
  });

  it("takes the earliest of all producers reached", () => {
    const graph = graphOf(
      { out: { sku: "a" } },
      { out: { sku: "b" } },
      { in: { items: [{ sku: "b" }, { sku: "a" }] } },
    );
    expect(graph.findRootCause(3, "sku")).toBe(1);
    expect(graph.findRootCause(3, "items[0].sku")).toBe(2);
  });

  it("follows the same place through a producer before another of the same name", () => {
    const graph = graphOf(
      { out: { product: { id: 1 } } },
      { out: { customer: { id: 2 } } },
      {
        in: { product: { id: 1 }, customer: { id: 2 } },
        out: { customer: { id: 2 } },
      },
      { in: { customer_id: 2 } },
    );
    expect(graph.findRootCause(4, "customer_id")).toBe(2);
  });

  it("has no root for a key nobody produced, an unknown step or an empty key", () => {
    const graph = graphOf({ out: { id: 1 } }, { in: { id: 1, qty: 5 } });
    for (const key of ["qty", "nope", "", ".", "/", "[0]", "i", "x".repeat(5000)]) {
      expect(graph.findRootCause(2, key)).toBe(null);
    }
    expect(graph.findRootCause(1, "id")).toBe(null);
    expect(graph.findRootCause(9, "id")).toBe(null);
    expect(graph.traceRootCause(2, "qty")).toBe(null);
  });
});

describe("G3a keys", () => {
  const graph = graphOf(
    { out: { qty: 3 } },
    { out: { qty: 4, customerId: "c-1" } },
    { in: { customerId: "c-1", items: [{ qty: 4 }, { qty: 3 }] } },
  );

  it.each([
    "customerId",
    "customer_id",
    "customer-id",
    "CUSTOMERID",
    "Customer_ID",
    "--customer-id",
  ])("finds customerId as %s", (key) => expect(graph.findRootCause(3, key)).toBe(2));

  it.each([
    "items[1].qty",
    "items.1.qty",
    "/items/1/qty",
    "#/items/1/qty",
    "$.items[1].qty",
    "items.[1].qty",
    'items[1]["qty"]',
    "body.items[1].qty",
    "ITEMS[1].QTY",
    "items.qty",
    "qty",
  ])("finds the second item as %s", (key) => expect(graph.findRootCause(3, key)).toBe(1));

  it.each(["items[0].qty", "/items/0/qty"])("finds the first item as %s", (key) => {
    expect(graph.findRootCause(3, key)).toBe(2);
  });

  it.each(["items[2].qty", "other[1].qty", "items", "id", "customer"])(
    "takes %s for another place",
    (key) => expect(graph.findRootCause(3, key)).toBe(null),
  );

  it("understands a column with its table", () => {
    expect(graph.findRootCause(3, "orders.customer_id")).toBe(2);
  });
});

describe("G4 rewind", () => {
  it("removes the step and all after it, with edges and values", () => {
    const graph = graphOf(
      { out: { id: 1 } },
      { out: { id: 1 } },
      { in: { id: 1 }, out: { name: "n" } },
    );
    graph.rewindTo(2);
    expect(graph.stepCount).toBe(1);
    expect(graph.producersOf(3)).toEqual([]);
    graph.addStep({ step: 2, tool: "t", inputs: { id: 1, name: "n" } });
    expect(graph.edgesInto(2)).toMatchObject([{ from: 1, inputPath: "id" }]);
  });

  it("to 0 or 1 empties the graph; past the end it changes nothing", () => {
    const graph = graphOf({ out: { id: 1 } }, {});
    graph.rewindTo(3);
    expect(graph.stepCount).toBe(2);
    graph.rewindTo(1);
    expect(graph.toJSON()).toEqual(new DependencyGraph().toJSON());
    graph.rewindTo(0);
    expect(graph.stepCount).toBe(0);
  });
});

describe("misuse and hostile input", () => {
  it("refuses steps out of order, unknown steps and a second output; nothing changes", () => {
    const graph = graphOf({ out: { id: 1 } }, {});
    const before = graph.toJSON();
    for (const step of [2, 1, 0, -1, 1.5, Number.NaN]) {
      expect(() => graph.addStep({ step, tool: "t", inputs: {} })).toThrow(PolicyError);
    }
    expect(() => graph.recordOutput(3, {})).toThrow(PolicyError);
    expect(() => graph.recordOutput(1, { id: 2 })).toThrow(PolicyError);
    expect(() => graph.rewindTo(-1)).toThrow(PolicyError);
    expect(graph.toJSON()).toEqual(before);
  });

  it("allows gaps between steps", () => {
    const graph = new DependencyGraph();
    graph.addStep({ step: 2, tool: "t", inputs: {} });
    graph.recordOutput(2, { id: 42 });
    graph.addStep({ step: 5, tool: "t", inputs: { customer_id: 42 } });
    expect(graph.findRootCause(5, "customer_id")).toBe(2);
  });

  it("takes any value for inputs and outputs", () => {
    const cyclic: Record<string, unknown> = { id: 5 };
    cyclic.self = cyclic;
    cyclic.list = [cyclic, cyclic];
    for (const value of [
      undefined,
      null,
      5,
      "x",
      [],
      Number.NaN,
      () => 1,
      5n,
      Symbol("x"),
      cyclic,
    ]) {
      const graph = graphOf({ in: value, out: value }, { in: value });
      expect(graph.stepCount).toBe(2);
    }
    expect(links(cyclic, { id: 5 })).toBe(true);
  });

  it("keeps names of Object.prototype apart from its properties", () => {
    const inputs = JSON.parse('{"__proto__": {"id": 5}, "constructor": 6}');
    const graph = graphOf({ out: { id: 5, constructor: 6 } }, { in: inputs });
    expect(graph.findRootCause(2, "__proto__.id")).toBe(1);
    expect(graph.findRootCause(2, "constructor")).toBe(1);
    expect(graph.findRootCause(2, "toString")).toBe(null);
  });

  it("caps scalars per step, shallow ones first", () => {
    const rows = Array.from({ length: 100_000 }, (_, row) => ({ sku: `s-${row}` }));
    const graph = graphOf({ out: { rows, id: 42 } }, { in: { id: 42, sku: "s-0" } });
    expect(graph.producersOf(2)).toEqual([1]);
    expect(graph.toJSON().steps[0]?.output?.length).toBe(SCALARS_PER_STEP_MAX);
    expect(graph.findRootCause(2, "id")).toBe(1);
  });

  it("caps edges per step", () => {
    const refs = Array.from({ length: 10_000 }, (_, at) => ref(1, `p${at}`, `q${at}`));
    expect(graphOf({}, { refs }).edgesInto(2).length).toBe(EDGES_PER_STEP_MAX);
  });

  it("survives deep nesting and long names", () => {
    let deep: unknown = { id: 1 };
    for (let depth = 0; depth < 10_000; depth += 1) deep = { a: deep };
    const long = { ["x_".repeat(50_000)]: 1 };
    expect(graphOf({ out: deep }, { in: deep }, { in: long, out: long }).producersOf(3)).toEqual(
      [],
    );
  });
});
