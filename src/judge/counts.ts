import type { Counts } from "../contract/result.js";
import type { Usage } from "../contract/server-api.js";

/** Answers in throughput and latency: a rejection by the limiter is an answer, a failure is not (M1, M9). */
export const answered = (counts: Counts): number => counts.allowed + counts.limited;

/**
 * The requests that used CPU time between the drained readings around a window: those that the server answered, which
 * are more than the answers in the window. Without the server's count, the requests that were sent.
 */
export function served(
  server: { at_window_open: Usage; at_end: Usage } | undefined,
  { sent }: Pick<Counts, "sent">,
): number {
  if (!server) return sent;
  const finished = ({ requests, in_flight }: Usage): number => requests - in_flight;
  return Math.max(0, finished(server.at_end) - finished(server.at_window_open));
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
  const sum = (pick: (counts: Counts) => number) => parts.reduce((total, part) => total + pick(part), 0);
  const byStatus: Record<string, number> = {};
  for (const part of parts) {
    for (const [status, count] of Object.entries(part.by_status)) {
      byStatus[status] = (byStatus[status] ?? 0) + count;
    }
  }
  return {
    sent: sum((counts) => counts.sent),
    allowed: sum((counts) => counts.allowed),
    limited: sum((counts) => counts.limited),
    failed_answers: sum((counts) => counts.failed_answers),
    connection_errors: sum((counts) => counts.connection_errors),
    timed_out: sum((counts) => counts.timed_out),
    cut: sum((counts) => counts.cut),
    by_status: byStatus,
  };
}
