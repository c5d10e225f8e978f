import { FOREIGN_CPU_PERCENT } from "../../contract/role-resources.js";
import { sum } from "../../kit/numbers.js";
import { ends } from "../counts.js";
import {
  type Evidence,
  explained,
  firstFaultS,
  invalid,
  notApplicable,
  notChecked,
  type Rule,
  type RuleFinding,
  suspect,
} from "../evidence.js";
import { atLeast } from "../latency.js";
import { isOverloaded, isRateMissed, overloadText } from "../outcome.js";
import { areApart, firstSlices, RAMP_WINDOW_S, rampIn } from "../steadiness.js";

/** The p99 of send lateness may be this long or, if longer, this share of the p99 of latency. */
export const LATENESS = { ms: 1, suspect_share: 0.1, invalid_share: 0.5 } as const;

const notKept = (text: string): RuleFinding => invalid(`schedule not kept: ${text}`);
const GENERATOR = "the generator could not keep up (more WORKERS, or a free CPU)";

/**
 * Late sends make latency larger and cost the target nothing. A run of a load curve measures CPU time
 * at a rate that was kept, and has a few hundred requests, whose p99 is a handful of them (M18). It
 * is suspect at most, and the report leaves out latencies of rows that lateness explains.
 */
function lateSends({ schedule, latency, turns }: Evidence): RuleFinding | undefined {
  const late = schedule?.lateness_ms?.p99;
  if (late === undefined || !latency) return undefined;
  const p99 = atLeast(latency, "p99");
  const isLaterThan = (share: number): boolean => late > Math.max(LATENESS.ms, share * p99);
  if (!isLaterThan(LATENESS.suspect_share)) return undefined;
  const text = `${GENERATOR}; the p99 of send lateness is ${late.toFixed(2)} ms, that of latency ${p99.toFixed(2)} ms`;
  const spoilsRun = isLaterThan(LATENESS.invalid_share) && !turns?.curve;
  return spoilsRun ? notKept(text) : suspect(`late sends: ${text}`);
}

/** M5: the offered rate was kept. */
export const scheduleKept: Rule = {
  id: "M5",
  check(evidence) {
    const { schedule, request } = evidence;
    if (!schedule) {
      // A closed loop has no schedule.
      return request.load.model === "closed" ? undefined : notKept("it was not recorded");
    }
    const { offered, sent, dropped, unsent } = schedule;
    if (offered === 0) return notKept("no send fell due in the window");
    if (!isRateMissed(schedule))
      return isOverloaded(evidence) && !evidence.faults
        ? notKept(`saturated: ${overloadText(evidence, schedule)}`)
        : lateSends(evidence);
    const share = ((100 * (offered - sent)) / offered).toFixed(1);
    // Connections that wait for a target with a fault are not free.
    if (evidence.faults && isOverloaded(evidence)) return explained("offered rate");
    const cause = isOverloaded(evidence)
      ? `saturated: ${overloadText(evidence, schedule)}`
      : GENERATOR;

    return notKept(
      `${cause}; ${share} % of ${offered} requests were never sent (${dropped} dropped, ${unsent} waiting at the end)`,
    );
  },
};

/**
 * Every request has one latency or age. Answers have it under their outcome, other requests under
 * `censored` (M23).
 */
function unrecorded({ generators, counts, schedule }: Evidence): RuleFinding | undefined {
  const { allowed, limited, failed_answers, connection_errors, timed_out } = ends(counts);
  const { dropped = 0, unsent = 0 } = schedule ?? {};
  const without = connection_errors + timed_out;
  const expected = {
    allowed: [allowed, "allowed answers"],
    limited: [limited, "limited answers"],
    failed: [failed_answers, "failed answers"],
    censored: [without + dropped + unsent, "requests without an answer"],
  } as const;
  const inService = {
    ...expected,
    censored: [without, "sent requests without an answer"],
  } as const;

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

/**
 * M2 demands latency in microseconds, in one histogram per outcome that together hold every
 * request.
 */
export const latencyIsReal: Rule = {
  id: "M2",
  check(evidence) {
    const missing = unrecorded(evidence);
    if (missing) return missing;
    const { allowed, limited } = ends(evidence.counts);
    if (allowed + limited > 0 && !(evidence.latency && evidence.latency.min > 0))
      return invalid("a latency of 0: the clock is too coarse");
    const isOpen = evidence.request.load.model === "open";
    if (isOpen && evidence.generators.some((part) => part.service_histograms === undefined))
      return notChecked("latencies from the send");
    return undefined;
  },
};

const figure = (value: number, { load }: Evidence["request"]): string =>
  load.model === "open" ? `mean latency ${value.toFixed(2)} ms` : `${Math.round(value)} answers/s`;

/** Finds a window that began slower, or faster, than it went on. The remedy is a longer warm-up. */
function rampFinding(evidence: Evidence): RuleFinding | undefined {
  const { slices, request, warmup } = evidence;
  const ramp = rampIn(firstSlices(slices, firstFaultS(evidence)), request.load.model);
  if (!ramp) return undefined;
  const warmupText = `${Number(warmup.took_s.toFixed(1))} s${warmup.steady === false ? " and ended unsteady" : ""}`;
  return suspect(
    `not steady: ${figure(ramp.first_second, request)} in its first second, ${figure(ramp.second_half, request)} in its second half; the warm-up took ${warmupText} (longer --warmup)`,
  );
}

/**
 * Compares the halves of a round by turns, in which what all targets of the group have in common
 * cancels.
 */
function findingByTurns({ halves }: NonNullable<Evidence["turns"]>): RuleFinding | undefined {
  if (!halves)
    return notApplicable("too few cycles and targets to compare the halves of the round");
  if (!areApart(halves)) return undefined;
  const change = Math.abs((halves.ratio - 1) * 100).toFixed(0);
  const direction = halves.ratio > 1 ? "faster" : "slower";
  return suspect(
    `not steady: beside the others it was ${change} % ${direction} in the second half of the round than in the first (longer --warmup)`,
  );
}

/**
 * A run of a load curve has one short turn, after a warm-up that its target has once for all loads.
 */
const findingOfWarmup = (steady: boolean): RuleFinding | undefined =>
  steady
    ? undefined
    : suspect("not steady: the warm-up before the load curve ended unsteady (longer --warmup)");

/** M26: the window did not begin slower, or faster, than it went on. */
export const windowIsSteady: Rule = {
  id: "M26",
  check(evidence) {
    const { turns, warmup } = evidence;
    if (turns && !turns.curve) return findingByTurns(turns);
    if (turns && warmup.steady !== undefined) return findingOfWarmup(warmup.steady);
    const foreign = evidence.host_load?.foreign_cpu_percent ?? 0;
    if (foreign >= FOREIGN_CPU_PERCENT)
      return notApplicable(
        `other programs used ${Math.round(foreign)} % of one CPU, which may explain it`,
      );
    if (evidence.duration < RAMP_WINDOW_S)
      return notApplicable(`the window is shorter than ${RAMP_WINDOW_S} s`);
    if (firstFaultS(evidence) < RAMP_WINDOW_S)
      return notApplicable(`a fault was planned within the first ${RAMP_WINDOW_S} s`);
    return rampFinding(evidence);
  },
};
