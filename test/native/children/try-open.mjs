// Opens a path and says the code of the refusal, or `opened`. argv: path.
import { openStore } from "@agenttx/storage";
import { say } from "./say.mjs";

try {
  const store = await openStore({ path: process.argv[2] });
  await store.close();
  say("opened");
} catch (error) {
  say(`${error.code}: ${error.message}`);
}
