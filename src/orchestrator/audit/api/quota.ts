import type { Limits } from "../../../contract/configuration.js";
import type { Algorithm } from "../../../contract/target.js";
import { usageError } from "../../../kit/errors.js";

/** How many requests an API admits in a window. */
export interface Quota {
  points: number;
  window_s: number;
}

const SECONDS = { ms: 0.001, s: 1, m: 60, min: 60, h: 3600, d: 86_400 } as const;
const QUOTA = /^(?<points>\d{1,9})\/(?<count>\d{1,7}(?:\.\d{1,3})?)?(?<unit>ms|s|min|m|h|d)$/;

/** Reads a quota such as `100/60s` or `5/s`. @throws usageError */
export function parseQuota(flag: string, text: string): Quota {
  const { points, count = "1", unit } = QUOTA.exec(text)?.groups ?? {};
  const quota = {
    points: Number(points),
    window_s: Number(count) * SECONDS[unit as keyof typeof SECONDS],
  };
  if (quota.points >= 1 && quota.window_s >= 0.01) return quota;
  throw usageError(
    `${flag} ${JSON.stringify(text.slice(0, 80))}: give requests and window, e.g. 100/60s, 5/s or 1000/h`,
  );
}

export const quotaText = ({ points, window_s }: Quota): string => `${points} in ${window_s} s`;

/**
 * The algorithms that each value of `--algorithm` can mean. Who declares a fixed window need not know
 * whether it begins with a key's first request or with the clock.
 */
export const DECLARED_ALGORITHMS = {
  "fixed-window": ["fixed window", "aligned window"],
  "sliding-window": ["sliding window", "sliding log"],
  "token-bucket": ["token bucket"],
  gcra: ["GCRA"],
  unknown: ["fixed window", "aligned window", "sliding window", "sliding log", "token bucket"],
} as const satisfies Readonly<Record<string, readonly Algorithm[]>>;
export type DeclaredAlgorithm = keyof typeof DECLARED_ALGORITHMS;

/**
 * The limits by which the models of algorithms judge. A limiter that admits fewer at once than its
 * quota is a bucket of that size, which is refilled at the quota's rate.
 */
export function limitsOf({ points, window_s }: Quota, burst: number | undefined): Limits {
  if (burst === undefined) return { points, window_s, block_s: 0 };
  return { points: burst, window_s: (burst * window_s) / points, block_s: 0 };
}
