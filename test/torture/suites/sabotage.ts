import type { Suite } from "../suite.js";
export const sabotage: Suite = {
  name: "sabotage",
  about: "",
  run: async () => ({ cycles: 0, violations: [], figures: {}, weak: [], cursor: null }),
};
