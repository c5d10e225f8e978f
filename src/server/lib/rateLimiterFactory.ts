import { environmentError, messageOf } from "../../contract/errors.js";
import { limiters } from "../../targets/limiters/index.js";
import { describeClient } from "../../targets/resolve.js";
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
  const limiter = limiters.find(({ id }) => id === target.limiter);
  if (!limiter) throw new Error(`${target.client} names the limiter ${target.limiter}, which does not exist`);
  try {
    return await limiter.create(client, describeClient(target), limits, config.keyPrefix);
  } catch (error) {
    throw environmentError(`${target.limiter} cannot use the ${target.store}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
