import type { ConsumerEvidence } from "../contract/consumer-evidence.js";
import type { AfterWindow, Counts } from "../contract/request-outcomes.js";
import type { MeasuredResult } from "../contract/result.js";
import type { Usage } from "../contract/server-api.js";
import { sum, totals } from "../kit/numbers.js";

export const answeredRequests = ({
  allowed,
  limited,
}: Pick<Counts, "allowed" | "limited">): number => allowed + limited;

/** The load between the drained readings around a window, which is its lead-in and the window. */
type Load = Pick<MeasuredResult, "counts" | "warmup">;

type Lasting = Pick<MeasuredResult, "duration" | "warmup" | "turns">;

/**
 * The seconds of load between the drained readings around a window. When targets take
 * turns, they are those of the target's turns.
 */
export const loadedS = ({ duration, warmup, turns }: Lasting): number => {
  // A run of a load curve has one turn at its rate, and the answers after it are part of that rate.
  const drained_s = turns?.curve ? 0 : (turns?.drained_s ?? 0);
  return duration + warmup.lead_in.took_s + drained_s;
};

/** The requests that were sent between the drained readings around a window. */
export const sentBetweenReadings = ({ counts, warmup }: Load): number =>
  counts.sent + warmup.lead_in.requests;

/** Whether a consumer is younger than its readings, so that its counters have begun at 0. */
export const hasRestarted = (
  { at_window_open, at_end }: Pick<ConsumerEvidence, "at_window_open" | "at_end">,
  duration: number,
): boolean => at_end.uptime_s - at_window_open.uptime_s < 0.99 * duration - 0.1;

/**
 * The requests that used CPU time between the drained readings. These are the requests that
 * the consumers finished, or those that were sent where nothing counts them.
 */
export function servedRequests(
  consumers: readonly Pick<ConsumerEvidence, "at_window_open" | "at_end">[],
  load: Load,
): number {
  if (consumers.length === 0) return sentBetweenReadings(load);
  const finished = ({ requests, in_flight }: Usage): number => requests - in_flight;
  const between = (before: number, after: number): number =>
    // A process that was started again has counted from 0.
    after < before ? after : after - before;
  return sum(
    consumers.map(({ at_window_open, at_end }) =>
      between(finished(at_window_open), finished(at_end)),
    ),
  );
}

const ENDS = ["allowed", "limited", "failed_answers", "connection_errors", "timed_out"] as const;

/**
 * How all requests of the window ended, including those that were followed after it (M23).
 */
export const ends = (counts: Counts): AfterWindow => totals(ENDS, [counts, counts.after_window]);

export const failures = ({ failed_answers, connection_errors, timed_out }: AfterWindow): number =>
  failed_answers + connection_errors + timed_out;

/** The number of requests that failed in any way, also after the close of the window. */
export const failedRequests = (counts: Counts): number => failures(ends(counts));

export const failedShare = (counts: Counts): number | undefined =>
  counts.sent > 0 ? failedRequests(counts) / counts.sent : undefined;

/**
 * The requests with a known end. They equal `sent` when none was lost or counted twice
 * (M8).
 */
export const accountedRequests = (counts: Counts): number =>
  answeredRequests(counts) + failures(counts) + counts.followed + counts.cut;

/** The followed requests whose end is known. */
export const followedEnds = ({ after_window }: Counts): number =>
  answeredRequests(after_window) + failures(after_window);

export function addCounts(parts: readonly Counts[]): Counts {
  const codes = new Set(parts.flatMap(({ by_code }) => Object.keys(by_code)));
  return {
    ...totals(["sent", ...ENDS, "followed", "cut"], parts),
    after_window: totals(
      ENDS,
      parts.map(({ after_window }) => after_window),
    ),
    by_code: totals(
      [...codes],
      parts.map(({ by_code }) => by_code),
    ),
  };
}
