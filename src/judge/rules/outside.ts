import type { GeneratorPart } from "../../contract/generator-part.js";
import type { Throttling } from "../../kit/control-groups.js";
import { type ClockChange, clockSetText, wasClockSet } from "../../kit/system-clock.js";
import { type Evidence, invalid, notChecked, type Rule, type RuleFinding } from "../evidence.js";

/** Nothing may stand still for longer than this time or, if longer, this share of the window. */
const MOST_STANDSTILL = { ms: 100, window_share: 0.01 } as const;

/** How long the load generator may stand still in a window of this length. */
export const mostStandstillMs = (window_s: number): number =>
  Math.max(MOST_STANDSTILL.ms, 1000 * MOST_STANDSTILL.window_share * window_s);

/**
 * Why a run says nothing about its target, or undefined where it does. A finding says that the
 * result does not hold what would tell.
 */
type Cause = string | undefined | RuleFinding;

function standstill({ generators, duration }: Pick<Evidence, "generators" | "duration">): Cause {
  const gaps_ms = generators.flatMap(({ longest_gap_ms }: GeneratorPart) => longest_gap_ms ?? []);
  if (gaps_ms.length < generators.length)
    return notChecked("how long the load generator stood still");
  const longest_ms = Math.max(...gaps_ms);
  return longest_ms > mostStandstillMs(duration)
    ? `the load generator stood still for ${secondsText(longest_ms)} s`
    : undefined;
}

/** Seconds as text. A pause of less than a second keeps its hundredths. */
const secondsText = (ms: number): string => (ms / 1000).toFixed(ms < 1000 ? 2 : 1);

function clockSet({ clock_change }: { clock_change?: ClockChange | undefined }): Cause {
  if (!clock_change) return notChecked("whether the system clock was set");
  return wasClockSet(clock_change) ? clockSetText(clock_change) : undefined;
}

/**
 * Our own control group was throttled for too long. A quota throttles for short periods that no gap
 * of the generator shows, so their sum counts.
 */
function throttled(own_throttling: Throttling | undefined, window_s: number): Cause {
  const throttled_ms = (own_throttling?.throttled_us ?? 0) / 1000;
  if (throttled_ms <= mostStandstillMs(window_s)) return undefined;
  return throttledText(throttled_ms);
}

export const throttledText = (ms: number): string =>
  `our own control group throttled us for ${secondsText(ms)} s`;

/** A cause makes the run invalid, whatever else the result does not hold. */
function findingOf(causes: readonly Cause[]): RuleFinding | undefined {
  const texts = causes.filter((cause) => typeof cause === "string");
  if (texts.length > 0) return invalid(texts.join("; "));
  return causes.find((cause) => typeof cause === "object");
}

/**
 * M36 demands that nothing outside the target spoiled the run. The generator must never stand
 * still, no clock may be set, and our own control group must not be throttled for long.
 */
export const nothingOutside: Rule = {
  id: "M36",
  check: (evidence) =>
    findingOf([
      standstill(evidence),
      throttled(evidence.own_throttling, evidence.duration),
      clockSet(evidence),
    ]),
};

/** M36 of a run whose load a load program made, which does not tell when it stood still. */
export const nothingOutsideOfProgram = {
  id: "M36",
  check: (evidence: OutsideOfProgram) =>
    findingOf([throttled(evidence.own_throttling, evidence.duration), clockSet(evidence)]),
} satisfies Rule;

type OutsideOfProgram = Pick<Evidence, "duration" | "own_throttling"> & {
  clock_change?: ClockChange | undefined;
};

/** Rules that look at times, so that a cause outside the target would count against the target. */
const RULES_OF_TIMES: readonly string[] = ["M5", "M6", "M7", "M26", "M27"];

/**
 * The findings of a run. Where M36 is broken, rules that look at times are not applicable.
 */
export function withoutOutsideCause<Finding extends { rule: string } & RuleFinding>(
  findings: readonly Finding[],
): Finding[] {
  const cause = findings.find(({ rule, severity }) => rule === "M36" && severity === "invalid");
  if (!cause) return [...findings];
  return findings.map((finding) =>
    RULES_OF_TIMES.includes(finding.rule)
      ? { ...finding, severity: "not applicable" as const, text: cause.text }
      : finding,
  );
}
