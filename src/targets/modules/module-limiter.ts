import type { Limits } from "../../contract/configuration.js";
import { DEFAULT_KEY_PREFIX } from "../../contract/server-env.js";
import type { Algorithm } from "../../contract/target.js";
import { noDecisions } from "../request-limiter.js";
import type {
  ClientDescription,
  Decision,
  Limiter,
  LimiterDescription,
  ModuleDescription,
  OpenClient,
} from "../types.js";

/** A reply of a module's command, read. */
export interface ModuleAnswer {
  isAllowed: boolean;
  /** Points that are left. */
  remaining: number;
  msBeforeNext: number;
}

/** What is special about a module's limiter. */
export interface ModuleLimiter {
  /** One line for help texts. */
  summary: string;
  algorithm: Algorithm;
  /** Parameters of the command after the key. */
  parameters(limits: Limits, cost: number): readonly (string | number)[];
  /** @throws Error for a reply of another form */
  read(reply: unknown, limits: Limits, cost: number): ModuleAnswer;
}

/** A module, and the limiter that decides with it. */
export interface Module {
  module: ModuleDescription;
  limiter: LimiterDescription;
}

const ALLOWED: Decision = Object.freeze({ outcome: "allowed" });

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** Decides on a key with one command, which `decide` sends. */
class CommandLimiter implements Limiter {
  readonly decisions = noDecisions();
  readonly #decide: (key: string, cost: number) => Promise<unknown>;
  readonly #read: (reply: unknown, cost: number) => ModuleAnswer;
  readonly #limit: number;
  readonly #failed = (error: unknown): Decision => {
    this.decisions.failed++;
    return { outcome: "failed", error: asError(error) };
  };
  /** Created once, so that a consume of one point creates no closure. */
  readonly #decidedOne: (reply: unknown) => Decision;

  /** @param limit the quota reported to a denied caller */
  constructor(
    decide: (key: string, cost: number) => Promise<unknown>,
    read: (reply: unknown, cost: number) => ModuleAnswer,
    limit: number,
  ) {
    this.#decide = decide;
    this.#read = read;
    this.#limit = limit;
    this.#decidedOne = (reply) => this.#decided(reply, 1);
  }

  consume(key: string, cost = 1): Promise<Decision> {
    const decided = cost === 1 ? this.#decidedOne : (reply: unknown) => this.#decided(reply, cost);
    return this.#decide(key, cost).then(decided, this.#failed);
  }

  #decided(reply: unknown, cost: number): Decision {
    let answer: ModuleAnswer;
    try {
      answer = this.#read(reply, cost);
    } catch (error) {
      return this.#failed(error);
    }
    const { isAllowed, remaining, msBeforeNext } = answer;
    if (isAllowed) {
      this.decisions.allowed++;
      return ALLOWED;
    }
    this.decisions.limited++;
    return { outcome: "limited", limit: this.#limit, remaining, msBeforeNext };
  }
}

/**
 * Opens the connections to each primary by deciding on one temporary key there, and deletes the key.
 * @throws the first Error of a consume
 */
async function preload(
  limiters: readonly Limiter[],
  command: NonNullable<OpenClient["command"]>,
  keyPrefix: string,
  keys: readonly string[],
): Promise<void> {
  for (const key of keys) {
    for (const limiter of limiters) {
      const decision = await limiter.consume(key);
      if (decision.outcome === "failed") throw decision.error;
    }
    await command(keyPrefix + key, "DEL", keyPrefix + key);
  }
}

/** Its stores, the client's own default first. */
function storesOf(
  client: ClientDescription,
  stores: ModuleDescription["stores"],
): ClientDescription["stores"] {
  const [first] = client.stores;
  return stores.includes(first) ? [first, ...stores.filter((id) => id !== first)] : stores;
}

/** The limiter of a module: one command decides, on any client that can route a command to the node of its key. */
export function moduleLimiter(module: ModuleDescription, own: ModuleLimiter): LimiterDescription {
  const { id, command: name } = module;
  return {
    id,
    summary: own.summary,
    algorithm: own.algorithm,
    atomic: true,
    decisionCommands: [name],
    takesCost: true,
    applyTo(client) {
      const isServed = client.stores.some((store) => module.stores.includes(store));
      if (client.control || client.service || !isServed) {
        return {
          skip: `${client.id} does not support +${id}: its store does not load modules of Redis and Valkey`,
        };
      }
      const { flexible: _flexible, sameScript: _sameScript, unsupportedReason: _reason, ...rest } = client;
      // These libraries look for keys in their own list of commands before they collect commands.
      const collects = client.handleApi === "ioredis";
      return {
        ...rest,
        stores: storesOf(client, module.stores),
        limiter: id,
        module: id,
        // There is no script, and the store loads the module again when it starts.
        survivesStoreRestart: true,
        survivesScriptFlush: true,
        ...(collects
          ? { autoPipelining: () => `${name} is not in the library's list of commands that it can collect` }
          : {}),
      };
    },
    unsupportedReason: ({ block_s }) =>
      block_s > 0 ? `${id} has no block duration (${block_s} s was requested)` : undefined,
    async create({ command, shardKeys }, { id: client }, limits, prefix = DEFAULT_KEY_PREFIX) {
      if (!command) throw new Error(`${client} cannot send ${name}`);
      // A count of 0 would crash the store.
      if (limits.points < 1) throw new Error(`${id} needs at least 1 point, not ${limits.points}`);
      const keyPrefix = `${prefix}:`;
      const send = (key: string, cost: number) => {
        const prefixed = keyPrefix + key;
        return command(prefixed, name, prefixed, ...own.parameters(limits, cost));
      };
      const standard = new CommandLimiter(
        send,
        (reply, cost) => own.read(reply, limits, cost),
        limits.points,
      );
      // More than the whole quota at once: denied whatever the key has left, and like any denial nothing is written.
      const most = limits.points + 1;
      const exhausted = new CommandLimiter(
        (key) => send(key, most),
        // The module would say that the quota is whole, and that waiting does not help.
        (reply) => ({
          ...own.read(reply, limits, most),
          remaining: 0,
          msBeforeNext: 1_000 * limits.window_s,
        }),
        limits.points,
      );
      await preload([standard, exhausted], command, keyPrefix, await shardKeys());
      return { standard, exhausted };
    },
  };
}
