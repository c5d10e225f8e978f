import type { Outcome } from "../../../contract/request-outcomes.js";
import type { Decision } from "../../../targets/target-types.js";
import {
  type Descriptors,
  FRESH_KEY,
  FRESH_KEY_DIGITS,
  FRESH_KEY_PREFIX,
  type RequestStream,
} from "../../../traffic/traffic-types.js";
import {
  type ConnectionCounts,
  type ConnectionLog,
  RequestCounter,
} from "../../measurement/decision-log.js";
import type { Channel, ChannelListener, OpenChannel } from "../connection-pool.js";
import type { ChannelRequests } from "../driver.js";

export type Keys = string | readonly string[];

/**
 * How many digits number the requests of one connection. The digits before them number the
 * connection, as over HTTP.
 */
const COUNTED_DIGITS = 11;

export class KeySource {
  readonly #requests: readonly Descriptors[];
  readonly #stream: RequestStream;
  readonly #freshPrefix: string;
  readonly #counts: ConnectionCounts;
  readonly #log: ConnectionLog | undefined;
  #fresh = 0;

  constructor(
    requests: readonly Descriptors[],
    stream: RequestStream,
    connection: number,
    counts: ConnectionCounts,
    log?: ConnectionLog,
  ) {
    this.#log = log;
    this.#requests = requests;
    this.#stream = stream;
    this.#counts = counts;
    this.#freshPrefix =
      FRESH_KEY_PREFIX + String(connection).padStart(FRESH_KEY_DIGITS - COUNTED_DIGITS, "0");
  }

  next(): Keys {
    const which = this.#stream.next();
    const descriptors = this.#requests[which];
    if (!descriptors) throw new Error(`the traffic has no request ${which}`);
    this.#counts.sent(which);
    this.#log?.sent(which);
    if (descriptors.length === 1) return this.#keyOf(descriptors[0]);
    return descriptors.map((key) => this.#keyOf(key));
  }

  /** Says that nobody knows whether the last request was decided on. */
  undecided(): void {
    this.#counts.undecided();
  }

  decided(decision: Decision): void {
    if (!this.#log || decision.outcome === "failed") return;
    this.#log.answered(
      decision.outcome,
      decision.outcome === "limited" ? decision.msBeforeNext : Number.NaN,
    );
  }

  #keyOf(key: string): string {
    if (key !== FRESH_KEY) return key;
    return this.#freshPrefix + String(++this.#fresh).padStart(COUNTED_DIGITS, "0");
  }
}

export interface ConsumingLimiter {
  consume(keys: Keys): Promise<Decision>;
}

type CallCounts = { begun: number; finished: number };

export const limiterOutcomes: readonly Outcome[] = ["allowed", "limited", "failed"];
const codes: Readonly<Record<Outcome, number>> = { allowed: 0, limited: 1, failed: 2 };

/**
 * Consumes before the event loop gets its turn. A limiter without I/O settles in a microtask, and a
 * channel that then sends at once would keep timers and messages waiting for ever.
 */
const CONSUMES_PER_TURN = 1024;

/** Makes channels ready again, and gives the event loop its turn in between. */
class TurnQueue {
  #finished = 0;
  #waiting: LimiterChannel[] = [];

  /** Makes a channel ready now, or in the next turn when this turn has had its consumes. */
  next(channel: LimiterChannel): void {
    if (this.#waiting.length === 0 && ++this.#finished < CONSUMES_PER_TURN) channel.ready();
    else this.later(channel);
  }

  later(channel: LimiterChannel): void {
    this.#waiting.push(channel);
    if (this.#waiting.length === 1) setImmediate(() => this.#turn());
  }

  #turn(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#finished = 0;
    for (const channel of waiting) channel.ready();
  }
}

const REJECTED: Decision = { outcome: "failed", error: new Error("the limiter rejected") };

/**
 * Has one consume in flight at a time. It needs no connection of its own, because all channels of a
 * worker share the limiter's client.
 */
class LimiterChannel implements Channel {
  readonly #decider: ConsumingLimiter;
  readonly #keys: KeySource;
  readonly #counts: CallCounts;
  readonly #turns: TurnQueue;
  readonly #listener: ChannelListener;
  /**
   * Takes the decision on the consume in flight. A decision on an abandoned consume is only
   * counted.
   */
  #settle = this.#newSettle();
  #fail = this.#newFail();
  #isClosed = false;

  constructor(
    decider: ConsumingLimiter,
    keys: KeySource,
    counts: CallCounts,
    turns: TurnQueue,
    listener: ChannelListener,
  ) {
    this.#decider = decider;
    this.#keys = keys;
    this.#counts = counts;
    this.#turns = turns;
    this.#listener = listener;
    turns.later(this);
  }

  ready(): void {
    if (!this.#isClosed) this.#listener.ready();
  }

  send(): void {
    this.#counts.begun++;
    this.#decider.consume(this.#keys.next()).then(this.#settle, this.#fail);
  }

  abandon(): void {
    this.#keys.undecided();
    this.#settle = this.#newSettle();
    this.#fail = this.#newFail();
    this.#turns.later(this);
  }

  close(): void {
    this.#isClosed = true;
  }

  #newSettle(): (decision: Decision) => void {
    const settle = (decision: Decision): void => {
      const { outcome } = decision;
      this.#counts.finished++;
      if (settle !== this.#settle || this.#isClosed) return;
      if (outcome === "failed") this.#keys.undecided();
      else this.#keys.decided(decision);
      this.#listener.answered(outcome, codes[outcome]);
      this.#turns.next(this);
    };
    return settle;
  }

  /** A limiter must not reject, but that of a plugin may. */
  #newFail(): () => void {
    const settle = this.#settle;
    return () => settle(REJECTED);
  }
}

export function limiterChannels(
  decider: ConsumingLimiter,
  { requests, streams, first, counts = new RequestCounter(requests.length), log }: ChannelRequests,
  calls: CallCounts,
): OpenChannel {
  const turns = new TurnQueue();
  return (index, listener) => {
    const stream = streams[index];
    if (!stream) throw new Error("more channels than request streams");
    const keys = new KeySource(
      requests,
      stream,
      first + index,
      counts.connection(),
      log?.connection(),
    );
    return new LimiterChannel(decider, keys, calls, turns, listener);
  };
}
