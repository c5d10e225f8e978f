import type { Duration } from "@upstash/ratelimit";
import type { Limits } from "../../contract/configuration.js";
import { DEFAULT_KEY_PREFIX } from "../../contract/server-env.js";
import { type Libraries, ownLibraries } from "../libraries.js";
import type { LimiterDescription, LimiterPair, OpenClient } from "../types.js";
import { ALLOWED, LibraryLimiter, noBlock, onIoredis, preload } from "./library.js";

const PACKAGE = "@upstash/ratelimit";

type Library = typeof import("@upstash/ratelimit");

/** The methods of ioredis and iovalkey that the adapter calls. */
interface Handle {
  evalsha(sha1: string, count: number, ...words: unknown[]): Promise<unknown>;
  eval(script: string, count: number, ...words: unknown[]): Promise<unknown>;
  del(...keys: string[]): Promise<number>;
}

/** The two methods of Upstash's own client that the library calls, on another client. Notes what it sends. */
class ScriptAdapter {
  /** Of the last script, and its keys. */
  sha1 = "";
  keys: readonly string[] = [];
  readonly #handle: Handle;

  constructor(handle: Handle) {
    this.#handle = handle;
  }

  evalsha(sha1: string, keys: string[], words: unknown[]): Promise<unknown> {
    this.sha1 = sha1;
    this.keys = keys;
    return this.#handle.evalsha(sha1, keys.length, ...keys, ...words);
  }

  /** Called when the store does not have the script. */
  eval(script: string, keys: string[], words: unknown[]): Promise<unknown> {
    return this.#handle.eval(script, keys.length, ...keys, ...words);
  }
}

/** One of the library's algorithms with a quota of `points` in a window. */
type Algorithm = (
  Ratelimit: Library["Ratelimit"],
  points: number,
  window: Duration,
) => ReturnType<Library["Ratelimit"]["fixedWindow" | "slidingWindow" | "tokenBucket"]>;

async function create(
  algorithm: Algorithm,
  client: OpenClient,
  { points, window_s }: Limits,
  prefix = DEFAULT_KEY_PREFIX,
  libraries: Libraries = ownLibraries,
): Promise<LimiterPair> {
  const { Ratelimit } = await libraries.load(PACKAGE, () => import("@upstash/ratelimit"));
  const handle = client.handle as Handle;
  const adapter = new ScriptAdapter(handle);
  const limiting = (quota: number) => {
    const library = new Ratelimit({
      redis: adapter as unknown as ConstructorParameters<Library["Ratelimit"]>[0]["redis"],
      limiter: algorithm(Ratelimit, quota, `${window_s} s`),
      prefix,
      // Otherwise denials do not reach the store.
      ephemeralCache: false,
      // Otherwise a request that gets no answer is admitted after 5 s. The client bounds its replies.
      timeout: 0,
    });
    return new LibraryLimiter(
      (key, cost) => library.limit(key, { rate: cost }),
      ({ success, remaining, reset }) =>
        success
          ? ALLOWED
          : { outcome: "limited", limit: points, remaining, msBeforeNext: Math.max(0, reset - Date.now()) },
    );
  };
  // A quota of 0 is denied from the first request, by the same script.
  const pair = { standard: limiting(points), exhausted: limiting(0) };
  for (const limiter of Object.values(pair))
    await preload([limiter], await client.shardKeys(), () => handle.del(...adapter.keys));
  return { version: libraries.version(PACKAGE), script: { kind: "evalsha", name_or_sha1: adapter.sha1 }, ...pair };
}

/** What the three have in common. Their scripts begin with a flag of Upstash's own, which Valkey refuses. */
function describe(
  id: string,
  facts: Pick<LimiterDescription, "algorithm" | "summary">,
  algorithm: Algorithm,
): LimiterDescription {
  return {
    id,
    package: PACKAGE,
    ...facts,
    atomic: true,
    applyTo: (client) => onIoredis(client, id, ["redis"]),
    takesCost: true,
    unsupportedReason: ({ block_s }) => noBlock(PACKAGE, block_s),
    create: (client, _description, limits, prefix, libraries) =>
      create(algorithm, client, limits, prefix, libraries),
  };
}

const fixed = describe(
  "upstash-fixed",
  { algorithm: "aligned window", summary: "the limiter is @upstash/ratelimit, its fixed windows" },
  (Ratelimit, points, window) => Ratelimit.fixedWindow(points, window),
);

const sliding: LimiterDescription = {
  ...describe(
    "upstash-sliding",
    { algorithm: "sliding window", summary: "the limiter is @upstash/ratelimit, its sliding window" },
    (Ratelimit, points, window) => Ratelimit.slidingWindow(points, window),
  ),
  applyTo(client, topology) {
    if (topology === "standalone") return onIoredis(client, "upstash-sliding", ["redis"]);
    return {
      skip: `${client.id} does not support +upstash-sliding in a ${topology}: its script uses two keys, which are on different nodes there`,
    };
  },
};

const tokenBucket = describe(
  "upstash-token-bucket",
  {
    algorithm: "token bucket",
    summary: "the limiter is @upstash/ratelimit, its token bucket, refilled once a window",
  },
  (Ratelimit, points, window) => Ratelimit.tokenBucket(points, window, points),
);

export const upstash: readonly LimiterDescription[] = [fixed, sliding, tokenBucket];
