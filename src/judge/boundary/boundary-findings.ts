import type { Boundary, LimiterPromise } from "../../contract/boundary.js";
import type { Algorithm } from "../../contract/target.js";
import { definedOnly } from "../../kit/defined-only.js";
import { mean, rounded, sum } from "../../kit/numbers.js";
import {
  ADMITTED,
  type AlgorithmPromise,
  algorithmPromises,
  CLOCK_MS,
  countWithin,
  intervalsOf,
  type KeyDecisions,
  LIMITED,
  type MeasuredSpan,
  mostAdmittedWithin,
  type Quota,
  UNDECIDED,
} from "./algorithms.js";

type RetryAfter = NonNullable<Boundary["retry_after"]>;

const SECOND_MS = 1000;

/** The resolution of the waits, which is whole seconds, as in the header, or finer. */
function resolutionOf(keys: readonly KeyDecisions[]): number {
  const isWhole = (wait_ms: number) => Number.isNaN(wait_ms) || wait_ms % SECOND_MS === 0;
  return keys.every(({ wait_ms }) => wait_ms.every(isWhole)) ? SECOND_MS : 1;
}

/**
 * What the waits of one key's limited answers were worth. The limiter decided on a request
 * at an unknown moment between its send and its answer, so a wait is over for certain that long
 * after the answer, and lasts for certain that long after the send, less what rounding up adds to
 * it. * After: the first request that is sent when a wait is over must be admitted, unless another
 * request of the key may have been admitted since the limited one. Before: a request that is
 * answered while the wait lasts must not be admitted.
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
    .sort((a, b) => (answered_ms[a] ?? 0) - (answered_ms[b] ?? 0));
  let nextDenial = 0;
  /** The latest moment at which an earlier request may have been admitted. */
  let usedUntil_ms = Number.NEGATIVE_INFINITY;
  for (const [index, sent] of sent_ms.entries()) {
    const answered = answered_ms[index] ?? sent;
    const isAdmitted = outcome[index] === ADMITTED;
    const isDecided = outcome[index] !== UNDECIDED;
    for (; nextDenial < limited.length; nextDenial++) {
      const denial = limited[nextDenial] ?? 0;
      const announced = answered_ms[denial] ?? 0;
      if (announced > sent) break;
      const wait = wait_ms[denial] ?? 0;
      const over_ms = announced + wait + CLOCK_MS;
      pending.push({ over_ms, sent_ms: sent_ms[denial] ?? 0 });
      firstOver_ms = Math.min(firstOver_ms, over_ms);
      lasts_ms = Math.max(lasts_ms, (sent_ms[denial] ?? 0) + wait - resolution_ms - CLOCK_MS);
    }

    const isInSpan = sent >= opened_ms && sent < closed_ms;
    if (isInSpan && isDecided && answered < lasts_ms) {
      counts.before.requests++;
      if (isAdmitted) counts.before.admitted++;
    }

    if (firstOver_ms <= sent) {
      const endedWaits = pending.filter((wait) => wait.over_ms <= sent);
      pending = pending.filter((wait) => wait.over_ms > sent);
      firstOver_ms = pending.reduce(
        (first, wait) => Math.min(first, wait.over_ms),
        Number.POSITIVE_INFINITY,
      );
      const limitedLast = endedWaits.reduce((last, wait) => Math.max(last, wait.sent_ms), 0);
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

/**
 * How often waits were kept, over all keys. It is undefined where no limited answer named a
 * wait.
 */
export function retryAfterOf(
  keys: readonly KeyDecisions[],
  span: MeasuredSpan,
): RetryAfter | undefined {
  const named = ({ wait_ms }: KeyDecisions) => wait_ms.filter((wait) => !Number.isNaN(wait)).length;
  const counts: RetryAfter = {
    answers: sum(keys.map(named)),
    resolution_ms: resolutionOf(keys),
    after: { requests: 0, admitted: 0 },
    before: { requests: 0, admitted: 0 },
  };
  if (counts.answers === 0) return undefined;
  for (const key of keys) waitsOf(key, span, counts.resolution_ms, counts);
  return counts;
}

export interface BoundaryRun extends MeasuredSpan {
  keys: readonly KeyDecisions[];
  quota: number;
  window_s: number;
  algorithm: Algorithm;
}

/** What one key was admitted, compared with what the algorithm promises. */
interface JudgedKey {
  key: string;
  isAbove: boolean;
  /** The most admissions in any window. */
  burst: number;
  /** The admissions per second in the whole span. */
  per_second: number;
  surplus: number;
  unjustified: number;
}

function judgedKey(
  key: KeyDecisions,
  quota: Quota,
  promise: AlgorithmPromise | undefined,
  span: MeasuredSpan,
): JudgedKey {
  const { opened_ms, closed_ms } = span;
  const admitted = intervalsOf(key, [ADMITTED], opened_ms, closed_ms);
  const inSpan = countWithin(admitted, opened_ms, closed_ms - CLOCK_MS);

  return {
    key: key.key,
    isAbove: key.isAbove,
    burst: mostAdmittedWithin(admitted, quota.window_ms - CLOCK_MS),
    per_second: (1000 * inSpan) / (closed_ms - opened_ms),
    surplus: promise?.surplus(quota, admitted, span) ?? 0,
    unjustified: promise?.unjustified(quota, key, span) ?? 0,
  };
}

/** By how many requests the keys deviate from the promise, in all and at worst. */
function deviationOf(
  judged: readonly JudgedKey[],
  requestsOf: (key: JudgedKey) => number,
): Boundary["over_admission"] {
  const deviating = judged.filter((key) => requestsOf(key) > 0);
  const [worst] = deviating.toSorted((a, b) => requestsOf(b) - requestsOf(a));
  return definedOnly({
    total: sum(deviating.map(requestsOf)),
    keys: deviating.length,
    worst: worst ? { key: worst.key, requests: requestsOf(worst) } : undefined,
  });
}

/** The answers in each window of the run, to keys above and below their quota. */
function windowsOf(
  keys: readonly KeyDecisions[],
  { window_ms }: Quota,
  { opened_ms, closed_ms }: MeasuredSpan,
) {
  const windows = Array.from(
    { length: Math.ceil((closed_ms - opened_ms) / window_ms - 1e-6) },
    () => ({
      above: { admitted: 0, limited: 0 },
      below: { admitted: 0, limited: 0 },
    }),
  );

  let undecided = 0;
  for (const { isAbove, sent_ms, outcome } of keys) {
    for (const [index, sent] of sent_ms.entries()) {
      // A request that was due in time may be sent just after the end. It counts as sent, and so it
      // counts here.
      if (sent < opened_ms) continue;
      const place = Math.min(windows.length - 1, Math.floor((sent - opened_ms) / window_ms));
      const answers = windows[place]?.[isAbove ? "above" : "below"];
      if (!answers || outcome[index] === UNDECIDED) undecided++;
      else answers[outcome[index] === LIMITED ? "limited" : "admitted"]++;
    }
  }

  return { windows, undecided };
}

const groupOf = (
  keys: readonly KeyDecisions[],
  windows: Boundary["windows"],
  group: "above" | "below",
) => ({
  keys: keys.filter(({ isAbove }) => isAbove === (group === "above")).length,
  admitted: sum(windows.map((window) => window[group].admitted)),
  limited: sum(windows.map((window) => window[group].limited)),
});

/**
 * A run with traffic `boundary`: what each key was admitted, and which promises of the limiter's
 * algorithm hold (M27).
 */
export function boundaryOf(run: BoundaryRun): Boundary {
  const { keys, algorithm, window_s, opened_ms, closed_ms } = run;
  const quota: Quota = { requests: run.quota, window_ms: 1000 * window_s };
  const promise = algorithmPromises[algorithm];
  const judged = keys.map((key) => judgedKey(key, quota, promise, run));
  const { windows, undecided } = windowsOf(keys, quota, run);
  const [worstBurst] = judged.toSorted((a, b) => b.burst - a.burst);
  const largestBurst = worstBurst?.burst ?? 0;
  const rates = judged.filter(({ isAbove }) => isAbove).map(({ per_second }) => per_second);
  const retry_after = retryAfterOf(keys, run);
  const figures = definedOnly({
    over_admission: deviationOf(judged, ({ surplus }) => surplus),
    under_admission: deviationOf(judged, ({ unjustified }) => unjustified),
    burst: definedOnly({
      most: largestBurst,
      factor: rounded(largestBurst / quota.requests, 3),
      key: worstBurst && largestBurst > 0 ? worstBurst.key : undefined,
    }),
    rate: {
      promised_per_second: rounded(quota.requests / window_s, 3),
      lowest_per_second: rounded(Math.min(...rates), 3),
      mean_per_second: rounded(mean(rates), 3),
      highest_per_second: rounded(Math.max(...judged.map(({ per_second }) => per_second)), 3),
    },
    retry_after,
  });
  const length_ms = closed_ms - opened_ms - CLOCK_MS;

  return {
    algorithm,
    quota: quota.requests,
    window_s,
    above: groupOf(keys, windows, "above"),
    below: groupOf(keys, windows, "below"),
    undecided,
    windows,
    ...figures,
    promises: promise
      ? promisesOf(figures, {
          quotas: rounded(promise.mostIn(quota, quota.window_ms - CLOCK_MS) / quota.requests, 3),
          per_second: rounded(
            (1000 * promise.mostIn(quota, length_ms)) / (closed_ms - opened_ms),
            3,
          ),
        })
      : [],
  };
}

type Figures = Pick<
  Boundary,
  "burst" | "rate" | "over_admission" | "under_admission" | "retry_after"
>;

function promisesOf(
  { burst, rate, over_admission, under_admission, retry_after }: Figures,
  most: { quotas: number; per_second: number },
): LimiterPromise[] {
  const atMost = (
    id: LimiterPromise["id"],
    promised: number,
    seen: number,
    unit: LimiterPromise["unit"],
  ): LimiterPromise => ({ id, promised, seen, unit, holds: seen <= promised });

  const promises = [
    atMost("burst", most.quotas, burst.factor, "quotas"),
    atMost("rate", most.per_second, rate.highest_per_second, "requests/s"),
    atMost("over-admission", 0, over_admission.total, "requests"),
    atMost("under-admission", 0, under_admission.total, "requests"),
  ];
  if (retry_after && retry_after.after.requests > 0) {
    const { requests, admitted } = retry_after.after;
    const admittedShare = rounded(admitted / requests, 6);
    promises.push({
      id: "retry-after-admits",
      promised: 1,
      seen: admittedShare,
      unit: "share",
      holds: admitted === requests,
    });
  }
  if (retry_after && retry_after.before.requests > 0)
    promises.push(atMost("retry-after-not-before", 0, retry_after.before.admitted, "requests"));

  return promises;
}

const TEXTS: Readonly<Record<LimiterPromise["id"], (promise: LimiterPromise) => string>> = {
  burst: ({ promised, seen }) =>
    `one key was admitted ${seen} quotas in a window, ${promised} at most are promised`,
  rate: ({ promised, seen }) =>
    `one key was admitted ${seen} requests/s, ${promised} at most are promised`,
  "over-admission": ({ seen }) => `${seen} requests too many were admitted`,
  "under-admission": ({ seen }) => `${seen} requests were denied that had points left`,
  "retry-after-admits": ({ seen }) =>
    `${(100 * seen).toFixed(1)} % of the first requests after the announced wait were admitted`,
  "retry-after-not-before": ({ seen }) =>
    `${seen} requests were admitted before the announced wait was over`,
};

/**
 * With a larger share of wrong denials the target did not serve its load, as with failed answers
 * (M9).
 */
const MAX_DENIED_SHARE = 0.001;

/**
 * Waits advise the caller, and a few wrong denials are like a few failed answers; admitting too
 * much is never right.
 */
const isServiceBroken = ({ id, seen, holds }: LimiterPromise, requests: number): boolean => {
  if (holds || id === "retry-after-admits" || id === "retry-after-not-before") return false;
  return id !== "under-admission" || seen > MAX_DENIED_SHARE * requests;
};

/**
 * What the limiter admitted against its promise, so that it did not serve its load. It is
 * undefined where it did.
 */
export function brokenPromiseText({
  promises,
  above,
  below,
  undecided,
}: Boundary): string | undefined {
  const requests = above.admitted + above.limited + below.admitted + below.limited + undecided;
  const brokenPromises = promises.filter((promise) => isServiceBroken(promise, requests));
  if (brokenPromises.length === 0) return undefined;
  return `the limiter did not keep its promise: ${brokenPromises.map((promise) => TEXTS[promise.id](promise)).join(", ")}`;
}
