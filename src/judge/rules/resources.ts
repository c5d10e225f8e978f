import type { Rule } from "../evidence.js";

/** M14: no CPU cap held a role up in the window. */
export const nothingThrottled: Rule = {
  id: "M14",
  check({ resources }) {
    const held = Object.entries(resources).flatMap(([role, { throttling }]) => {
      if (!throttling || throttling.throttled_periods === 0) return [];
      const { periods, throttled_periods, throttled_us } = throttling;
      const ms = Math.round(throttled_us / 1000);
      return [`${role} in ${throttled_periods} of ${periods} periods, ${ms} ms`];
    });
    if (held.length === 0) return undefined;
    return { severity: "suspect", text: `throttled by its CPU cap: ${held.join("; ")}` };
  },
};

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
