import type { Counts } from "../contract/result.js";

/** Answers in throughput and latency: a rejection by the limiter is an answer, a failure is not (M1, M9). */
export const answered = (counts: Counts): number => counts.allowed + counts.limited;

/** Requests that failed in any way. Those cut at the end are not failures: nobody waited for them. */
export const failed = (counts: Counts): number =>
  counts.failed_answers + counts.connection_errors + counts.timed_out;

/** What became of all requests, one by one; equals `sent` when nothing was lost or counted twice (M8). */
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
