import { type Evidence, type Finding, notApplicable, type Rule, suspect } from "../evidence.js";

/** M14: no role was throttled by its CPU cap in the window. */
export const nothingThrottled = {
  id: "M14",
  check({ resources }: Pick<Evidence, "resources">): Finding | undefined {
    const throttled = Object.entries(resources).flatMap(([role, { throttling }]) => {
      if (!throttling || throttling.throttled_periods === 0) return [];
      const { periods, throttled_periods, throttled_us } = throttling;
      const ms = Math.round(throttled_us / 1000);
      return [`${role} in ${throttled_periods} of ${periods} periods, ${ms} ms`];
    });
    if (throttled.length === 0) return undefined;
    return suspect(`throttled by its CPU cap: ${throttled.join("; ")}`);
  },
} satisfies Rule;

/** M15: the CPU time of every role is known from counters at both ends of the window. */
export const everyRoleRead: Rule = {
  id: "M15",
  check({ configuration, generators, consumers, store, service, resources }) {
    if (!configuration) return notApplicable("not a target of ours");
    const roles = new Set([
      ...generators.map(({ id }) => id),
      ...consumers.map(({ id }) => id),
      ...(service ? [service.role] : []),
      // The processes of an external store cannot be read.
      ...(store?.external ? [] : (store?.nodes ?? [])).map(({ role }) => role),
    ]);
    const missing = [...roles].filter((role) => !resources[role]);
    if (missing.length === 0) return undefined;
    return suspect(`no CPU counters of ${missing.join(", ")}`);
  },
};
