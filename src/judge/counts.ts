import { sum } from "../contract/numbers.js";
import type { ConsumerEvidence, Counts } from "../contract/result.js";
import type { Usage } from "../contract/server-api.js";

/** Answers in throughput and latency: a rejection by the limiter is an answer, a failure is not (M1, M9). */
export const answered = (counts: Counts): number => counts.allowed + counts.limited;

/**
 * The requests that used CPU time between the drained readings around a window: those that the consumers finished, which
 * are more than the answers in the window. Without their count, the requests that were sent.
 */
export function served(
  consumers: readonly Pick<ConsumerEvidence, "at_window_open" | "at_end">[],
  { sent }: Pick<Counts, "sent">,
): number {
  if (consumers.length === 0) return sent;
  const finished = ({ requests, in_flight }: Usage): number => requests - in_flight;
  return sum(
    consumers.map(({ at_window_open, at_end }) => Math.max(0, finished(at_end) - finished(at_window_open))),
  );
}

/** Requests that failed in any way. Requests cut at the end of the window are not failures. */
export const failed = (counts: Counts): number =>
  counts.failed_answers + counts.connection_errors + counts.timed_out;

/** Failed of all requests that were sent, 0 to 1 (M9); undefined where none was sent. */
export const failedShare = (counts: Counts): number | undefined =>
  counts.sent > 0 ? failed(counts) / counts.sent : undefined;

/** The number of requests with a known outcome; equals `sent` when none was lost or counted twice (M8). */
export const accounted = (counts: Counts): number => answered(counts) + failed(counts) + counts.cut;

export function addCounts(parts: readonly Counts[]): Counts {
  const total = (pick: (counts: Counts) => number) => sum(parts.map(pick));
  const byCode: Record<string, number> = {};
  for (const part of parts) {
    for (const [code, count] of Object.entries(part.by_code)) byCode[code] = (byCode[code] ?? 0) + count;
  }
  return {
    sent: total((counts) => counts.sent),
    allowed: total((counts) => counts.allowed),
    limited: total((counts) => counts.limited),
    failed_answers: total((counts) => counts.failed_answers),
    connection_errors: total((counts) => counts.connection_errors),
    timed_out: total((counts) => counts.timed_out),
    cut: total((counts) => counts.cut),
    by_code: byCode,
  };
}
