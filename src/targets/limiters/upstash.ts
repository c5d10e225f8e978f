import { ALLOWED, limited } from "../request-limiter.js";
import type { LimiterDescription } from "../target-types.js";
import { LibraryLimiter, noBlock, onIoredis, preload, sha1Of, unsupported } from "./library.js";

const PACKAGE = "@upstash/ratelimit";

type Library = typeof import("@upstash/ratelimit");

/** The methods of ioredis and iovalkey that the adapter calls. */
interface Handle {
  evalsha(sha1: string, count: number, ...words: unknown[]): Promise<unknown>;
  eval(script: string, count: number, ...words: unknown[]): Promise<unknown>;
  del(...keys: string[]): Promise<number>;
}

/**
 * The first line of its scripts has a flag of Upstash's own server, which Redis and Valkey refuse.
 */
const FLAG_LINE = /^#!lua flags=allow-key-locking\n/;

/**
 * Two methods of Upstash's own client on another one; scripts lose their first line, so the sha1
 * differs.
 */
class ScriptAdapter {
  /** A hash of the script as it is sent. */
  sha1 = "";
  keys: readonly string[] = [];
  readonly #handle: Handle;
  /** The sha1 of each script as it is sent, by that of the library. */
  readonly #sent = new Map<string, string>();

  constructor(handle: Handle) {
    this.#handle = handle;
  }

  /** @throws Error that makes the library send the text, for a script that was never sent */
  async evalsha(sha1: string, keys: string[], words: unknown[]): Promise<unknown> {
    this.keys = keys;
    const sent = this.#sent.get(sha1);
    if (sent === undefined) throw new Error("NOSCRIPT it was not sent yet");
    return this.#handle.evalsha(sent, keys.length, ...keys, ...words);
  }

  /** Is called when the store does not have the script. */
  eval(script: string, keys: string[], words: unknown[]): Promise<unknown> {
    const text = script.replace(FLAG_LINE, "");
    this.sha1 = sha1Of(text);
    this.#sent.set(sha1Of(script), this.sha1);
    return this.#handle.eval(text, keys.length, ...keys, ...words);
  }
}

type Algorithm = (
  Ratelimit: Library["Ratelimit"],
  points: number,
  window_s: number,
) => ReturnType<Library["Ratelimit"]["fixedWindow" | "slidingWindow" | "tokenBucket"]>;

const commonDivisor = (one: number, other: number): number =>
  other === 0 ? one : commonDivisor(other, one % other);

function describe(
  id: string,
  members: Pick<LimiterDescription, "algorithm" | "summary">,
  algorithm: Algorithm,
): LimiterDescription {
  return {
    id,
    package: PACKAGE,
    ...members,
    atomic: true,
    applyTo: (client) => onIoredis(client, id),
    takesCost: true,
    unsupportedReason: ({ block_s }) => noBlock(PACKAGE, block_s),
    async create(client, _description, { points, window_s }, prefix, libraries) {
      const { Ratelimit } = await libraries.load(PACKAGE, () => import("@upstash/ratelimit"));
      const handle = client.handle as Handle;
      const adapter = new ScriptAdapter(handle);
      const limiting = (quota: number) => {
        const library = new Ratelimit({
          redis: adapter as unknown as ConstructorParameters<Library["Ratelimit"]>[0]["redis"],
          limiter: algorithm(Ratelimit, quota, window_s),
          prefix,
          // Otherwise denials do not reach the store.
          ephemeralCache: false,
          // Otherwise a request that gets no answer is admitted after 5 s. The client bounds its
          // replies.
          timeout: 0,
        });
        return new LibraryLimiter(
          (key, cost) => library.limit(key, { rate: cost }),
          ({ success, remaining, reset }) =>
            success ? ALLOWED : limited(points, remaining, Math.max(0, reset - Date.now())),
        );
      };
      // A quota of 0 is denied from the first request, by the same script.
      const pair = { standard: limiting(points), exhausted: limiting(0) };
      for (const limiter of Object.values(pair))
        await preload([limiter], await client.shardKeys(), () => handle.del(...adapter.keys));
      return {
        version: libraries.version(PACKAGE),
        script: { kind: "evalsha", name_or_sha1: adapter.sha1 },
        ...pair,
      };
    },
  };
}

const fixed = describe(
  "upstash-fixed",
  { algorithm: "aligned window", summary: "the limiter is @upstash/ratelimit, its fixed windows" },
  (Ratelimit, points, window_s) => Ratelimit.fixedWindow(points, `${window_s} s`),
);

const sliding: LimiterDescription = {
  ...describe(
    "upstash-sliding",
    {
      algorithm: "sliding window",
      summary: "the limiter is @upstash/ratelimit, its sliding window",
    },
    (Ratelimit, points, window_s) => Ratelimit.slidingWindow(points, `${window_s} s`),
  ),
  applyTo(client, topology) {
    if (topology === "standalone") return onIoredis(client, "upstash-sliding");
    return unsupported(
      client,
      `upstash-sliding in a ${topology}`,
      "its script uses two keys, which are on different nodes there",
    );
  },
};

const tokenBucket = describe(
  "upstash-token-bucket",
  {
    algorithm: "token bucket",
    summary: "the limiter is @upstash/ratelimit, its token bucket, refilled as evenly as it can be",
  },
  (Ratelimit, points, window_s) => {
    // The library refills whole tokens after whole milliseconds. If it refilled once a window, it
    // would be a fixed window.
    const steps = commonDivisor(points, 1_000 * window_s);
    return Ratelimit.tokenBucket(points / steps, `${(1_000 * window_s) / steps} ms`, points);
  },
);

export const upstash: readonly LimiterDescription[] = [fixed, sliding, tokenBucket];
