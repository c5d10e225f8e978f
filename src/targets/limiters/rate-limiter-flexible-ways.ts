import type { ClientDescription, LimiterDescription, VariedClient } from "../types.js";
import { noBlock, unsupported } from "./library.js";
import {
  countKey,
  createFlexible,
  type LibraryClass,
  type LibraryExports,
  type LibraryLimiter,
  type LibraryOptions,
  PACKAGE,
  rateLimiterFlexible,
} from "./rate-limiter-flexible.js";

/** A client of Redis or Valkey with another way to use the library, or the reason why another client cannot have it. */
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

  constructor(LimiterClass: LibraryClass, options: LibraryOptions, { BurstyRateLimiter }: LibraryExports) {
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
  summary: "a second limiter admits bursts beyond the first, each with half of the quota (BurstyRateLimiter)",
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
      flexible: { className: "RateLimiterRedisNonAtomic", ...(options ? { options } : {}) },
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
