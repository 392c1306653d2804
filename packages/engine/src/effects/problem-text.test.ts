// Goal: what people read about a failure is one line, and holds neither secrets nor control characters.
import { AgentTxError } from "@agenttx/model";
import { describe, expect, it } from "vitest";
import { problemText, reasonText, stateText } from "./problem-text.js";

describe("problemText", () => {
  it("is the first line with the class name", () => {
    expect(problemText(new TypeError("it broke\nat line 2"))).toBe("TypeError: it broke");
    expect(problemText(new Error("it broke"))).toBe("it broke");
    expect(problemText("text alone")).toBe("text alone");
    expect(problemText({ odd: true })).toBe("It threw a object.");
    for (const empty of [new Error(""), "", "\u0007\u200b"]) {
      expect(problemText(empty)).toBe("It failed without a message.");
    }
  });

  it("masks secrets by their shape, and those that the call was given wherever they stand", () => {
    const text = problemText(new Error("postgres://a:s3cret@db refused, Bearer abc.def"));
    expect(text).not.toMatch(/s3cret|abc\.def/);
    expect(problemText(new Error("hunter2 is wrong"), new Set(["hunter2", ""]))).toBe(
      "[redacted] is wrong",
    );
  });

  it("cannot move a cursor, run backwards or hide text", () => {
    const text = problemText(new Error("a\u001b[2J\u009b1mb\u202ec\u2066d\u{e0041}e\ud800f"));
    expect(text).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    expect(text).toMatch(/a.*b.*c.*d.*e.*f/);
  });

  it("reads what cannot be read without throwing", () => {
    const trap = (): never => {
      throw new Error("it bites");
    };
    expect(problemText(new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap }))).toBe(
      "The tool threw something that cannot be read.",
    );
    expect(problemText(Object.defineProperty(new Error("x"), "name", { get: trap }))).toBe(
      "The tool threw something that cannot be read.",
    );
  });

  it("is bounded, whatever comes", () => {
    expect(problemText("x y ".repeat(1_000_000)).length).toBeLessThanOrEqual(300);
  });
});

describe("stateText and reasonText", () => {
  it("keep versions, and hide secrets", () => {
    expect(stateText("12 bytes, version 7f3e9a41b2c8d605")).toBe(
      "12 bytes, version 7f3e9a41b2c8d605",
    );
    expect(stateText("password=s3cret")).not.toContain("s3cret");
    expect(stateText("\u202e")).toBe("nothing");
    expect(stateText(7)).toBe("a number");
  });

  it("keep our own words, ids included, and nobody else's", () => {
    const own = new AgentTxError("NOT_FOUND", "Transaction 01a22fc6-cc6e is unknown.");
    expect(reasonText(own)).toBe("Transaction 01a22fc6-cc6e is unknown.");
    expect(reasonText(new Error("key 01a22fc6-cc6e"))).not.toContain("01a22fc6");
  });
});
