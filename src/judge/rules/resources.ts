import type { Rule } from "../evidence.js";

/** M15: CPU of every role, from counters at both ends of the window. */
export const everyRoleRead: Rule = {
  id: "M15",
  check({ configuration, server, store, resources }) {
    if (!configuration) return { severity: "not applicable", text: "not a target of ours" };
    const roles = [
      "generator",
      ...(server ? ["server"] : []),
      // The processes of a store that somebody else runs are out of reach.
      ...(store?.external ? [] : (store?.nodes ?? [])).map(({ role }) => role),
    ];
    const missing = roles.filter((role) => !resources[role]);
    if (missing.length === 0) return undefined;
    return { severity: "suspect", text: `no CPU counters of ${missing.join(", ")}` };
  },
};
