// Goal: someone who cannot reach a server reads why, and what to do. The texts are those of grpc-js and
// Node on a real refusal, a wrong certificate and so on.
import { expect, it } from "vitest";
import { isUnsent, unreachable } from "./unreachable.js";

it.each([
  [
    "No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:1. Resolution note: ",
    "Nothing listens at",
  ],
  ["Name resolution failed for target dns:nowhere.invalid:1", "is not known"],
  ["No connection established. Last error: Error: self-signed certificate", "is not trusted"],
  [
    "Last error: Error [ERR_TLS_CERT_ALTNAME_INVALID]: Hostname/IP does not match certificate's altnames",
    "another name",
  ],
  [
    "Last error: Error: 80D0:error:0A00010B:SSL routines:ssl3_get_record:wrong version number",
    "TLS",
  ],
])("%s", (details, said) => {
  const text = unreachable("host:7878", details);
  expect(text).toContain(said);
  expect(text).toContain("Nothing was sent.");
  expect(isUnsent(details)).toBe(true);
});

it("says of anything else that the same request may be sent again, not that nothing was sent", () => {
  const text = unreachable("host:1", "Connection dropped. Resolution note: ");
  expect(text).toContain("(Connection dropped.)");
  expect(text).toContain("same request id");
  expect(isUnsent("Connection dropped")).toBe(false);
});
