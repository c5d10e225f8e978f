import { environmentError, usageError } from "../../../kit/errors.js";
import { type Answered, admittedOf } from "./api-answers.js";
import type { AuditedApi } from "./audited-api.js";
import type { Quota } from "./quota.js";

/** The share of `--max-requests` that may go into the search. */
const SHARE = 0.25;
/** A longer window is not waited for. */
const LONGEST_MS = 600_000;
/** It is asked again after this share of the time that was waited so far, which is the precision. */
const PRECISION = 0.04;
const SHORTEST_MS = 20;

export const mostSearchRequests = (maxRequests: number): number => Math.floor(SHARE * maxRequests);

/** A key that was used up, and when it was admitted again. */
interface UsedUp {
  answers: readonly Answered[];
  first: Answered;
  denied: Answered;
  readmitted: Answered;
}

/** Sends requests on a fresh key until one is denied. @throws usageError where none is */
async function useUp(api: AuditedApi, key: string, most: number): Promise<Answered[]> {
  const answers = await api.oneByOne(key, most, {}, ({ fate }) => fate !== "admitted");
  const last = answers.at(-1);
  if (last?.fate === "denied") return answers;
  if (last?.fate === "admitted")
    throw usageError(
      `none of ${most} requests was denied with ${api.deniedStatus}: give --quota, or check --key and --denied`,
    );
  throw environmentError(`a request was answered with ${last?.status ?? last?.error}`);
}

/** Asks until a key is admitted again. @throws usageError where its window is too long */
async function readmission(api: AuditedApi, key: string, denied: Answered): Promise<Answered> {
  for (;;) {
    const waited_ms = performance.timeOrigin + performance.now() - denied.sent_ms;
    if (waited_ms > LONGEST_MS)
      throw usageError(
        `a used-up key is denied for more than ${LONGEST_MS / 1000} s: give --quota`,
      );
    await api.pause(Math.max(SHORTEST_MS, PRECISION * waited_ms));
    const answer = await api.send(key);
    if (answer.fate === "admitted") return answer;
  }
}

async function useUpAndWait(api: AuditedApi, key: string, most: number): Promise<UsedUp> {
  const answers = await useUp(api, key, most);
  const denied = answers.at(-1) as Answered;
  const readmitted = await readmission(api, key, denied);
  return { answers, first: answers[0] as Answered, denied, readmitted };
}

/** The lengths that windows have, with the finest last. */
const STEPS_S = [60, 10, 5, 1, 0.5, 0.1];

/** A window as somebody would have set it, if one is near what was measured. */
export function likelyWindow(seconds: number): number {
  for (const step of STEPS_S) {
    const steps = Math.round(seconds / step);
    const likely = steps * step;
    if (steps > 0 && Math.abs(likely - seconds) <= 1.5 * PRECISION * seconds)
      return Number(likely.toFixed(1));
  }
  return Number(seconds.toPrecision(2));
}

/**
 * The window of a quota. Where a used-up key gets most of its quota back at once, it has windows, and
 * a key that began when another came back shows a whole one. Otherwise points come back one by one.
 */
async function windowOf(api: AuditedApi, key: string, second: UsedUp, points: number) {
  const back = await api.oneByOne(key, points - 1, {}, ({ fate }) => fate !== "admitted");
  if (points === 1 || admittedOf(back) >= points / 2)
    return (second.readmitted.sent_ms - second.first.sent_ms) / 1000;

  const denied = back.at(-1) as Answered;
  const next = await readmission(api, key, denied);
  return (points * (next.sent_ms - denied.sent_ms)) / 1000;
}

/**
 * Finds the quota of an API by the first denial of a fresh key, and confirms it by a second key.
 * @throws usageError where it has to be given
 */
export async function findQuota(api: AuditedApi): Promise<Quota> {
  const most = mostSearchRequests(api.settings.maxRequests);
  const first = await useUpAndWait(api, await api.freshKey(), most);
  const points = admittedOf(first.answers);

  // It begins when the first came back, which is the begin of a window where a clock has them.
  const key = await api.freshKey();
  const second = await useUpAndWait(api, key, most);
  const confirmed = admittedOf(second.answers) + (api.settings.carrier.hasOneKey ? 1 : 0);
  if (confirmed !== points)
    throw usageError(
      `a first key got ${points} requests and a second one ${confirmed}: give --quota, or check --key`,
    );
  return { points, window_s: likelyWindow(await windowOf(api, key, second, points)) };
}
