import { usageError } from "../../../kit/errors.js";
import { sum, withThousands } from "../../../kit/numbers.js";
import { counted, durationText } from "../../ui/text.js";
import type { ApiCheck } from "./api-check.js";
import { type ApiSettings, shownUrl } from "./api-settings.js";
import { mostSearchRequests } from "./find-quota.js";
import { type Quota, quotaText } from "./quota.js";

/** At most so many requests are on their way at once. */
export const MOST_AT_ONCE = 100;

/** A request that is answered quickly, so that the time of many in a row can be told beforehand. */
const REQUEST_S = 0.005;
/** Checks that do not disturb each other run at once, so many of them. */
export const CHECKS_AT_ONCE = 8;

/** What an audit of an API sends, and about how long that takes. */
export interface ApiPlan {
  quota: Quota;
  checks: readonly ApiCheck[];
  skips: ReadonlyMap<ApiCheck, string>;
  requests: number;
  seconds: number;
}

/** The time of checks that run at once, or one after the other. */
function secondsOf(
  checks: readonly ApiCheck[],
  quota: Quota,
  settings: ApiSettings,
  runsAtOnce: boolean,
): number {
  const windows = checks.map((check) => check.cost(quota, settings).windows);
  const waits = runsAtOnce ? Math.max(0, ...windows) : windows.reduce((a, b) => a + b + 1, 0);
  return waits * quota.window_s;
}

/**
 * What the checks send under a quota.
 * @throws usageError where that is more than the caps allow
 */
export function apiPlan(settings: ApiSettings, quota: Quota, checks: readonly ApiCheck[]): ApiPlan {
  const skips = new Map<ApiCheck, string>();
  for (const check of checks) {
    const reason = check.unsupportedReason?.(settings);
    if (reason !== undefined) skips.set(check, reason);
  }

  const made = checks.filter((check) => !skips.has(check));
  const requests = made.reduce((total, check) => total + check.cost(quota, settings).requests, 1);
  if (requests > settings.maxRequests)
    throw usageError(
      `a quota of ${quotaText(quota)} needs about ${withThousands(requests)} requests, and --max-requests allows ${withThousands(settings.maxRequests)}: give ${requests}, or fewer --checks`,
    );

  const runsAtOnce = !settings.carrier.hasOneKey;
  const first = made.filter(({ isFirst }) => isFirst);
  const last = made.filter(({ isLast }) => isLast);
  const others = made.filter(({ isFirst, isLast }) => !isFirst && !isLast);
  const waited_s = sum(
    [first, others, last].map((group) => secondsOf(group, quota, settings, runsAtOnce)),
  );
  const paced_s = 60 * Math.floor(requests / settings.requestsPerMinute);
  const seconds = Math.max(waited_s + requests * REQUEST_S, paced_s);
  return { quota, checks: made, skips, requests, seconds };
}

/** The plan of these checks; undefined where the quota has to be found first. @throws usageError */
export const planOf = (settings: ApiSettings, checks: readonly ApiCheck[]): ApiPlan | undefined =>
  settings.quota && apiPlan(settings, settings.quota, checks);

/**
 * Lines on what is sent where, before anything is.
 * @param plan absent where the quota has to be found first
 */
export function apiPlanLines(settings: ApiSettings, plan: ApiPlan | undefined): string[] {
  const { url, instances, method, carrier, requestsPerMinute, maxRequests, algorithm } = settings;
  const targets = [url, ...instances].map(shownUrl).join(", ");
  const quota = plan ? `quota ${quotaText(plan.quota)}` : "quota to be found";
  const most = `at most ${MOST_AT_ONCE} at once, ${withThousands(requestsPerMinute)} in a minute, ${withThousands(maxRequests)} in all`;
  return [
    `${method} ${targets}; keys in ${carrier.text}; ${quota}, ${algorithm}`,
    plan
      ? `${counted(plan.checks.length, "check")}, about ${withThousands(plan.requests)} requests in ${durationText(plan.seconds)}, ${most}`
      : `the quota is found with at most ${withThousands(mostSearchRequests(maxRequests))} requests; ${most}`,
  ];
}
