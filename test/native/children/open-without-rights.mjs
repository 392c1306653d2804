// Loads the addon, gives up the rights of root where it has them, and opens argv[2]. Says the code.
import { openStore } from "@agenttx/storage";
import { say } from "./say.mjs";

try {
  process.setgid(65534);
  process.setuid(65534);
} catch {
  // In a user namespace there is nobody else to become.
}
try {
  await (await openStore({ path: process.argv[2] })).close();
  say("opened");
} catch (error) {
  say(error.code ?? String(error));
}
