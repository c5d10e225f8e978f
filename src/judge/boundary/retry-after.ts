import type { Boundary } from "../../contract/boundary.js";
import { CLOCK_MS, type MeasuredSpan } from "./algorithms.js";
import { ADMITTED, type KeyDecisions, LIMITED, UNDECIDED } from "./key-decisions.js";

export type RetryAfter = NonNullable<Boundary["retry_after"]>;

const SECOND_MS = 1000;

/** Whole seconds, as in the header, or finer. */
export function resolutionOf(keys: readonly KeyDecisions[]): number {
  const isWhole = (wait_ms: number) => Number.isNaN(wait_ms) || wait_ms % SECOND_MS === 0;
  return keys.every(({ wait_ms }) => wait_ms.every(isWhole)) ? SECOND_MS : 1;
}

/**
 * What the waits of one key's limited answers were worth. The limiter decided on a request at an unknown moment between
 * its send and its answer, so a wait is over for certain that long after the answer, and lasts for certain that long after
 * the send, less what rounding up adds to it.
 *
 * After: the first request that is sent when a wait is over must be admitted, unless another request of the key may have
 * been admitted since the limited one. Before: a request that is answered while the wait lasts must not be admitted.
 */
function waitsOf(
  { sent_ms, answered_ms, outcome, wait_ms }: KeyDecisions,
  { opened_ms, closed_ms }: MeasuredSpan,
  resolution_ms: number,
  counts: RetryAfter,
): void {
  /** Waits that were not over at the last send. */
  let pending: { over_ms: number; sent_ms: number }[] = [];
  let firstOver_ms = Number.POSITIVE_INFINITY;
  let lasts_ms = Number.NEGATIVE_INFINITY;
  /** The limited answers, in the order of their arrival, that the loop has not come to. */
  const limited = [...sent_ms.keys()]
    .filter((index) => outcome[index] === LIMITED && !Number.isNaN(wait_ms[index]))
    .sort((one, other) => (answered_ms[one] ?? 0) - (answered_ms[other] ?? 0));
  let known = 0;
  /** The latest moment at which an earlier request may have been admitted. */
  let usedUntil_ms = Number.NEGATIVE_INFINITY;
  for (const [index, sent] of sent_ms.entries()) {
    const answered = answered_ms[index] ?? sent;
    const isAdmitted = outcome[index] === ADMITTED;
    const isDecided = outcome[index] !== UNDECIDED;
    for (; known < limited.length; known++) {
      const of = limited[known] ?? 0;
      const announced = answered_ms[of] ?? 0;
      if (announced > sent) break;
      const wait = wait_ms[of] ?? 0;
      const over_ms = announced + wait + CLOCK_MS;
      pending.push({ over_ms, sent_ms: sent_ms[of] ?? 0 });
      firstOver_ms = Math.min(firstOver_ms, over_ms);
      lasts_ms = Math.max(lasts_ms, (sent_ms[of] ?? 0) + wait - resolution_ms - CLOCK_MS);
    }
    const isInSpan = sent >= opened_ms && sent < closed_ms;
    if (isInSpan && isDecided && answered < lasts_ms) {
      counts.before.requests++;
      if (isAdmitted) counts.before.admitted++;
    }
    if (firstOver_ms <= sent) {
      const over = pending.filter((wait) => wait.over_ms <= sent);
      pending = pending.filter((wait) => wait.over_ms > sent);
      firstOver_ms = pending.reduce((first, wait) => Math.min(first, wait.over_ms), Number.POSITIVE_INFINITY);
      const limitedLast = over.reduce((last, wait) => Math.max(last, wait.sent_ms), 0);
      if (isInSpan && isDecided && usedUntil_ms < limitedLast && !isOvertaken(index)) {
        counts.after.requests++;
        if (isAdmitted) counts.after.admitted++;
      }
    }
    if (outcome[index] !== LIMITED) usedUntil_ms = Math.max(usedUntil_ms, answered);
  }

  /** Whether a request that was sent before this one was answered may have been admitted. */
  function isOvertaken(index: number): boolean {
    const answered = answered_ms[index] ?? 0;
    for (let next = index + 1; next < sent_ms.length && (sent_ms[next] ?? 0) < answered; next++)
      if (outcome[next] !== LIMITED) return true;
    return false;
  }
}

/** Whether waits were honoured, over all keys; undefined where no limited answer named one. */
export function retryAfterOf(keys: readonly KeyDecisions[], span: MeasuredSpan): RetryAfter | undefined {
  const named = (key: KeyDecisions) =>
    key.wait_ms.reduce((total, wait) => total + (Number.isNaN(wait) ? 0 : 1), 0);
  const counts: RetryAfter = {
    answers: keys.reduce((total, key) => total + named(key), 0),
    resolution_ms: resolutionOf(keys),
    after: { requests: 0, admitted: 0 },
    before: { requests: 0, admitted: 0 },
  };
  if (counts.answers === 0) return undefined;
  for (const key of keys) waitsOf(key, span, counts.resolution_ms, counts);
  return counts;
}
