import type { Rule } from "../evidence.js";

/** M2: latency in microseconds, one histogram per outcome, every answer in one of them. */
export const latencyIsReal: Rule = {
  id: "M2",
  check({ generators, latency, counts }) {
    for (const outcome of ["allowed", "limited"] as const) {
      const recorded = generators.reduce((total, part) => total + part.histograms[outcome].count, 0);
      if (recorded !== counts[outcome]) {
        return {
          severity: "invalid",
          text: `${counts[outcome]} ${outcome} answers have ${recorded} latencies`,
        };
      }
    }
    if (counts.allowed + counts.limited > 0 && !(latency && latency.min > 0)) {
      return { severity: "invalid", text: "a latency of 0: the clock is too coarse" };
    }
    return undefined;
  },
};
