import type { LimiterScript } from "../../contract/server-api.js";
import { definedOnly } from "../../kit/defined-only.js";
import { bounded } from "../clients/client-settings.js";
import { ALLOWED, failed, limited, noDecisions } from "../request-limiter.js";
import type {
  ClientDescription,
  Decision,
  FlexibleUse,
  Limiter,
  LimiterDescription,
  VariedClient,
} from "../target-types.js";
import { noBlock, preload, sha1Of, unsupported } from "./library.js";

export const PACKAGE = "rate-limiter-flexible";

/** The members of the library's answer that we use. */
type Answer = { msBeforeNext: number; remainingPoints: number };

/**
 * The methods of all classes of the library. `consume` rejects with an `Answer` when it denies, and
 * with an Error when it fails.
 */
export interface LibraryLimiter {
  consume(key: string, points?: number): Promise<Answer>;
  delete(key: string): Promise<boolean>;
  /** The text of the script. Only classes that send one have it. */
  _incrTtlLuaScript?: string | undefined;
  /** How many commands its consumes sent. A class without this member sends one for each. */
  readonly commands?: number;
  /**
   * How many of its consumes were decided without the store. A class without this member decides
   * none so.
   */
  readonly withoutStore?: number | undefined;
}

interface LibraryOptions {
  storeClient?: unknown;
  keyPrefix: string;
  points: number;
  duration: number;
  blockDuration: number;
  inMemoryBlockOnConsumed?: number;
  insuranceLimiter?: unknown;
}

type LibraryClass = new (options: LibraryOptions) => LibraryLimiter;

/** The library's exports that we use: classes of limiters, and one that combines two of them. */
interface LibraryExports {
  RateLimiterMemory: LibraryClass;
  BurstyRateLimiter: new (
    steady: LibraryLimiter,
    burst: LibraryLimiter,
  ) => Pick<LibraryLimiter, "consume">;
}

type Make = (
  LimiterClass: LibraryClass,
  options: LibraryOptions,
  library: LibraryExports,
) => LibraryLimiter;

class FlexibleLimiter implements Limiter {
  readonly decisions = noDecisions();
  readonly #library: LibraryLimiter;
  /** Both are created once, so that a consume creates no closure. */
  readonly #allowed = (): Decision => {
    this.decisions.allowed++;
    return ALLOWED;
  };
  readonly #refused: (refusal: unknown) => Decision;

  constructor(library: LibraryLimiter, limit: number) {
    this.#library = library;
    this.#refused = (refusal) => {
      if (isAnswer(refusal)) {
        this.decisions.limited++;
        return limited(limit, refusal.remainingPoints, refusal.msBeforeNext);
      }
      this.decisions.failed++;
      return failed(refusal instanceof Error ? refusal : `not an answer: ${String(refusal)}`);
    };
  }

  get commands(): number | undefined {
    return this.#library.commands;
  }

  get withoutStore(): number | undefined {
    return this.#library.withoutStore;
  }

  consume(key: string, cost?: number): Promise<Decision> {
    return this.#library.consume(key, cost).then(this.#allowed, this.#refused);
  }
}

/**
 * The library's limiter for a client that may never answer. A consume that takes longer
 * rejects.
 */
const boundedLimiter = (library: LibraryLimiter, timeoutMs: number): LibraryLimiter => ({
  get withoutStore() {
    return library.withoutStore;
  },
  delete: (key) => library.delete(key),
  consume: (key, points) => bounded(library.consume(key, points), timeoutMs),
});

const isAnswer = (refusal: unknown): refusal is Answer =>
  typeof (refusal as Answer | null)?.msBeforeNext === "number";

/**
 * The name of the script in the store, which is the sha1 of the text that this limiter
 * sends, or the name of the function.
 */
function scriptOf(
  library: LibraryLimiter,
  { className, script }: FlexibleUse,
): LimiterScript | undefined {
  if (!script) return undefined;
  if (script.kind === "fcall") return { kind: script.kind, name_or_sha1: script.function };
  const text = library._incrTtlLuaScript;
  if (!text) throw new Error(`the ${className} of this version names no script`);
  return { kind: script.kind, name_or_sha1: sha1Of(text) };
}

const createFlexible =
  (make: Make): LimiterDescription["create"] =>
  async (client, { id, flexible }, limits, keyPrefix, libraries) => {
    if (!flexible) throw new Error(`${id} names no class of ${PACKAGE}`);
    const library = (await libraries.load(
      PACKAGE,
      () => import("rate-limiter-flexible"),
    )) as unknown as Partial<Record<string, LibraryClass>>;
    const version = libraries.version(PACKAGE);
    const LibraryLimiterClass = library[flexible.className];
    if (!LibraryLimiterClass)
      throw new Error(`${PACKAGE} ${version} has no class ${flexible.className}`);
    const shared = {
      ...flexible.options,
      storeClient: client.handle,
      // The same prefix for both limiters, so that a key has the same length and shard in both.
      keyPrefix,
      duration: limits.window_s,
    };
    const exports = library as unknown as LibraryExports;
    const { points, block_s: blockDuration } = limits;
    const standard = make(LibraryLimiterClass, { ...shared, points, blockDuration }, exports);
    // With 0 points a key is denied from the first consume, at the same cost for the store. There
    // is no block, because it would add a command.
    const exhausted = make(
      LibraryLimiterClass,
      { ...shared, points: 0, blockDuration: 0 },
      exports,
    );
    const script = scriptOf(standard, flexible);
    const { timeoutMs } = flexible;
    const limiterOn = (limiter: LibraryLimiter): Limiter =>
      new FlexibleLimiter(
        timeoutMs === undefined ? limiter : boundedLimiter(limiter, timeoutMs),
        limits.points,
      );
    const pair = { standard: limiterOn(standard), exhausted: limiterOn(exhausted) };
    // The measured load then finds its scripts in the store. ioredis and iovalkey send EVALSHA.
    // They send the whole script on the first call of each connection, and a cluster's connections
    // open with the first command to their node, so that commands fail while the connection opens.
    // valkey-glide sends FCALL. Its class loads two function libraries at the first call without a
    // lock, so that a cold start with 2000 requests would load 4000 times.
    await preload(Object.values(pair), await client.shardKeys(), async (key) => {
      // In memory each of the two has its own counters, so the key is deleted on both.
      for (const library of [standard, exhausted]) await library.delete(key);
    });
    return { ...definedOnly({ version, script }), ...pair };
  };

export const countKey = (key: string, keyPrefix: string): string => `${keyPrefix}:${key}`;

export const rateLimiterFlexible: LimiterDescription = {
  id: PACKAGE,
  package: PACKAGE,
  summary: "the limiter is rate-limiter-flexible, by the class that it has for the client",
  algorithm: "fixed window",
  atomic: true,
  takesCost: true,
  countKey,
  create: createFlexible((LimiterClass, options) => new LimiterClass(options)),
};

/**
 * A client of Redis or Valkey with another way to use the library, or the reason why
 * another client cannot have it.
 */
function onFlexible(
  client: ClientDescription,
  limiter: string,
  changes: Partial<ClientDescription> = {},
): VariedClient {
  if (client.limiter === rateLimiterFlexible.id && client.flexible?.script)
    return { ...client, limiter, ...changes };
  return unsupported(client, limiter, `it runs no script of ${PACKAGE}`);
}

const shared = {
  package: PACKAGE,
  algorithm: "fixed window",
  atomic: true,
  takesCost: true,
  unsupportedReason: ({ block_s }) => noBlock("this way to use rate-limiter-flexible", block_s),
} as const satisfies Partial<LimiterDescription>;

const inMemoryBlock: LimiterDescription = {
  ...shared,
  id: "in-memory-block",
  summary:
    "the server remembers which keys have used up their quota, and denies them itself (inMemoryBlockOnConsumed)",
  applyTo: (client) => onFlexible(client, "in-memory-block", { decidesLocally: true }),
  create: createFlexible(
    (LimiterClass, options) =>
      // 0 would switch it off.
      new LimiterClass({ ...options, inMemoryBlockOnConsumed: Math.max(1, options.points) }),
  ),
};

const insuranceLimiter: LimiterDescription = {
  ...shared,
  id: "insurance-limiter",
  summary: "a limiter in the server's memory decides while the store fails (insuranceLimiter)",
  applyTo: (client) => onFlexible(client, "insurance-limiter"),
  create: createFlexible((LimiterClass, options, { RateLimiterMemory }) => {
    const { storeClient: _client, ...quota } = options;
    const insurance = new RateLimiterMemory(quota);
    const consume = insurance.consume.bind(insurance);
    let withoutStore = 0;
    // The library tells nobody when the insurance decides.
    insurance.consume = (key, points) => {
      withoutStore++;
      return consume(key, points);
    };
    const insured = new LimiterClass({ ...options, insuranceLimiter: insurance });
    return Object.defineProperty(insured, "withoutStore", { get: () => withoutStore });
  }),
};

/** What the first limiter denies, the second may admit, each with half of the quota. */
class BurstyLimiter implements LibraryLimiter {
  readonly _incrTtlLuaScript: string | undefined;
  readonly #steady: LibraryLimiter;
  readonly #burst: LibraryLimiter;
  readonly #both: Pick<LibraryLimiter, "consume">;
  #commands = 0;

  constructor(
    LimiterClass: LibraryClass,
    options: LibraryOptions,
    { BurstyRateLimiter }: LibraryExports,
  ) {
    const { points, keyPrefix } = options;
    this.#steady = new LimiterClass({ ...options, points: Math.ceil(points / 2) });
    this.#burst = new LimiterClass({
      ...options,
      points: Math.floor(points / 2),
      keyPrefix: `${keyPrefix}-burst`,
    });
    this._incrTtlLuaScript = this.#steady._incrTtlLuaScript;
    this.#both = new BurstyRateLimiter(this.#counted(this.#steady), this.#counted(this.#burst));
  }

  get commands(): number {
    return this.#commands;
  }

  consume(key: string, points?: number) {
    return this.#both.consume(key, points);
  }

  async delete(key: string): Promise<boolean> {
    const deleted = [await this.#steady.delete(key), await this.#burst.delete(key)];
    return deleted.includes(true);
  }

  #counted(limiter: LibraryLimiter): LibraryLimiter {
    return {
      consume: (key, points) => {
        this.#commands++;
        return limiter.consume(key, points);
      },
      delete: (key) => limiter.delete(key),
    };
  }
}

const bursty: LimiterDescription = {
  ...shared,
  id: "bursty",
  summary:
    "a second limiter admits bursts beyond the first, each with half of the quota (BurstyRateLimiter)",
  // What both have left together is not one number that a cost could be compared with.
  takesCost: false,
  applyTo: (client) => onFlexible(client, "bursty"),
  create: createFlexible(
    (LimiterClass, options, library) => new BurstyLimiter(LimiterClass, options, library),
  ),
};

const nonAtomic: LimiterDescription = {
  ...shared,
  id: "non-atomic",
  summary:
    "a warning: without a script, so that concurrent requests are admitted beyond the quota (RateLimiterRedisNonAtomic)",
  atomic: false,
  countKey,
  // A decision reads the counter once, and then writes it.
  decisionCommands: ["get"],
  applyTo(client) {
    const { flexible } = client;
    if (client.handleApi !== "ioredis" && !flexible?.options?.useRedisPackage)
      return unsupported(client, "non-atomic", "its class takes ioredis or node-redis");
    const { sameScript: _sameScript, ...rest } = client;
    const options = flexible?.options;
    return onFlexible(rest, "non-atomic", {
      stores: client.stores[0] === "valkey" ? ["valkey", "redis"] : ["redis", "valkey"],
      flexible: definedOnly({ className: "RateLimiterRedisNonAtomic", options }),
    });
  },
  create: createFlexible((LimiterClass, options) => new LimiterClass(options)),
};

/** Other ways to use rate-limiter-flexible, each an option of a target. */
export const flexibleWays: readonly LimiterDescription[] = [
  inMemoryBlock,
  insuranceLimiter,
  bursty,
  nonAtomic,
];
