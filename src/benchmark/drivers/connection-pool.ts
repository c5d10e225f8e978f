import { setTimeout as sleep } from "node:timers/promises";
import type { Outcome } from "../../contract/request-outcomes.js";
import { environmentError } from "../../kit/errors.js";
import type { ClosedConnections } from "../closed-loop.js";
import { cheapMonotonicMs, monotonicMs } from "../measurement/clock.js";
import type { ResponseRecorder } from "../measurement/recorder.js";

interface ChannelConnectionsOptions {
  connections: number;
  /** Opens the connections, or gives those of a pool that others use while this one is idle. */
  poolFor(user: PoolUser): ConnectionPool;
  timeoutS: number;
  endpoint: string;
}

export class ChannelConnections implements ClosedConnections {
  readonly #options: ChannelConnectionsOptions;
  readonly #user: PoolUser;
  readonly #pool: ConnectionPool;
  #isOpen = false;
  #quota = 0;
  #sent = 0;
  #recorder: ResponseRecorder | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(options: ChannelConnectionsOptions) {
    this.#options = options;
    this.#user = {
      answered: (outcome, code, _due_ms, sent_ms, now_ms) => {
        this.#recorder?.answer(outcome, code, now_ms - sent_ms, now_ms);
        this.#finished();
      },
      lost: (_due_ms, sent_ms, now_ms) => {
        this.#recorder?.lost(now_ms - sent_ms, now_ms);
        this.#finished();
      },
      timedOut: (_due_ms, sent_ms, now_ms) => {
        this.#recorder?.timedOut(now_ms - sent_ms, now_ms);
        this.#finished();
      },
      freed: () => this.#send(),
    };
    this.#pool = options.poolFor(this.#user);
  }

  connected(): Promise<void> {
    return this.#pool.connected(Math.max(5, this.#options.timeoutS), this.#options.endpoint);
  }

  openGate(recorder: ResponseRecorder, quota: number, spread_ms = 0): void {
    this.#pool.serve(this.#user);
    this.#recorder = recorder;
    this.#quota = quota;
    this.#sent = 0;
    this.#isOpen = true;
    const { connections } = this.#options;
    if (spread_ms === 0) while (this.#send());
    else
      for (let index = 0; index < connections; index++)
        setTimeout(() => this.#send(), (spread_ms * index) / connections);
  }

  changeRecorder(recorder: ResponseRecorder, quota: number): number {
    const { inFlight } = this.#pool;
    const sentBefore = this.#sent - inFlight;
    this.#recorder = recorder;
    this.#quota = quota;
    this.#sent = inFlight;
    return sentBefore;
  }

  shutGate(): number {
    this.#isOpen = false;
    this.#recorder?.close();
    return this.#sent;
  }

  /** The pool gives up every request after its time-out, so this ends. */
  async drained(): Promise<void> {
    await this.#idle();
    this.#recorder = undefined;
  }

  quotaDone(): Promise<void> {
    return this.#idle();
  }

  async stop(): Promise<void> {
    this.#pool.close();
  }

  get #mustSend(): boolean {
    return this.#isOpen && this.#sent < this.#quota;
  }

  get #isIdle(): boolean {
    return this.#pool.inFlight === 0 && !this.#mustSend;
  }

  #idle(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  #send(): boolean {
    if (!this.#mustSend) return false;
    const now_ms = cheapMonotonicMs();
    if (!this.#pool.send(now_ms, now_ms)) return false;
    this.#sent++;
    return true;
  }

  #finished(): void {
    if (!this.#whenIdle || !this.#isIdle) return;
    this.#whenIdle();
    this.#whenIdle = undefined;
  }
}

/**
 * A driver's connection, with at most one request in flight. It connects by itself, also after it
 * was closed.
 */
export interface Channel {
  /** Sends the next request. It is only called between `ready` and the next event. */
  send(): void;
  /**
   * Gives up the request in flight and its connection. The only event that follows is the next
   * `ready`.
   */
  abandon(): void;
  close(): void;
}

export interface ChannelListener {
  ready(): void;
  /** @param code below 1000; `Driver.codeText` names it */
  answered(outcome: Outcome, code: number): void;
  /** The connection ended, and with it the request in flight, if there was one. */
  lost(): void;
}

export type OpenChannel = (index: number, listener: ChannelListener) => Channel;

/** Sends on a pool, and receives its events. Times are monotonic milliseconds. */
export interface PoolUser {
  answered(outcome: Outcome, code: number, due_ms: number, sent_ms: number, now_ms: number): void;
  lost(due_ms: number, sent_ms: number, now_ms: number): void;
  timedOut(due_ms: number, sent_ms: number, now_ms: number): void;
  freed(): void;
}

const TIMEOUT_CHECK_MS = 50;

const UNAVAILABLE = 0;
const FREE = 1;
const BUSY = 2;

/**
 * Waits until no connection of all is missing. @throws environmentError when that takes too long
 */
export async function untilConnected(
  missing: () => number,
  all: number,
  withinS: number,
  where: string,
): Promise<void> {
  const deadline = monotonicMs() + withinS * 1000;
  for (let remaining = missing(); remaining > 0; remaining = missing()) {
    if (monotonicMs() > deadline)
      throw environmentError(
        `${remaining} of ${all} connections to ${where} could not be established`,
      );
    await sleep(10);
  }
}

/**
 * The connections of a worker. The next request goes to the connection that has been free for
 * longest, so that the server closes none as idle.
 */
export class ConnectionPool {
  readonly #channels: Channel[];
  readonly #state: Uint8Array;
  readonly #due_ms: Float64Array;
  readonly #sent_ms: Float64Array;
  /**
   * Channel numbers in the order in which they became free. Some may be unavailable when they are
   * taken.
   */
  readonly #queue: Int32Array;
  readonly #isQueued: Uint8Array;
  #head = 0;
  #queued = 0;
  #inFlight = 0;
  #whenIdle: (() => void) | undefined;
  readonly #timeoutCheck: NodeJS.Timeout;
  readonly #timeoutMs: number;
  #user: PoolUser;

  constructor(count: number, open: OpenChannel, timeoutS: number, user: PoolUser) {
    this.#timeoutMs = timeoutS * 1000;
    this.#user = user;
    this.#state = new Uint8Array(count);
    this.#due_ms = new Float64Array(count);
    this.#sent_ms = new Float64Array(count);
    this.#queue = new Int32Array(count);
    this.#isQueued = new Uint8Array(count);
    this.#channels = Array.from({ length: count }, (_, index) =>
      open(index, {
        ready: () => this.#ready(index),
        answered: (outcome, code) => this.#answered(index, outcome, code),
        lost: () => this.#lost(index),
      }),
    );
    this.#timeoutCheck = setInterval(() => this.#abandonTimedOut(), TIMEOUT_CHECK_MS);
  }

  /**
   * @param where named in the message
   * @throws environmentError when not all are connected in time
   */
  async connected(withinS: number, where: string): Promise<void> {
    const missing = () =>
      this.#state.reduce((total, state) => total + (state === UNAVAILABLE ? 1 : 0), 0);
    await untilConnected(missing, this.#channels.length, withinS, where);
  }

  /** Lets another user send, and receive the events. It is called when nothing is in flight. */
  serve(user: PoolUser): void {
    this.#user = user;
  }

  send(due_ms: number, now_ms: number): boolean {
    while (this.#queued > 0) {
      const index = this.#queue[this.#head] ?? 0;
      this.#head = (this.#head + 1) % this.#queue.length;
      this.#queued--;
      this.#isQueued[index] = 0;
      if (this.#state[index] !== FREE) continue;
      this.#state[index] = BUSY;
      this.#due_ms[index] = due_ms;
      this.#sent_ms[index] = now_ms;
      this.#inFlight++;
      this.#channels[index]?.send();
      return true;
    }
    return false;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Resolves when no request is in flight, at the latest after the time-out. */
  idle(): Promise<void> {
    if (this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  close(): void {
    clearInterval(this.#timeoutCheck);
    for (const channel of this.#channels) channel.close();
  }

  #ready(index: number): void {
    this.#state[index] = FREE;
    if (!this.#isQueued[index]) {
      this.#queue[(this.#head + this.#queued) % this.#queue.length] = index;
      this.#queued++;
      this.#isQueued[index] = 1;
    }
    this.#user.freed();
  }

  #answered(index: number, outcome: Outcome, code: number): void {
    this.#state[index] = UNAVAILABLE;
    const now_ms = cheapMonotonicMs();
    this.#finished();
    this.#user.answered(outcome, code, this.#due_ms[index] ?? 0, this.#sent_ms[index] ?? 0, now_ms);
  }

  #lost(index: number): void {
    const wasBusy = this.#state[index] === BUSY;
    this.#state[index] = UNAVAILABLE;
    if (!wasBusy) return;
    const now_ms = cheapMonotonicMs();
    this.#finished();
    this.#user.lost(this.#due_ms[index] ?? 0, this.#sent_ms[index] ?? 0, now_ms);
  }

  #abandonTimedOut(): void {
    const now_ms = cheapMonotonicMs();
    this.#state.forEach((state, index) => {
      const sent_ms = this.#sent_ms[index] ?? 0;
      if (state !== BUSY || now_ms - sent_ms < this.#timeoutMs) return;
      this.#state[index] = UNAVAILABLE;
      this.#channels[index]?.abandon();
      this.#finished();
      this.#user.timedOut(this.#due_ms[index] ?? 0, sent_ms, now_ms);
    });
  }

  #finished(): void {
    this.#inFlight--;
    if (this.#inFlight > 0) return;
    this.#whenIdle?.();
    this.#whenIdle = undefined;
  }
}
