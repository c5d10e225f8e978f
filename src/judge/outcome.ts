import type { OutcomeStatus, Verdict } from "../contract/judgement.js";
import type { Schedule } from "../contract/schedule.js";
import { sum } from "../kit/numbers.js";
import { brokenPromiseText } from "./boundary/boundary-findings.js";
import { ends } from "./counts.js";
import { type Evidence, firstFaultS } from "./evidence.js";
import { SLICES_PER_SECOND } from "./merging/slices.js";
import { isGeneratorSaturated } from "./rules/generator.js";

/** Allowed share of sends that are missing (M5). */
const RATE_TOLERANCE = 0.01;
/** From this share of blocked sends on the target missed the rate, not the generator. */
const BLOCKED_SHARE = 0.01;

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;

/** Whether too few of the offered requests were sent. */
export const isRateMissed = ({ offered, sent }: Schedule): boolean =>
  offered > 0 && 1 - sent / offered > RATE_TOLERANCE;

/** A backlog may grow by this share of the offered requests, because a target may pause. */
const BACKLOG_SHARE = 0.05;
/** It may grow by this many standard deviations of a count, because requests end at random. */
const BACKLOG_DEVIATIONS = 3;

/**
 * Whether more requests were due and had not ended when a turn shut than when it opened (M3). A
 * target that is far too slow may have enough connections for all requests of a short turn, so that
 * none of them is left unsent.
 */
function hasBacklogGrown({ turns, schedule }: Evidence): boolean {
  if (!turns?.backlog || !schedule) return false;
  const { at_open, at_shut } = turns.backlog;
  const chance = BACKLOG_DEVIATIONS * Math.sqrt(at_open + at_shut);
  return at_shut - at_open > Math.max(BACKLOG_SHARE * schedule.offered, chance);
}

/**
 * Whether the target did not keep up with the offered rate; a saturated generator reads late
 * itself.
 */
export function isOverloaded(evidence: Evidence): boolean {
  const { schedule } = evidence;
  if (!schedule || isGeneratorSaturated(evidence)) return false;
  const isBlocked = schedule.blocked / schedule.offered >= BLOCKED_SHARE;
  return (isRateMissed(schedule) && isBlocked) || hasBacklogGrown(evidence);
}

export function overloadText(evidence: Evidence, schedule: Schedule): string {
  const { request, requests, turns } = evidence;
  const { offered, blocked, rate_per_second } = schedule;
  const rates = `${rate_per_second}/s were offered, ${requests.average.toFixed(0)}/s answered`;
  if (turns?.backlog && !isRateMissed(schedule))
    return `${rates}, and ${turns.backlog.at_shut} requests were open at the end of the turn, ${turns.backlog.at_open} at its beginning`;
  return `${rates}, and none of the ${request.load.connections} connections was free for ${percent(blocked, offered)} of the sends`;
}

/** With a larger share of failures the target did not serve its load (M9). */
const MAX_FAILED_SHARE = 0.001;

type TargetOutcome = { outcome?: OutcomeStatus; outcome_text?: string };

/** Whether the target did not serve its load (M24). */
export const isSpoiled = ({ outcome }: { outcome?: OutcomeStatus | undefined }): boolean =>
  outcome === "overloaded" || outcome === "failed";

const percentOf = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(2)} %`;

/**
 * Only an offered rate that the target itself kept from being sent leaves its outcome known (M5,
 * M24).
 */
function isKnown(evidence: Evidence, { reasons }: Verdict): boolean {
  const invalidReasons = reasons.filter(({ severity }) => severity === "invalid");
  return invalidReasons.every(({ rule }) => rule === "M5" && isOverloaded(evidence));
}

/** How long before the end of a window with a fault a target must have recovered. */
const RECOVERED_S = 3;
/** With a larger share of failures at the end of the window it has not recovered. */
const MAX_FAILED_SHARE_RECOVERED = 0.01;

/**
 * The outcome of a run with faults. What fails because of a fault is measured, so the
 * target must serve its load before the fault and in the last seconds alone.
 */
function outcomeWithFaults(evidence: Evidence): TargetOutcome {
  const { allowed, limited, failed } = evidence.slices;
  const slicesBefore = Math.floor(firstFaultS(evidence) * SLICES_PER_SECOND);
  const failureIn = (most: number, from: number, to?: number): string | undefined => {
    const failedRequests = sum(failed.slice(from, to));
    const ended = failedRequests + sum(allowed.slice(from, to)) + sum(limited.slice(from, to));
    // If nothing was answered, nothing was served.
    if (ended > 0 && failedRequests <= most * ended) return undefined;
    return ended === 0
      ? "no request was answered"
      : `${percentOf(failedRequests, ended)} of ${ended} requests failed`;
  };
  const failureBefore = slicesBefore > 0 ? failureIn(MAX_FAILED_SHARE, 0, slicesBefore) : undefined;
  if (failureBefore)
    return { outcome: "failed", outcome_text: `${failureBefore} before the fault` };
  const failureAtEnd = failureIn(MAX_FAILED_SHARE_RECOVERED, -RECOVERED_S * SLICES_PER_SECOND);
  if (failureAtEnd)
    return {
      outcome: "failed",
      outcome_text: `${failureAtEnd} in the last ${RECOVERED_S} s: it did not recover`,
    };

  return { outcome: "served" };
}

/**
 * Served, overloaded or failed (M24, M27). Nothing is known where the measurement is
 * broken.
 */
export function targetOutcome(evidence: Evidence, verdict: Verdict): TargetOutcome {
  const { counts, schedule, boundary } = evidence;
  if (counts.sent === 0 || !isKnown(evidence, verdict)) return {};
  if (evidence.faults) return outcomeWithFaults(evidence);
  const { failed_answers, connection_errors, timed_out } = ends(counts);
  const failed = (count: number, kinds: string): TargetOutcome => ({
    outcome: "failed",
    outcome_text: `${percentOf(count, counts.sent)} of ${counts.sent} requests failed, more than 0.1 % (${kinds})`,
  });
  const failedSends = failed_answers + connection_errors;
  const timedOut = `${timed_out} time-outs`;
  if (failedSends > MAX_FAILED_SHARE * counts.sent) {
    const kinds = [
      `${failed_answers} failed answers`,
      `${connection_errors} connection errors`,
      timedOut,
    ];
    return failed(failedSends + timed_out, kinds.join(", "));
  }
  if (schedule && isOverloaded(evidence))
    return { outcome: "overloaded", outcome_text: overloadText(evidence, schedule) };
  if (timed_out > MAX_FAILED_SHARE * counts.sent) return failed(timed_out, timedOut);
  const brokenPromise = boundary && brokenPromiseText(boundary);

  return brokenPromise ? { outcome: "failed", outcome_text: brokenPromise } : { outcome: "served" };
}
