import type { Admissions, RequestCounts } from "../../contract/admissions.js";
import type { Configuration } from "../../contract/configuration.js";
import { admissionsOf } from "../../judge/admission-accounting.js";
import { findLimiter } from "../../targets/resolve.js";
import { findProfile } from "../../traffic/lookup.js";
import { FRESH_KEY } from "../../traffic/traffic-types.js";

/** The most keys that are read, which are those of the most frequent requests. */
const MAX_KEYS = 10_000;

export interface AdmissionsContext {
  configuration: Pick<Configuration, "target" | "traffic" | "limits">;
  keyPrefix: string;
  requestCounts: RequestCounts | undefined;
  withoutStore: number;
  /** The least number of seconds since the store was emptied. */
  elapsedS: number;
  readNumbers(keys: readonly string[]): Promise<readonly (number | null)[] | undefined>;
}

/** Why the counts of the keys mean nothing; undefined where they can be compared. */
function unknownReason({
  configuration,
  withoutStore,
  elapsedS,
}: AdmissionsContext): string | undefined {
  const { target, limits } = configuration;
  if (target.decides_locally) return "some decisions do not reach the store";
  if (withoutStore > 0) return `${withoutStore} consumes were decided without the store`;
  const { countKey, algorithm = "fixed window" } = findLimiter(target.limiter);
  if (!countKey) return `no counts of ${target.limiter} (${algorithm}) are read by key`;
  if (limits.block_s > 0) return "a block replaces the count of a key";
  if (elapsedS >= limits.window_s)
    return `the run took ${Math.ceil(elapsedS)} s, and counts end after a window of ${limits.window_s} s`;
  return undefined;
}

/** The bounds of the points that each key has consumed, without keys that are never used again. */
function boundsByKey(
  { traffic, limits: { cost = 1 } }: AdmissionsContext["configuration"],
  { sent, undecided }: RequestCounts,
): Map<string, { least: number; most: number }> {
  const bounds = new Map<string, { least: number; most: number }>();
  const { requests } = findProfile(traffic).population();
  for (const [index, descriptors] of requests.entries()) {
    const most = cost * (sent[index] ?? 0);
    const least = most - cost * (undecided[index] ?? 0);
    if (most === 0) continue;
    for (const key of descriptors) {
      if (key === FRESH_KEY) continue;
      const earlier = bounds.get(key) ?? { least: 0, most: 0 };
      bounds.set(key, { least: earlier.least + least, most: earlier.most + most });
    }
  }
  return bounds;
}

/** Reads the counts of the keys after the last answer, and compares them with the load (M27). */
export async function readAdmissions(context: AdmissionsContext): Promise<Admissions> {
  const reason = unknownReason(context);
  if (reason) return { status: "not known", reason };
  const { configuration, requestCounts, keyPrefix, readNumbers } = context;
  if (!requestCounts)
    return { status: "not known", reason: "the load generator did not count by request" };
  const { countKey } = findLimiter(configuration.target.limiter);
  const bounds = [...boundsByKey(configuration, requestCounts)]
    .toSorted(([, a], [, b]) => b.most - a.most)
    .slice(0, MAX_KEYS);
  if (bounds.length === 0)
    return { status: "not known", reason: "each request is on a key of its own" };
  const numbers = await readNumbers(bounds.map(([key]) => countKey?.(key, keyPrefix) ?? key));
  if (!numbers) return { status: "not known", reason: "the store's keys cannot be read" };
  return admissionsOf(
    bounds.map(([key, range], index) => ({ key, ...range, counted: numbers[index] ?? 0 })),
  );
}
