import type { ApiDefect } from "../../../contract/api-defects.js";
import type { Remedy } from "../../../contract/audit.js";

const remedyOf = (
  advice: string,
  settings: {
    express?: string;
    flexible?: string;
    fastify?: string;
    nest?: string;
  } = {},
): Remedy => ({
  advice,
  settings: Object.fromEntries(
    Object.entries({
      "express-rate-limit": settings.express,
      "rate-limiter-flexible": settings.flexible,
      "@fastify/rate-limit": settings.fastify,
      "@nestjs/throttler": settings.nest,
    }).flatMap(([library, setting]) => (setting === undefined ? [] : [[library, setting]])),
  ),
});

const QUOTA = { express: "limit", flexible: "points", fastify: "max", nest: "limit" };
const WINDOW = {
  express: "windowMs (ms)",
  flexible: "duration (s)",
  fastify: "timeWindow (ms, or a text such as '1 minute')",
  nest: "ttl (ms)",
};
/** What names the client that is counted. */
const KEY = {
  express: "keyGenerator",
  flexible: "the key that consume() gets",
  fastify: "keyGenerator",
  nest: "getTracker",
};
const WAIT = {
  express: "standardHeaders: 'draft-8', which also sends Retry-After",
  flexible: "Math.ceil(msBeforeNext / 1000), in whole seconds",
  fastify: "addHeaders: { 'retry-after': true } (the default)",
  nest: "setHeaders: true (the default)",
};

const SHARED_STORE = {
  express: "store: new RedisStore({ … }) of rate-limit-redis; the default counts in each process",
  flexible: "RateLimiterRedis or RateLimiterValkey instead of RateLimiterMemory",
  fastify: "redis: a client of ioredis; the default counts in each process",
  nest: "storage: new ThrottlerStorageRedisService(…); the default counts in each process",
};

const ROUTE_KEY = remedyOf(
  "Count by the client, and by the route's own name where each route has its quota: never by the address as it was sent.",
  {
    express: "keyGenerator without request.url and originalUrl",
    flexible: "a key of consume() without the address",
    fastify: "keyGenerator without request.url; request.routeOptions.url names the route",
    nest: "generateKey without the address",
  },
);
const SHARED_KEYS = remedyOf(
  "See first that the API counts by this key at all: --key names it. Then count by what tells clients apart.",
  KEY,
);
const KEYS = remedyOf("Count by what tells clients apart, whole and unchanged.", KEY);
const HEADER_WAIT = remedyOf(
  "Send the time until the next admission in whole seconds, rounded up.",
  WAIT,
);

/** What mends each kind of defect: a new kind is one line here. */
export const remedies: Readonly<Record<ApiDefect, Remedy>> = {
  "never-active": remedyOf("Put the limiter before the route's handler, and let it deny.", {
    express: "app.use(limiter) before the routes; skip must not hold for this one",
    flexible: "await consume() before the handler, and answer its rejection with 429",
    fastify: "await app.register(rateLimit, { global: true }) before the routes are declared",
    nest: "{ provide: APP_GUARD, useClass: ThrottlerGuard }: the module alone limits nothing",
  }),
  "off-by-one": remedyOf(
    "Deny the request that exceeds the quota, and not the one after it.",
    QUOTA,
  ),
  "other-quota": remedyOf("Set the quota that is promised, or promise the one that is set.", QUOTA),
  "counts-late": remedyOf(
    "Count and decide in one step of the store, before the handler: increment, then compare.",
    {
      flexible: "consume() alone decides: no get() before it",
      fastify: "a store of its own must increment in one command",
    },
  ),
  "denied-status": remedyOf("Deny with 429, which clients know how to wait for.", {
    express: "statusCode: 429 (the default)",
    flexible: "the status that your code gives to a rejection",
    fastify: "errorResponseBuilder must return an error with statusCode 429",
    nest: "an exception filter must let ThrottlerException be 429",
  }),
  "keys-share-a-quota": SHARED_KEYS,
  "keys-merged": KEYS,
  "key-unlimited": remedyOf("Count each key, or refuse it: an empty or odd one must not be free.", {
    express: "skip and keyGenerator",
    flexible: "the key that consume() gets",
    fastify: "allowList and keyGenerator",
    nest: "skipIf and getTracker",
  }),
  "quota-per-connection": remedyOf("Count by the client, and never by its connection.", KEY),
  "quota-per-instance": remedyOf("Let all instances count in one store.", SHARED_STORE),
  "quota-per-address": KEYS,
  "renewed-by-forwarding-header": remedyOf(
    "Believe X-Forwarded-For of your own proxies alone: name their addresses, and without a proxy believe nobody.",
    {
      express: "app.set('trust proxy', '10.0.0.0/8'), your proxies, and never true",
      flexible: "the framework's address under its setting for proxies",
      fastify: "Fastify({ trustProxy: '10.0.0.0/8' }), your proxies, and never true",
      nest: "app.set('trust proxy', '10.0.0.0/8'), your proxies, and never true",
    },
  ),
  "renewed-by-path": ROUTE_KEY,
  "renewed-by-letter-case": ROUTE_KEY,
  "renewed-by-query": ROUTE_KEY,
  "renewed-by-method": ROUTE_KEY,
  "renewed-by-other-path": ROUTE_KEY,
  "routes-share-a-key": remedyOf("Give the counters of each limit a name of their own.", {
    express: "prefix of each limiter's store",
    flexible: "keyPrefix of each limiter",
    fastify: "nameSpace of each registration, or groupId",
    nest: "name of each of throttlers, and generateKey",
  }),
  "double-at-edge": remedyOf(
    "Take a sliding window, a token bucket or GCRA, or promise a fixed window: it admits twice its quota around an end.",
  ),
  "returns-late": remedyOf("Let a denied client return when its window ends.", {
    flexible: "blockDuration: 0 (the default)",
    fastify: "continueExceeding: false, exponentialBackoff: false (the defaults)",
    nest: "blockDuration, which is ttl by default and begins with the first denial",
  }),
  "rate-too-high": remedyOf("Set the quota and the window that are promised.", WINDOW),
  "rate-too-low": remedyOf("Set the quota and the window that are promised.", WINDOW),
  "retry-after-in-ms": HEADER_WAIT,
  "retry-after-too-short": HEADER_WAIT,
  "retry-after-in-the-past": HEADER_WAIT,
  "retry-after-too-long": HEADER_WAIT,
  "quota-headers-untrue": remedyOf("Send what the limiter decided by.", {
    express: "standardHeaders: 'draft-8'",
    flexible: "remainingPoints and msBeforeNext of what consume() gives",
    fastify: "enableDraftSpec: true, or the default headers",
    nest: "setHeaders: true (the default)",
  }),
  "denial-runs-handler": remedyOf(
    "Decide before the handler, and end the request where it is denied.",
    {
      express: "app.use(limiter) before the handler",
      flexible: "return after the answer 429",
      fastify: "hook: 'onRequest' (the default)",
      nest: "a guard, which runs before the handler",
    },
  ),
  "fails-open": remedyOf("Deny, or answer 503, where the store does not answer.", {
    express: "passOnStoreError: false (the default)",
    flexible: "answer a rejection that is an Error with 503",
    fastify: "skipOnError: false (the default)",
  }),
  "fails-closed": remedyOf("Tell a store that fails from a client that exceeds its quota.", {
    express: "passOnStoreError: true admits meanwhile",
    flexible: "a rejection that is an Error is no denial; insuranceLimiter counts meanwhile",
    fastify: "skipOnError: true admits meanwhile",
  }),
  "fails-with-error": remedyOf("Say what happens to requests where the store does not answer.", {
    express: "passOnStoreError: true admits them",
    flexible: "insuranceLimiter counts them in memory",
    fastify: "skipOnError: true admits them",
  }),
  "hangs-with-store": remedyOf(
    "Give up on a store soon: with ioredis commandTimeout, maxRetriesPerRequest and enableOfflineQueue: false.",
    { fastify: "redis: new Redis({ connectTimeout: 500, maxRetriesPerRequest: 1 })" },
  ),
  "limit-lost-after-outage": remedyOf(
    "Connect again when the store is back, and load scripts again.",
  ),
  "quota-forgotten": remedyOf(
    "Let the store keep its data over a restart (appendonly yes), or accept that each outage renews all quotas.",
  ),
  "quota-doubled-in-outage": remedyOf("Give the limiter of outages less than the quota.", {
    flexible: "points of insuranceLimiter",
  }),
};
