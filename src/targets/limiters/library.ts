import { createHash } from "node:crypto";
import { failed, noDecisions } from "../request-limiter.js";
import type { ClientDescription, Decision, Limiter, VariedClient } from "../target-types.js";

/**
 * Decides by the answers of a library or a module, and counts them. One that rejects is a failure,
 * never a denial.
 */
export class LibraryLimiter<Answer> implements Limiter {
  readonly decisions = noDecisions();
  readonly #ask: (key: string, cost: number) => Promise<Answer>;
  readonly #decide: (answer: Answer, cost: number) => Decision;
  /** Both are created once, so that a consume of one point creates no closure. */
  readonly #decidedOne = (answer: Answer) => this.#decided(answer, 1);
  readonly #failed = (error: unknown): Decision => {
    this.decisions.failed++;
    return failed(error);
  };

  /** @param decide on an answer; one that it refuses is a failure */
  constructor(
    ask: (key: string, cost: number) => Promise<Answer>,
    decide: (answer: Answer, cost: number) => Decision,
  ) {
    this.#ask = ask;
    this.#decide = decide;
  }

  consume(key: string, cost = 1): Promise<Decision> {
    const decided = cost === 1 ? this.#decidedOne : (answer: Answer) => this.#decided(answer, cost);
    return this.#ask(key, cost).then(decided, this.#failed);
  }

  #decided(answer: Answer, cost: number): Decision {
    let decision: Decision;
    try {
      decision = this.#decide(answer, cost);
    } catch (error) {
      return this.#failed(error);
    }
    this.decisions[decision.outcome]++;
    return decision;
  }
}

export const sha1Of = (text: string | Buffer): string =>
  createHash("sha1").update(text).digest("hex");

/**
 * Loads the scripts on each primary by consuming a temporary key with each limiter.
 * @throws the first error
 */
export async function preload(
  limiters: readonly Limiter[],
  keys: readonly string[],
  remove: (key: string) => Promise<unknown>,
): Promise<void> {
  for (const key of keys) {
    for (const limiter of limiters) {
      const decision = await limiter.consume(key);
      if (decision.outcome === "failed") throw decision.error;
    }
    await remove(key);
  }
}

export const unsupported = (
  { id: client }: Pick<ClientDescription, "id">,
  option: string,
  why: string,
): { skip: string } => ({ skip: `${client} does not support +${option}: ${why}` });

/**
 * A client of ioredis's kind with a limiter that calls its methods, or why another kind
 * cannot have it.
 */
export function onIoredis(client: ClientDescription, limiter: string): VariedClient {
  if (client.handleApi !== "ioredis")
    return unsupported(client, limiter, "it takes a client with the methods of ioredis");
  return onBothStores(withLimiter(client, limiter));
}

export const inMemory = ({ stores }: ClientDescription): boolean => stores.includes("memory");

/**
 * Adapts a client to a limiter that runs on both stores. The client's default store stays the
 * first.
 */
export const onBothStores = (client: ClientDescription): ClientDescription => ({
  ...client,
  stores: client.stores[0] === "redis" ? ["redis", "valkey"] : ["valkey", "redis"],
});

/**
 * A client without what belongs to its default limiter, and with one that loads its script
 * again where it is gone.
 */
export function withLimiter(client: ClientDescription, limiter: string): ClientDescription {
  const {
    flexible: _flexible,
    sameScript: _sameScript,
    unsupportedReason: _reason,
    ...rest
  } = client;
  return { ...rest, limiter, survivesStoreRestart: true, survivesScriptFlush: true };
}

/** Why a library without a block duration of its own does not fit a block. */
export const noBlock = (library: string, block_s: number): string | undefined =>
  block_s > 0
    ? `${library} does not support a block duration of its own (${block_s} s was requested)`
    : undefined;

/** The method by which a library gives its script to a connection. */
interface ScriptRecorder {
  defineCommand(name: string, definition: { numberOfKeys: number; lua: string | Buffer }): void;
}

/**
 * The sha1 of a script that a library does not export. A stub records the script.
 * @param name if it has several
 */
export async function scriptSha1(
  library: string,
  use: (recorder: ScriptRecorder) => unknown,
  name?: string,
): Promise<string> {
  let text: string | Buffer | undefined;
  await use({
    defineCommand(defined, { lua }) {
      if (name === undefined || defined === name) text = lua;
    },
  });
  if (text === undefined) throw new Error(`${library} defines no script ${name ?? ""}`.trim());
  return sha1Of(text);
}
