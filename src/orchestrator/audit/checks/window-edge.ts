import type { AuditedSystem } from "../audited-system.js";
import { type Check, outcomeOf, rangeText } from "../check.js";
import { hasAlignedWindows } from "../expected.js";
import { burstsText, type JudgedBurst, judgedBursts, type ScriptedBurst } from "../scripted.js";

/**
 * Around the end of the window: far enough for a busy machine to keep apart, near enough for one
 * that ends early.
 */
const MARGIN_MS = 200;

/**
 * Keys begin their windows at different parts of a second: some stores count whole seconds of their
 * own clock.
 */
const PHASES_MS = [0, 330, 660];

/** A burst that uses the quota up, one before the window ends, one after its end, and one more. */
function script({ limits: { points }, window_ms }: AuditedSystem): ScriptedBurst[] {
  const count = 2 * points;
  return [0, window_ms - MARGIN_MS, window_ms + MARGIN_MS, window_ms + 2 * MARGIN_MS].map(
    (after_ms) => ({
      after_ms,
      count,
    }),
  );
}

async function tryAt(system: AuditedSystem, phase_ms: number): Promise<readonly JudgedBurst[]> {
  const shifted = script(system).map(({ after_ms, count }) => ({
    after_ms: after_ms + phase_ms,
    count,
  }));
  return (await judgedBursts(system, shifted)).bursts.map((burst) => ({
    ...burst,
    after_ms: burst.after_ms - phase_ms,
  }));
}

/**
 * The same around the end of a window of the wall clock: the first burst is sent when 60 % of it
 * have passed.
 */
const BEGIN = 0.6;
const alignedScript = ({ limits: { points }, window_ms }: AuditedSystem): ScriptedBurst[] =>
  [0, 0.25, 0.55, 0.7].map((share) => ({ after_ms: share * window_ms, count: 2 * points }));

export const windowEdge: Check = {
  id: "window-edge",
  title: "Window edge",
  isConcurrent: true,
  promise:
    "A used-up quota stays used up until its window ends, and comes back then as the algorithm says.",
  matters:
    "A window that ends early admits more than the quota; one that ends late turns users away.",
  async run(system) {
    const tried = hasAlignedWindows(system.algorithm)
      ? [(await judgedBursts(system, alignedScript(system), { begin: BEGIN })).bursts]
      : await Promise.all(PHASES_MS.map((phase_ms) => tryAt(system, phase_ms)));
    const isBroken = (bursts: readonly JudgedBurst[]) => bursts.some(({ holds }) => !holds);
    const shown = tried.find(isBroken) ?? tried[0] ?? [];
    const outcome = outcomeOf(
      !tried.some(isBroken),
      `admitted ${burstsText(shown, ({ range }) => rangeText(range))}`,
      burstsText(shown, ({ admitted }) => admitted),
    );
    return { ...outcome, countsBursts: true };
  },
};
