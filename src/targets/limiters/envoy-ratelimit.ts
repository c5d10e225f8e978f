import type { ServiceSpec } from "../../contract/run-spec.js";
import { EXHAUSTED_KEY_PREFIX } from "../../contract/server-api.js";
import { definedOnly } from "../../kit/defined-only.js";
import { SERVICE_CONNECTIONS } from "../clients/client-settings.js";
import { OneCallLimiter, type Verdict } from "../request-limiter.js";
import { domainOf, envoyRatelimit, KEYS, noLimit } from "../services/envoy-ratelimit/index.js";
import type { LimiterDescription, StorePlace } from "../target-types.js";

export interface RateLimitRequest {
  domain: string;
  descriptors: readonly { entries: readonly { key: string; value: string }[] }[];
  hitsAddend?: number;
}

/** The decision on one descriptor. Fields that are zero are not sent. */
interface Status {
  code?: "UNKNOWN" | "OK" | "OVER_LIMIT";
  /** Absent where no limit applies: then everything is admitted. */
  currentLimit?: object | null;
  limitRemaining?: number;
  /** The time until the quota begins anew. Over HTTP it is a text, e.g. `37s`. */
  durationUntilReset?: string | { seconds?: number; nanos?: number } | null;
}

export type RateLimitResponse = { statuses?: readonly Status[] };

/** What a client of the service gives to the limiter. */
export interface EnvoyHandle {
  domain: string;
  /** @throws Error when it fails, or does not answer in time */
  decide(request: RateLimitRequest): Promise<RateLimitResponse>;
}

export function requireService({ service }: StorePlace): ServiceSpec {
  if (service) return service;
  throw new Error("the run spec names no service: a campaign starts one");
}

function milliseconds(duration: Status["durationUntilReset"]): number {
  if (!duration) return 0;
  if (typeof duration === "string") return 1_000 * Number.parseFloat(duration);
  const { seconds = 0, nanos = 0 } = duration;
  return 1_000 * Number(seconds) + nanos / 1e6;
}

const entryOf = (key: string) => ({
  entries: [
    { key: key.startsWith(EXHAUSTED_KEY_PREFIX) ? KEYS.exhausted : KEYS.standard, value: key },
  ],
});

function requestFor(domain: string, keys: readonly string[], cost: number): RateLimitRequest {
  const descriptors = keys.map(entryOf);
  return cost === 1 ? { domain, descriptors } : { domain, descriptors, hitsAddend: cost };
}

/** @throws Error for an answer that decides nothing */
function verdictOf(
  domain: string,
  { statuses = [] }: RateLimitResponse,
  expected: number,
): Verdict {
  if (statuses.length !== expected)
    throw new Error(`the service decided on ${statuses.length} of ${expected} descriptors`);
  const verdict = { denied: 0, remaining: 0, msBeforeNext: 0 };
  for (const { code, currentLimit, durationUntilReset } of statuses) {
    if (!currentLimit) throw new Error(noLimit(domain));
    if (code === "OK") continue;
    if (code !== "OVER_LIMIT")
      throw new Error(`the service answered with the code ${code ?? "UNKNOWN"}`);
    verdict.denied++;
    verdict.msBeforeNext = Math.max(verdict.msBeforeNext, milliseconds(durationUntilReset));
  }
  return verdict;
}

/**
 * Decides on both kinds of keys, on every connection. @throws Error where a key has no limit, or a
 * call fails
 */
async function requireLimits(handle: EnvoyHandle): Promise<void> {
  const descriptors = Object.values(KEYS).map((key) => ({ entries: [{ key, value: "trial" }] }));
  const trial = async (): Promise<void> => {
    const { statuses = [] } = await handle.decide({ domain: handle.domain, descriptors });
    if (descriptors.some((_, index) => !statuses[index]?.currentLimit))
      throw new Error(noLimit(handle.domain));
  };
  await Promise.all(Array.from({ length: SERVICE_CONNECTIONS }, trial));
}

export const envoyLimiter: LimiterDescription = {
  id: "envoy-ratelimit",
  summary: "Envoy's rate limit service decides; one call has all descriptors of a request",
  algorithm: "aligned window",
  atomic: true,
  // On memcached the service reads, answers, and then increments.
  notAtomicOn: ["memcached"],
  // On memcached the service reads each key before it decides, and increments after it has
  // answered.
  decisionCommands: ["incrby", "get"],
  takesCost: true,
  callOf: (key, { cost = 1 }, { nonce }) => requestFor(domainOf(nonce), [key], cost),
  ...definedOnly({ unsupportedReason: envoyRatelimit.unsupportedReason }),
  async create({ handle }, _description, { points }) {
    const envoy = handle as EnvoyHandle;
    await requireLimits(envoy);
    return new OneCallLimiter(points, async (keys, cost) =>
      verdictOf(
        envoy.domain,
        await envoy.decide(requestFor(envoy.domain, keys, cost)),
        keys.length,
      ),
    );
  },
};
