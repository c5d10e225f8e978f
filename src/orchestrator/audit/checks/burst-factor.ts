import type { AuditedSystem } from "../audited-system.js";
import { type Check, outcomeOf } from "../check.js";
import { largestWithin, mostWithin } from "../expected.js";
import { judgedBursts, type ScriptedBurst } from "../scripted.js";

/** The requests of a burst, in quotas. */
const QUOTAS = 2;

/** The distance of a burst from the end of a window. */
const MARGIN_MS = 150;

/**
 * The bursts of the worst client of fixed windows. One request opens a window, most of the quota is
 * used just before its end, and the next quota just after it. Further bursts follow for other
 * algorithms.
 */
function script({ limits: { points }, window_ms }: AuditedSystem): ScriptedBurst[] {
  const ends = [1, 2].flatMap((windows) => [
    windows * window_ms - MARGIN_MS,
    windows * window_ms + MARGIN_MS,
  ]);
  return [
    { after_ms: 0, count: 1 },
    ...[...ends, 1.5 * window_ms, 2.5 * window_ms]
      .sort((a, b) => a - b)
      .map((after_ms) => ({ after_ms, count: QUOTAS * points })),
  ];
}

export const burstFactor: Check = {
  id: "burst-factor",
  title: "Burst factor",
  isConcurrent: true,
  promise: "No span of time gets more than the algorithm admits in it at worst.",
  matters: "What stands behind the limiter must bear its worst burst, not its mean rate.",
  async run(system) {
    const { limits, algorithm, window_ms } = system;
    const { answers } = await judgedBursts(system, script(system), { meetsEdges: true });
    // Only admissions whose whole way, from send to answer, lies in the span are counted.
    const spans = answers.all.flatMap(({ status, sent_ms, answered_ms }) =>
      status === 200 ? [[sent_ms, answered_ms] as const] : [],
    );
    const counts = [window_ms / 4, window_ms].map((span_ms) => ({
      span_ms,
      bound: mostWithin(algorithm, limits, span_ms),
      largest: largestWithin(spans, span_ms),
    }));
    const text = (member: "bound" | "largest") =>
      counts.map((count) => `${count[member]} in ${count.span_ms / 1000} s`).join(", ");
    const factor = ((counts.at(-1)?.largest ?? 0) / limits.points).toFixed(2);
    const outcome = outcomeOf(
      counts.every(({ bound, largest }) => largest <= bound),
      `at most ${text("bound")}`,
      `${text("largest")}: ${factor} times the quota in one window`,
    );
    return { ...outcome, countsBursts: true };
  },
};
