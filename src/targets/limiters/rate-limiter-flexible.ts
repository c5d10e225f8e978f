import { createHash } from "node:crypto";
import type { Limits } from "../../contract/configuration.js";
import type { LimiterScript } from "../../contract/server-api.js";
import { DEFAULT_KEY_PREFIX } from "../../contract/server-env.js";
import { ownLibraries } from "../libraries.js";
import type { Decision, FlexibleUse, Limiter, LimiterDescription } from "../types.js";

const PACKAGE = "rate-limiter-flexible";

/** The members of the library's answer that we use. */
interface Answer {
  msBeforeNext: number;
  remainingPoints: number;
}

/** The methods of all its classes. `consume` rejects with an `Answer` when it denies, with an Error when it fails. */
interface LibraryLimiter {
  consume(key: string): Promise<Answer>;
  delete(key: string): Promise<boolean>;
  /** Text of the script, in classes that send one. */
  _incrTtlLuaScript?: string;
}

interface LibraryOptions {
  storeClient?: unknown;
  keyPrefix: string;
  points: number;
  duration: number;
  blockDuration: number;
}

type LibraryClass = new (options: LibraryOptions) => LibraryLimiter;

const ALLOWED: Decision = Object.freeze({ outcome: "allowed" });
const allowed = () => ALLOWED;

class FlexibleLimiter implements Limiter {
  readonly #library: LibraryLimiter;
  /** Created once, so that a consume creates no closure. */
  readonly #refused: (refusal: unknown) => Decision;

  /** @param limit the quota reported to a denied caller */
  constructor(library: LibraryLimiter, limit: number) {
    this.#library = library;
    this.#refused = (refusal) => {
      if (refusal instanceof Error) return { outcome: "failed", error: refusal };
      if (!isAnswer(refusal))
        return { outcome: "failed", error: new Error(`not an answer: ${String(refusal)}`) };
      return {
        outcome: "limited",
        limit,
        remaining: refusal.remainingPoints,
        msBeforeNext: refusal.msBeforeNext,
      };
    };
  }

  consume(key: string): Promise<Decision> {
    return this.#library.consume(key).then(allowed, this.#refused);
  }
}

function isAnswer(refusal: unknown): refusal is Answer {
  return typeof (refusal as Answer | null)?.msBeforeNext === "number";
}

/**
 * Loads the limiter's scripts on each primary by consuming one temporary key there, one consume after the other, and
 * deletes the key. Then the measured load runs:
 * - on ioredis and iovalkey, EVALSHA. They send the whole script on the first call of each connection, and a cluster's
 *   connections open with the first command to their node (commands fail while the connection opens).
 * - on valkey-glide, FCALL. Its class loads two function libraries at the first call without a lock, so that a cold
 *   start with 2000 requests would load 4000 times.
 * @throws the first Error of a consume
 */
async function preload(libraries: readonly LibraryLimiter[], keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    for (const library of libraries) {
      try {
        await library.consume(key);
      } catch (refusal) {
        if (!isAnswer(refusal)) throw refusal;
      }
    }
    // On both: in memory each has its own counters.
    for (const library of libraries) await library.delete(key);
  }
}

/** The name of the script in the store: the sha1 of the text that this limiter sends, or the name of the function. */
function scriptOf(library: LibraryLimiter, { className, script }: FlexibleUse): LimiterScript | undefined {
  if (!script) return undefined;
  if (script.kind === "fcall") return { kind: script.kind, name_or_sha1: script.function };
  const text = library._incrTtlLuaScript;
  if (!text) throw new Error(`the ${className} of this version names no script`);
  return { kind: script.kind, name_or_sha1: createHash("sha1").update(text).digest("hex") };
}

export const rateLimiterFlexible: LimiterDescription = {
  id: "rate-limiter-flexible",
  package: PACKAGE,
  async create(
    client,
    { id, flexible },
    limits: Limits,
    keyPrefix = DEFAULT_KEY_PREFIX,
    libraries = ownLibraries,
  ) {
    if (!flexible) throw new Error(`${id} names no class of ${PACKAGE}`);
    const library = (await libraries.load(
      PACKAGE,
      () => import("rate-limiter-flexible"),
    )) as unknown as Partial<Record<string, LibraryClass>>;
    const version = libraries.version(PACKAGE);
    const LibraryLimiterClass = library[flexible.className];
    if (!LibraryLimiterClass) throw new Error(`${PACKAGE} ${version} has no class ${flexible.className}`);
    const shared = {
      ...flexible.options,
      storeClient: client.handle,
      // The same prefix for both limiters, so that a key has the same length and shard in both.
      keyPrefix,
      duration: limits.window_s,
    };
    const standard = new LibraryLimiterClass({
      ...shared,
      points: limits.points,
      blockDuration: limits.block_s,
    });
    // 0 points: denied from the first consume, at the same store cost. No block: it would add a command.
    const exhausted = new LibraryLimiterClass({ ...shared, points: 0, blockDuration: 0 });
    await preload([standard, exhausted], await client.shardKeys());
    const script = scriptOf(standard, flexible);
    return {
      version,
      ...(script ? { script } : {}),
      standard: new FlexibleLimiter(standard, limits.points),
      exhausted: new FlexibleLimiter(exhausted, limits.points),
    };
  },
};
