import type { Limits } from "../../contract/configuration.js";
import { EXHAUSTED_KEY_PREFIX } from "../../contract/server-api.js";
import type { Algorithm } from "../../contract/target.js";
import { OneCallLimiter, type Verdict } from "../request-limiter.js";
import type { LimiterDescription } from "../target-types.js";
import { noBlock, unsupported } from "./library.js";

export const GUBERNATOR = "gubernator";
export const HEALTH_PATH = "/v1/HealthCheck";

type Bucket = "TOKEN_BUCKET" | "LEAKY_BUCKET";

export interface GubernatorRequest {
  requests: readonly {
    name: string;
    unique_key: string;
    hits: number;
    limit: number;
    /** The length of the limiter window in milliseconds. */
    duration: number;
    algorithm: Bucket;
  }[];
}

/** Over HTTP numbers are texts. */
export interface GubernatorResponse {
  responses?: readonly {
    status?: "UNDER_LIMIT" | "OVER_LIMIT";
    remaining?: number | string;
    /** When the window ends, in milliseconds since 1970. */
    reset_time?: number | string;
    /** Why it could not decide; its status then is UNDER_LIMIT all the same. */
    error?: string;
  }[];
}

/** What the handle of a client of gubernator does. */
export type GetRateLimits = (request: GubernatorRequest) => Promise<GubernatorResponse>;

function requestFor(
  algorithm: Bucket,
  name: string,
  keys: readonly string[],
  { points, window_s }: Limits,
  hits: number,
): GubernatorRequest {
  return {
    requests: keys.map((unique_key) => ({
      name,
      unique_key,
      hits,
      limit: unique_key.startsWith(EXHAUSTED_KEY_PREFIX) ? 0 : points,
      duration: 1_000 * window_s,
      algorithm,
    })),
  };
}

/**
 * @throws Error for an answer that does not decide on all keys: then none must count as admitted
 */
function verdictOf({ responses = [] }: GubernatorResponse, expected: number): Verdict {
  if (responses.length !== expected)
    throw new Error(`gubernator decided on ${responses.length} of ${expected} keys`);
  const verdict = { denied: 0, remaining: 0, msBeforeNext: 0 };
  for (const { status, remaining = 0, reset_time = 0, error } of responses) {
    if (error) throw new Error(`gubernator could not decide: ${error}`);
    if (status === "UNDER_LIMIT") continue;
    if (status !== "OVER_LIMIT") throw new Error(`gubernator answered with the status ${status}`);
    verdict.denied++;
    const msBeforeNext = Number(reset_time) - Date.now();
    if (msBeforeNext <= verdict.msBeforeNext) continue;
    Object.assign(verdict, { msBeforeNext, remaining: Number(remaining) });
  }
  return verdict;
}

const describe = (
  algorithm: Bucket,
  members: Pick<LimiterDescription, "id" | "summary" | "applyTo"> & { algorithm: Algorithm },
): LimiterDescription => ({
  ...members,
  atomic: true,
  takesCost: true,
  unsupportedReason: ({ block_s }) => noBlock(GUBERNATOR, block_s),
  async create({ handle }, _client, limits, keyPrefix) {
    const ask = handle as GetRateLimits;
    // Nothing is sent here: it has no script to load, and its counters cannot be reset.
    return new OneCallLimiter(limits.points, async (keys, cost) =>
      verdictOf(await ask(requestFor(algorithm, keyPrefix, keys, limits, cost)), keys.length),
    );
  },
});

export const gubernatorLimiters: readonly LimiterDescription[] = [
  describe("TOKEN_BUCKET", {
    id: GUBERNATOR,
    summary: "gubernator decides itself, by its token bucket",
    // gubernator fills this bucket at once, when a window since a key's first hit is over.
    algorithm: "fixed window",
  }),
  describe("LEAKY_BUCKET", {
    id: "gubernator-leaky",
    summary: "gubernator decides by its leaky bucket, which is refilled evenly",
    algorithm: "token bucket",
    applyTo: (client) =>
      client.limiter === GUBERNATOR
        ? { ...client, limiter: "gubernator-leaky" }
        : unsupported(client, "gubernator-leaky", "it is an algorithm of gubernator"),
  }),
];
