import type { Limits } from "../../contract/configuration.js";
import type { Algorithm } from "../../contract/target.js";
import { findKnown } from "../did-you-mean.js";
import { LibraryLimiter, noBlock, preload, unsupported, withLimiter } from "../limiters/library.js";
import { ALLOWED, limited } from "../request-limiter.js";
import type { ClientDescription, LimiterDescription, ModuleDescription } from "../target-types.js";

/** The decision in the reply of a module's command. */
interface ModuleAnswer {
  isAllowed: boolean;
  /** Points that are left. */
  remaining: number;
  msBeforeNext: number;
}

interface ModuleLimiter {
  summary: string;
  algorithm: Algorithm;
  /** The parameters of the command after the key. */
  parameters(limits: Limits, cost: number): readonly (string | number)[];
  read(reply: unknown, limits: Limits, cost: number): ModuleAnswer;
}

/** A module, and how its command decides. */
interface Module extends ModuleLimiter {
  module: ModuleDescription;
}

/** The stores of a client, of which its default comes first. */
function storesOf(
  client: ClientDescription,
  stores: ModuleDescription["stores"],
): ClientDescription["stores"] {
  const [first] = client.stores;
  return stores.includes(first) ? [first, ...stores.filter((id) => id !== first)] : stores;
}

/**
 * The limiter of a module. One command decides, on any client that can route a command to
 * the node of its key.
 */
function moduleLimiter(module: ModuleDescription, rules: ModuleLimiter): LimiterDescription {
  const { id, command: name } = module;
  return {
    id,
    summary: rules.summary,
    algorithm: rules.algorithm,
    atomic: true,
    decisionCommands: [name],
    takesCost: true,
    applyTo(client) {
      const isServed = client.stores.some((store) => module.stores.includes(store));
      if (client.control || client.service || !isServed)
        return unsupported(client, id, "its store does not load modules of Redis and Valkey");

      // There is no script, and the store loads the module again when it starts.
      const stores = storesOf(client, module.stores);
      const varied = { ...withLimiter(client, id), stores, module: id };
      if (client.handleApi !== "ioredis") return varied;

      // These libraries look for keys in their own list of commands before they collect commands.
      const reason = `${name} is not in the library's list of commands that it can collect`;
      return { ...varied, autoPipelining: () => reason };
    },
    unsupportedReason: ({ block_s }) => noBlock(id, block_s),
    async create({ command, shardKeys }, { id: client }, limits, prefix) {
      if (!command) throw new Error(`${client} cannot send ${name}`);
      // A count of 0 would crash the store.
      if (limits.points < 1) throw new Error(`${id} needs at least 1 point, not ${limits.points}`);

      const keyPrefix = `${prefix}:`;
      const send = (key: string, cost: number) => {
        const prefixed = keyPrefix + key;
        return command(prefixed, name, prefixed, ...rules.parameters(limits, cost));
      };
      const limiting = (
        ask: (key: string, cost: number) => Promise<unknown>,
        read: (reply: unknown, cost: number) => ModuleAnswer,
      ) =>
        new LibraryLimiter(ask, (reply, cost) => {
          const { isAllowed, remaining, msBeforeNext } = read(reply, cost);
          return isAllowed ? ALLOWED : limited(limits.points, remaining, msBeforeNext);
        });

      const standard = limiting(send, (reply, cost) => rules.read(reply, limits, cost));
      // More than the whole quota at once: denied whatever the key has left, and like any denial
      // nothing is written.
      const aboveQuota = limits.points + 1;
      const exhausted = limiting(
        (key) => send(key, aboveQuota),
        // The module would say that the quota is whole, and that waiting does not help.
        (reply) => ({
          ...rules.read(reply, limits, aboveQuota),
          remaining: 0,
          msBeforeNext: 1_000 * limits.window_s,
        }),
      );

      await preload([standard, exhausted], await shardKeys(), (key) =>
        command(keyPrefix + key, "DEL", keyPrefix + key),
      );
      return { standard, exhausted };
    },
  };
}

/**
 * `[limited, limit, remaining, retry_after, reset]`: times in seconds, `retry_after` is -1 where
 * waiting does not help.
 */
type Reply = [limited: number, limit: number, remaining: number, retryAfter: number, reset: number];

/**
 * N points per W seconds are a burst of N - 1 beyond the first, refilled with N points each W
 * seconds.
 */
const redisCell: Module = {
  module: {
    id: "redis-cell",
    variable: "REDIS_CELL_MODULE",
    name: "redis-cell",
    command: "cl.throttle",
    stores: ["redis", "valkey"],
    remedy:
      "give --program redis-cell=/path/to/libredis_cell.so or set REDIS_CELL_MODULE; docs/clients.md says how to get the file",
  },
  summary: "the limiter is the module redis-cell in the store",
  algorithm: "GCRA",
  parameters: ({ points, window_s }, cost) => [points - 1, points, window_s, cost],
  read(reply, { points }) {
    if (!Array.isArray(reply) || reply.length !== 5)
      throw new Error(`not a reply of cl.throttle: ${reply}`);
    const [limited, , remaining, retryAfter, reset] = reply as Reply;
    return {
      isAllowed: limited === 0,
      // Beyond a million points a second the module does not know what is left.
      remaining: Math.min(remaining, points),
      msBeforeNext: 1_000 * (retryAfter >= 0 ? retryAfter : reset),
    };
  },
};

/**
 * redis-shield keeps a bucket of N whole tokens that W seconds refill. Its reply is the number of
 * tokens that are left, or -1 for a denial.
 */
const redisShield: Module = {
  module: {
    id: "redis-shield",
    variable: "REDIS_SHIELD_MODULE",
    name: "SHIELD",
    command: "SHIELD.absorb",
    stores: ["redis", "valkey"],
    remedy:
      "give --program redis-shield=/path/to/libredis_shield.so or set REDIS_SHIELD_MODULE; docs/clients.md says how to get the file",
  },
  summary: "the limiter is the module redis-shield in the store",
  algorithm: "token bucket",
  parameters: ({ points, window_s }, cost) => [points, window_s, cost],
  read(reply, { points, window_s }, cost) {
    if (typeof reply !== "number") throw new Error(`not a reply of SHIELD.absorb: ${reply}`);
    return {
      isAllowed: reply >= 0,
      // A denial tells neither what is left nor when to come again: this long the cost takes at
      // most.
      remaining: Math.max(0, reply),
      msBeforeNext: Math.ceil(1_000 * window_s * Math.min(1, cost / points)),
    };
  },
};

/** Modules that decide inside the store. */
const list = [redisCell, redisShield];
export const modules: readonly ModuleDescription[] = list.map(({ module }) => module);
export const moduleLimiters: readonly LimiterDescription[] = list.map(({ module, ...rules }) =>
  moduleLimiter(module, rules),
);
export const findModule = (id: string): ModuleDescription => findKnown("module", modules, id);
