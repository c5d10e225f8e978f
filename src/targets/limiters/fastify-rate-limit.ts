import { createHash } from "node:crypto";
import type { Limits } from "../../contract/configuration.js";
import { DEFAULT_KEY_PREFIX } from "../../contract/server-env.js";
import { type Libraries, ownLibraries } from "../libraries.js";
import type { ClientDescription, Decision, Limiter, LimiterDescription } from "../types.js";

const PACKAGE = "@fastify/rate-limit";

/** Keys that its store in memory keeps; beyond that it forgets the one that was asked least recently. */
const LOCAL_KEYS = 1_000_000;

/** What the library reads of a request. */
interface Asking {
  key: string;
  routeOptions: { config?: undefined };
}

/** What it decided; `isAllowed` only says that the key is on a list of exceptions. */
interface Answer {
  isExceeded: boolean;
  remaining: number;
  /** Milliseconds until the window ends. */
  ttl: number;
}

/** What it asks of the connection, and we to clear up. */
interface Handle {
  defineCommand(name: string, definition: { numberOfKeys: number; lua: string }): void;
  del(key: string): Promise<number>;
}

type Decide = (request: Asking) => Promise<Answer>;
type Settings = Readonly<Record<string, unknown>>;

const ALLOWED: Decision = Object.freeze({ outcome: "allowed" });
const ROUTE: Asking["routeOptions"] = Object.freeze({});

class FastifyLimiter implements Limiter {
  readonly #decide: Decide;
  /** Made once: a consume makes no closure of its own. */
  readonly #decided: (answer: Answer) => Decision;

  /** @param limit the quota that a denied caller is told */
  constructor(decide: Decide, limit: number) {
    this.#decide = decide;
    this.#decided = ({ isExceeded, remaining, ttl }) =>
      isExceeded ? { outcome: "limited", limit, remaining, msBeforeNext: ttl } : ALLOWED;
  }

  consume(key: string): Promise<Decision> {
    return this.#decide({ key, routeOptions: ROUTE }).then(this.#decided, failed);
  }
}

const failed = (error: unknown): Decision => ({
  outcome: "failed",
  error: error instanceof Error ? error : new Error(String(error)),
});

/**
 * Registers the plugin on a Fastify of its own that never listens, and takes its `createRateLimit()`: what decides for
 * a request on every way to use the library. Without options, because those move all keys to another prefix.
 */
async function decider(libraries: Libraries, settings: Settings): Promise<Decide> {
  const [{ default: Fastify }, { default: plugin }] = await Promise.all([
    import("fastify"),
    libraries.load(PACKAGE, () => import("@fastify/rate-limit")),
  ]);
  const app = Fastify();
  await app.register(plugin, settings);
  return app.createRateLimit() as unknown as Decide;
}

const limiting = (max: number, { window_s }: Limits): Settings => ({
  global: false,
  max,
  timeWindow: window_s * 1_000,
  keyGenerator: (request: Asking) => request.key,
  // Its own default: a store that fails is an error, not a request that passes.
  skipOnError: false,
});

/** What the store calls the script that `incr` runs. Its text is nowhere exported, so it is taken where it is defined. */
async function scriptSha1(libraries: Libraries): Promise<string> {
  const texts = new Map<string, string>();
  const recorder: Pick<Handle, "defineCommand"> = {
    defineCommand: (name, { lua }) => void texts.set(name, lua),
  };
  await decider(libraries, { redis: recorder });
  const text = texts.get("rateLimit");
  if (text === undefined) throw new Error(`${PACKAGE} defines no script rateLimit`);
  return createHash("sha1").update(text).digest("hex");
}

/** Makes each primary know the script, by one temporary key there, and removes the key again. */
async function preload(
  limiters: readonly Limiter[],
  handle: Handle,
  keyPrefix: string,
  keys: readonly string[],
): Promise<void> {
  for (const key of keys) {
    for (const limiter of limiters) {
      const decision = await limiter.consume(key);
      if (decision.outcome === "failed") throw decision.error;
    }
    await handle.del(keyPrefix + key);
  }
}

const inMemory = ({ stores }: ClientDescription): boolean => stores.includes("memory");

/** Whether the library has a store for what this client opens. */
export const servesFastifyRateLimit = (client: ClientDescription): boolean =>
  client.handleApi === "ioredis" || inMemory(client);

export const fastifyRateLimit: LimiterDescription = {
  id: "fastify-rate-limit",
  package: PACKAGE,
  lacks: ({ block_s }) =>
    block_s > 0
      ? `${PACKAGE} cannot block a key for a time of its own (it was asked to, for ${block_s} s)`
      : undefined,
  async create(client, description, limits, prefix = DEFAULT_KEY_PREFIX, libraries = ownLibraries) {
    if (!servesFastifyRateLimit(description))
      throw new Error(`${PACKAGE} has no store for ${description.id}`);
    const keyPrefix = `${prefix}:`;
    const store: Settings = inMemory(description)
      ? { cache: LOCAL_KEYS }
      : { redis: client.handle, nameSpace: keyPrefix };
    const make = async (max: number): Promise<Limiter> =>
      new FastifyLimiter(await decider(libraries, { ...store, ...limiting(max, limits) }), limits.points);
    // 0 at most: exceeded by the first consume, which runs the same script with the same commands as any other.
    const pair = { standard: await make(limits.points), exhausted: await make(0) };
    const version = libraries.version(PACKAGE);
    if (inMemory(description)) return { version, ...pair };
    await preload(
      [pair.standard, pair.exhausted],
      client.handle as Handle,
      keyPrefix,
      await client.shardKeys(),
    );
    return { version, script: { kind: "evalsha", name_or_sha1: await scriptSha1(libraries) }, ...pair };
  },
};
