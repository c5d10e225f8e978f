import { sum } from "../../contract/numbers.js";
import { ends } from "../counts.js";
import { type Evidence, type Finding, invalid, type Rule } from "../evidence.js";

/** Every request has one latency or age: answers by outcome, the others under `censored` (M23). */
function unrecorded({ generators, counts, schedule }: Evidence): Finding | undefined {
  const { allowed, limited, failed_answers, connection_errors, timed_out } = ends(counts);
  const { dropped = 0, unsent = 0 } = schedule ?? {};
  const without = connection_errors + timed_out;
  const expected = {
    allowed: [allowed, "allowed answers"],
    limited: [limited, "limited answers"],
    failed: [failed_answers, "failed answers"],
    censored: [without + dropped + unsent, "requests without an answer"],
  } as const;
  const inService = { ...expected, censored: [without, "sent requests without an answer"] } as const;
  for (const kind of ["allowed", "limited", "failed", "censored"] as const) {
    for (const [member, [count, what]] of [
      ["histograms", expected[kind]],
      ["service_histograms", inService[kind]],
    ] as const) {
      const parts = generators.flatMap((part) => part[member] ?? []);
      const recorded = sum(parts.map((histograms) => histograms[kind].count));
      if (parts.length > 0 && recorded !== count)
        return invalid(`${count} ${what} have ${recorded} latencies`);
    }
  }
  return undefined;
}

/** M2: latency in microseconds, one histogram per outcome, every request in one of them. */
export const latencyIsReal: Rule = {
  id: "M2",
  check(evidence) {
    const missing = unrecorded(evidence);
    if (missing) return missing;
    const { allowed, limited } = ends(evidence.counts);
    if (allowed + limited > 0 && !(evidence.latency && evidence.latency.min > 0))
      return invalid("a latency of 0: the clock is too coarse");
    return undefined;
  },
};
