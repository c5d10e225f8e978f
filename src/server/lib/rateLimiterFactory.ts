import { environmentError, messageOf, usageError } from "../../contract/errors.js";
import { partText } from "../../contract/target.js";
import { describeClient, findLimiter, unsupportedReason } from "../../targets/resolve.js";
import type { LimiterPair, OpenClient } from "../../targets/types.js";
import type { ServerConfig } from "../config/index.js";
import { librariesFor, requireVersion } from "./libraries.js";

/** The two limiters of a server: one with the limits, one with 0 points. */
export type RateLimiters = LimiterPair;

/**
 * Creates the target's limiters and loads their scripts into the store. Undefined for a target without a limiter.
 * @throws environmentError when the store refuses the scripts
 */
export async function createRateLimiters(
  config: ServerConfig,
  client: OpenClient,
): Promise<RateLimiters | undefined> {
  const { target, limits } = config;
  const limiter = findLimiter(target.limiter);
  const reason = unsupportedReason(limiter, limits);
  if (reason) throw usageError(reason);
  const requested = { package: limiter.package, version: target.limiter_version };
  const libraries = librariesFor(requested, config.versionsFolder);
  try {
    const pair = await limiter.create(client, describeClient(target), limits, config.keyPrefix, libraries);
    requireVersion(requested, pair?.version);
    return pair;
  } catch (error) {
    const name = partText(target.limiter, target.limiter_version);
    throw environmentError(`${name} cannot use the ${target.store}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
