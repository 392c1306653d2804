// Goal: an error in the log tells where it came from, and none of the secrets that hang on it (S8).
import { describe, expect, it } from "vitest";
import { errorForLog } from "./logger.js";

describe("errorForLog", () => {
  it("leaves out what hangs on an error, and masks secrets in its words and causes", () => {
    const error = Object.assign(
      new TypeError("GET https://u:s3cret@api failed", { cause: new Error("password=s3cret") }),
      { code: "ERR_BAD", config: { headers: { authorization: "Bearer s3cret" } } },
    );
    const logged = errorForLog(error);
    expect(JSON.stringify(logged)).not.toContain("s3cret");
    expect(logged).toMatchObject({
      type: "TypeError",
      message: expect.stringContaining("failed"),
      code: "ERR_BAD",
      stack: expect.stringContaining("logger.test"),
      cause: { type: "Error" },
    });
  });

  it("masks the first line of a stack, which is the message again, and follows no circle", () => {
    const error: Error = new Error("token s3cret\n    at s3cret (password=s3cret)");
    error.cause = error;
    expect(JSON.stringify(errorForLog(error))).not.toMatch(/token s3cret|password=s3cret/);
  });

  it("takes what is no error, and what bites", () => {
    expect(errorForLog("Bearer s3cret")).not.toContain("s3cret");
    expect(errorForLog(null)).toBe("null");
    const biting = Object.defineProperty(new Error("x"), "message", {
      get: () => {
        throw new Error("it bites");
      },
    });
    expect(errorForLog(biting)).toBe("an error that cannot be read");
  });
});
