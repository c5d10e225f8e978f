import { MAX_DESCRIPTORS, MAX_KEY_LENGTH } from "../../contract/ranges.js";
import { definedOnly } from "../../kit/defined-only.js";
import type { Decision, RequestLimiter } from "../../targets/target-types.js";
import type { Handler, RouteHook, WebReply, WebRequest } from "../frameworks/framework.js";
import type { Counters } from "../lib/server-counters.js";

/** Does the work of a route for an admitted request. @returns the JSON of the answer */
export type Work = () => string;

const JSON_TYPE = "application/json; charset=utf-8";

const BAD_KEY = `userId must be 1 to ${MAX_KEY_LENGTH} characters, given at most ${MAX_DESCRIPTORS} times`;
const FAILED = JSON.stringify({ error: "the rate limiter's store failed" });
const BROKEN = JSON.stringify({ error: "internal error" });

const isKey = (key: unknown): boolean =>
  typeof key === "string" && key.length > 0 && key.length <= MAX_KEY_LENGTH;

/**
 * Makes a route's handler from its work, behind the limiter if there is one. It is a wrapper
 * instead of a hook, because after a hook a framework may not run the handler of a client that has
 * gone, and `in_flight` must not decrease before a request's consumes and handler are finished:
 * only then the store's counters are final.
 *
 * Answers: 200 with the work's JSON · 400 bad key · 429 limited, with the headers of the longest
 * wait · 503 when the store failed for any descriptor · 500 when the work throws.
 */
export function rateLimited(
  counters: Counters,
  limiter: RequestLimiter | undefined,
  work: Work,
): Handler {
  if (limiter?.hook) return hookedHandler(counters, limiter, work);
  return limiter ? limitedHandler(counters, limiter, work) : unlimitedHandler(counters, work);
}

/** A request whose first key a hook decides on. */
interface Hooked {
  asked_ms: number;
  /**
   * All keys of the request. They are kept, because a framework may parse the query each time that
   * it is read.
   */
  keys: string | string[] | null;
}

const keysOf = (request: Pick<WebRequest, "query" | "ip">): string | string[] =>
  (request.query as { userId?: string | string[] }).userId ?? request.ip ?? "";

/**
 * Returns the limiter's own hook for the limited routes, as its users install it. The hook answers
 * denied requests itself. It decides on one key, and the handler asks for the others of a request
 * that has several. A request is finished when its last decision is known, because its handler
 * follows in the same turn of the event loop if its client is still there.
 */
export const routeHook = (
  counters: Counters,
  hook: NonNullable<RequestLimiter["hook"]>,
  byAddress?: true,
): RouteHook => ({
  ...definedOnly({ byAddress }),
  install: hook.install,
  onError(error, request, reply) {
    // What the library throws for a denied request, and a bad key.
    if (error.statusCode !== undefined) {
      reply.status(error.statusCode).send({ error: error.message });
      return;
    }
    hook.failed();
    counters.answers.s503++;
    counters.finished++;
    fail(request, reply, error);
  },
  keyOf(request) {
    counters.requests++;
    const keys = keysOf(request);
    const key = typeof keys === "string" ? keys : keys[0];
    if (key === undefined || !(typeof keys === "string" ? isKey(key) : areKeys(keys))) {
      counters.answers.s400++;
      counters.finished++;
      throw Object.assign(new Error(BAD_KEY), { statusCode: 400 });
    }

    const hooked = request as unknown as Hooked;
    hooked.keys = keys;
    hooked.asked_ms = performance.now();
    return key;
  },
  decided(request, outcome) {
    const { asked_ms, keys } = request as unknown as Hooked;
    counters.consumeDuration.observe(performance.now() - asked_ms);
    if (outcome === "limited") {
      counters.hits++;
      counters.answers.s429++;
    } else if (typeof keys !== "string") return;
    counters.finished++;
  },
});

/** Returns the handler of a route behind a hook that has admitted the first key. */
function hookedHandler(counters: Counters, limiter: RequestLimiter, work: Work): Handler {
  return (request, reply) => {
    const { keys } = request as unknown as Hooked;
    if (keys === null || typeof keys === "string") admit(counters, request, reply, work);
    else
      limiter.consume(keys.slice(1)).then((decision) => {
        answer(counters, request, reply, decision, work);
        counters.finished++;
      });
  };
}

function answer(
  counters: Counters,
  request: WebRequest,
  reply: WebReply,
  decision: Decision,
  work: Work,
): void {
  if (decision.outcome === "allowed") admit(counters, request, reply, work);
  else if (decision.outcome === "limited") deny(counters, reply, decision);
  else {
    counters.answers.s503++;
    fail(request, reply, decision.error);
  }
}

function unlimitedHandler(counters: Counters, work: Work): Handler {
  return (request, reply) => {
    counters.requests++;
    admit(counters, request, reply, work);
    counters.finished++;
  };
}

function limitedHandler(counters: Counters, limiter: RequestLimiter, work: Work): Handler {
  const finish = (request: WebRequest, reply: WebReply, decision: Decision, startedMs: number) => {
    counters.consumeDuration.observe(performance.now() - startedMs);
    answer(counters, request, reply, decision, work);
    counters.finished++;
  };

  return (request, reply) => {
    counters.requests++;
    const keys = keysOf(request);
    if (typeof keys === "string" ? !isKey(keys) : !areKeys(keys)) {
      send(reply, 400, JSON.stringify({ error: BAD_KEY }));
      counters.answers.s400++;
      counters.finished++;
      return;
    }
    const startedMs = performance.now();
    limiter.consume(keys).then((decision) => finish(request, reply, decision, startedMs));
  };
}

const areKeys = (keys: readonly unknown[]): boolean =>
  keys.length <= MAX_DESCRIPTORS && keys.every(isKey);

function admit(counters: Counters, request: WebRequest, reply: WebReply, work: Work): void {
  let body: string;
  try {
    body = work();
  } catch (error) {
    request.log.error(error);
    counters.answers.s500++;
    send(reply, 500, BROKEN);
    return;
  }

  counters.answers.s200++;
  // The default status is 200.
  reply.header("content-type", JSON_TYPE).send(body);
}

function deny(
  counters: Counters,
  reply: WebReply,
  decision: Decision & { outcome: "limited" },
): void {
  counters.hits++;
  counters.answers.s429++;
  // Whole seconds, rounded up, so that a client that waits this long is admitted; at least one.
  const seconds = Math.max(1, Math.ceil(decision.msBeforeNext / 1_000));
  reply.header("retry-after", seconds);
  reply.header("x-ratelimit-limit", decision.limit);
  reply.header("x-ratelimit-remaining", decision.remaining);
  reply.header("x-ratelimit-reset", seconds);
  send(reply, 429, `{"error":"too many requests","retry_after_s":${seconds}}`);
}

function fail(request: WebRequest, reply: WebReply, error: Error): void {
  request.log.error(error);
  send(reply, 503, FAILED);
}

function send(reply: WebReply, status: number, body: string): void {
  reply.status(status).header("content-type", JSON_TYPE).send(body);
}
