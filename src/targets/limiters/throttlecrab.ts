import type { Limits } from "../../contract/configuration.js";
import { EXHAUSTED_KEY_PREFIX } from "../../contract/server-api.js";
import { ALLOWED, limited } from "../request-limiter.js";
import type {
  ClientDescription,
  LimiterDescription,
  OptionDescription,
  VariedClient,
} from "../target-types.js";
import { LibraryLimiter, noBlock, unsupported } from "./library.js";

export const THROTTLECRAB = "throttlecrab";

/**
 * One call of ThrottleCrab, whatever the protocol: `max_burst` and `count` points in `period`
 * seconds.
 */
export interface ThrottleRequest {
  key: string;
  max_burst: number;
  count_per_period: number;
  period: number;
  /** The points of this call. A call of 0 points only looks, and takes none. */
  quantity: number;
}

export interface ThrottleAnswer {
  /** A denial is an ordinary answer in every protocol. Over HTTP it has status 200. */
  allowed: boolean;
  remaining: number;
  /** The seconds after which a retry may be admitted. */
  retry_after: number;
}

/**
 * What the handle of a client of ThrottleCrab does. @throws Error for an answer that is no decision
 */
export type Throttle = (request: ThrottleRequest) => Promise<ThrottleAnswer>;

/** Reads `[allowed, limit, remaining, reset_after, retry_after]`. */
function readReply(reply: unknown): ThrottleAnswer {
  const [allowed, , remaining, , retry_after] = Array.isArray(reply) ? (reply as unknown[]) : [];
  if (
    (allowed !== 0 && allowed !== 1) ||
    typeof remaining !== "number" ||
    typeof retry_after !== "number"
  )
    throw new Error(`not a reply of THROTTLE: ${String(reply).slice(0, 100)}`);
  return { allowed: allowed === 1, remaining, retry_after };
}

/**
 * @throws Error for an answer of HTTP or gRPC that does not say whether it admits: then it must not
 *   count as admitted
 */
export function readAnswer(answer: unknown): ThrottleAnswer {
  const { allowed, remaining, retry_after } = (answer ?? {}) as Partial<ThrottleAnswer>;
  if (typeof allowed !== "boolean")
    throw new Error("not an answer of ThrottleCrab: it has no `allowed`");
  return { allowed, remaining: Number(remaining ?? 0), retry_after: Number(retry_after ?? 0) };
}

const requestFor = (
  keyPrefix: string,
  key: string,
  { points, window_s }: Limits,
  quantity: number,
) => ({
  key: `${keyPrefix}:${key}`,
  max_burst: points,
  count_per_period: points,
  period: window_s,
  quantity,
});

/** More than the burst at once is denied like any other request, and nothing is written. */
const exhaustedQuantity = ({ points }: Limits): number => points + 1;

const wordsOf = ({ key, max_burst, count_per_period, period, quantity }: ThrottleRequest) =>
  [key, max_burst, count_per_period, period, quantity] as const;

/**
 * A client of RESP with ThrottleCrab's own limiter, or the reason why it cannot use
 * ThrottleCrab.
 */
function overResp(client: ClientDescription): VariedClient {
  if (!client.canSkipHandshake) {
    return {
      skip: `${client.id} cannot use throttlecrab: it asks a server who it is when it connects, and ThrottleCrab only knows THROTTLE, PING and QUIT`,
    };
  }
  const {
    flexible: _flexible,
    sameScript: _sameScript,
    ownSettings: _ownSettings,
    unsupportedReason: _reason,
    ...rest
  } = client;
  return {
    ...rest,
    stores: [THROTTLECRAB],
    topologies: ["standalone"],
    limiter: THROTTLECRAB,
    survivesStoreRestart: true,
    survivesScriptFlush: true,
    native: {
      kind: "resp",
      command: (call) => ["THROTTLE", ...wordsOf(call as ThrottleRequest).map(String)],
    },
    open: (place, tuning) => client.open(place, { ...tuning, skipsHandshake: true }),
  };
}

export const throttlecrabLimiter: LimiterDescription = {
  id: THROTTLECRAB,
  summary: "ThrottleCrab decides itself",
  algorithm: "GCRA",
  atomic: true,
  applyTo: overResp,
  takesCost: true,
  callOf(key, limits, { keyPrefix }) {
    const isExhausted = key.startsWith(EXHAUSTED_KEY_PREFIX);
    return requestFor(
      keyPrefix,
      key,
      limits,
      isExhausted ? exhaustedQuantity(limits) : (limits.cost ?? 1),
    );
  },
  unsupportedReason: ({ points, block_s }) =>
    points === 1
      ? "ThrottleCrab never denies at a quota of 1 point: give at least 2"
      : noBlock("ThrottleCrab", block_s),
  async create({ command, handle }, { id }, limits, keyPrefix) {
    const overCommand: Throttle | undefined =
      command &&
      (async (request) => readReply(await command(request.key, "THROTTLE", ...wordsOf(request))));
    const throttle = overCommand ?? (handle as Throttle);
    if (typeof throttle !== "function") throw new Error(`${id} cannot send THROTTLE`);
    // Nothing is sent here: it has no script to load, and its counters cannot be reset.
    const limiting = (quantityOf: (cost: number) => number) =>
      new LibraryLimiter(
        (key, cost) => throttle(requestFor(keyPrefix, key, limits, quantityOf(cost))),
        ({ allowed, remaining, retry_after }) =>
          allowed ? ALLOWED : limited(limits.points, remaining, 1_000 * retry_after),
      );
    return {
      standard: limiting((cost) => cost),
      exhausted: limiting(() => exhaustedQuantity(limits)),
    };
  },
};

/** The flag of its program that chooses how expired keys are removed. */
const FLAG = "--store";

/**
 * How ThrottleCrab removes expired keys. Without an option it uses its default, which is
 * `periodic`.
 */
const cleanUp = (id: string, summary: string): OptionDescription => ({
  id,
  summary: `ThrottleCrab's store of this name: ${summary}`,
  apply(client) {
    if (client.limiter !== THROTTLECRAB)
      return unsupported(client, id, "it is a setting of ThrottleCrab");
    const { storeArguments = [] } = client;
    if (storeArguments.includes(FLAG))
      return { skip: `${client.id}: +${id} and another store of ThrottleCrab exclude each other` };
    return { ...client, storeArguments: [...storeArguments, FLAG, id] };
  },
});

export const throttlecrabOptions: readonly OptionDescription[] = [
  cleanUp("periodic", "expired keys are removed every five minutes"),
  cleanUp("probabilistic", "one decision in ten thousand removes expired keys"),
  cleanUp("adaptive", "expired keys are removed at intervals that follow the load"),
];
