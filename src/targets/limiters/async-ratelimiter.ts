import { ALLOWED, limited } from "../request-limiter.js";
import type { Limiter, LimiterDescription } from "../target-types.js";
import { LibraryLimiter, noBlock, onIoredis, preload, sha1Of } from "./library.js";

const PACKAGE = "async-ratelimiter";

const CANNOT_EXHAUST =
  "a denial reads the log of earlier requests, so a key without one cannot be denied at the same cost, and a limit of 0 is refused";

/**
 * The members of the library's class that we use. Its own declarations name a type of another
 * version of ioredis.
 */
interface Library {
  new (options: {
    db: unknown;
    namespace: string;
    max: number;
    duration: number;
  }): {
    /**
     * `remaining` is counted before the request; `reset` in milliseconds, as its script computes
     * it.
     */
    get(options: { id: string }): Promise<{ remaining: number; reset: number }>;
  };
  defineCommand: { ratelimiter: { lua: string } };
}

/** Takes the place of the limiter for exhausted keys, which the plan keeps away. */
const refusing: Limiter = new LibraryLimiter<never>(
  () => Promise.reject(new Error(`${PACKAGE} has no exhausted keys: ${CANNOT_EXHAUST}`)),
  () => ALLOWED,
);

export const asyncRatelimiter: LimiterDescription = {
  id: "async-ratelimiter",
  package: PACKAGE,
  summary: "the limiter is async-ratelimiter, a log of requests by the clock of the server process",
  algorithm: "sliding log",
  atomic: true,
  cannotExhaust: CANNOT_EXHAUST,
  applyTo: (client) => onIoredis(client, "async-ratelimiter"),
  takesCost: false,
  unsupportedReason: ({ block_s }) => noBlock(PACKAGE, block_s),
  async create(client, _description, { points, window_s }, namespace, libraries) {
    const { default: Library } = (await libraries.load(
      PACKAGE,
      () => import("async-ratelimiter"),
    )) as unknown as { default: Library };
    const duration = window_s * 1_000;
    const library = new Library({ db: client.handle, namespace, max: points, duration });
    const standard = new LibraryLimiter(
      (key) => library.get({ id: key }),
      // The unit of the library's `reset` cannot be relied on.
      ({ remaining }) => (remaining > 0 ? ALLOWED : limited(points, 0, duration)),
    );
    const { del } = client.handle as { del(key: string): Promise<number> };
    await preload([standard], await client.shardKeys(), (key) =>
      del.call(client.handle, `${namespace}:${key}`),
    );
    return {
      version: libraries.version(PACKAGE),
      script: { kind: "evalsha", name_or_sha1: sha1Of(Library.defineCommand.ratelimiter.lua) },
      standard,
      exhausted: refusing,
    };
  },
};
