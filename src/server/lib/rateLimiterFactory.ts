import { environmentError, messageOf, usageError } from "../../contract/errors.js";
import { describeClient, findLimiter } from "../../targets/resolve.js";
import type { LimiterPair, OpenClient } from "../../targets/types.js";
import type { ServerConfig } from "../config/index.js";

/** The two limiters of a server: one with the limits, one that has no points left for anyone. */
export type RateLimiters = LimiterPair;

/**
 * Makes the target's limiters, with their scripts loaded in the store. Undefined for a target without a limiter.
 * @throws environmentError when the store refuses the scripts
 */
export async function createRateLimiters(
  config: ServerConfig,
  client: OpenClient,
): Promise<RateLimiters | undefined> {
  const { target, limits } = config;
  const limiter = findLimiter(target.limiter);
  const lacks = limiter.lacks?.(limits);
  if (lacks) throw usageError(lacks);
  try {
    return await limiter.create(client, describeClient(target), limits, config.keyPrefix);
  } catch (error) {
    throw environmentError(`${target.limiter} cannot use the ${target.store}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
