import { setTimeout as sleep } from "node:timers/promises";
import type { Extent } from "../../contract/configuration.js";
import { definedOnly } from "../../kit/defined-only.js";
import { ConnectionPool, type OpenChannel, type PoolUser } from "../drivers/connection-pool.js";
import type { LoadLoop, Window, WindowListener, WindowPlan } from "../load-loop.js";
import { cheapMonotonicMs } from "../measurement/clock.js";
import { SAMPLE_MS } from "../measurement/recorder.js";
import type { WarmupLoad } from "../warmup.js";
import { OpenLoopRecorder } from "./open-loop-recorder.js";
import { createArrivals, type ScheduleShare } from "./send-schedule.js";
import { Ticker } from "./ticker.js";

/**
 * The rate of each worker's sends to the loopback. It is fast enough to take little time, and slow
 * enough to wait sometimes.
 */
const PREWARM_RATE_PER_SECOND = 20_000;
const PREWARM_S = 0.6;

/** How long before the window its listener is called. In the window it would make a send late. */
const OPENING_LEAD_MS = 5;

interface OpenLoopOptions {
  share: ScheduleShare;
  /** The most connections in use at once. */
  connections: number;
  openChannel: OpenChannel;
  startLoopback(): Promise<{
    connections: number;
    openChannel: OpenChannel;
    close(): Promise<void>;
  }>;
  timeoutS: number;
  endpoint: string;
  codeText(code: number): string;
  /** Begins the requests again, because a schedule begins. It is absent where requests go on. */
  restarts?(): void;
  /** Whether V8 has compiled what sends and reads, because another open loop of the thread has sent. */
  isCompiled?: boolean;
}

/** The progress of a schedule: which send is next, and when the window closes. */
class ScheduleRun {
  readonly opens_ms: number;
  readonly closes_ms: number;
  /** When the next send is due; not below `closes_ms` once there is none. */
  due_ms: number;
  done = 0;
  /** Whether sends wait for a free connection. */
  isStarved = false;
  readonly #next: () => number;

  constructor(share: ScheduleShare, opens_ms: number, extent: Extent, lead_in_ms: number) {
    this.opens_ms = opens_ms;
    this.#next = createArrivals(share);
    this.closes_ms = opens_ms + lengthMs(share, extent, lead_in_ms);
    this.due_ms = opens_ms + this.#next();
  }

  advance(): void {
    this.done++;
    this.due_ms = this.opens_ms + this.#next();
  }
}

/**
 * The length of lead-in and window. A window for a number of requests closes when the
 * request after them would be due.
 */
function lengthMs(share: ScheduleShare, extent: Extent, lead_in_ms: number): number {
  if ("duration_s" in extent) return lead_in_ms + extent.duration_s * 1000;
  const next = createArrivals(share);
  let due_ms = next();
  while (due_ms < lead_in_ms) due_ms = next();
  for (let request = 0; request < extent.requests; request++) due_ms = next();
  return due_ms;
}

/**
 * Sends requests when they are due, whether or not earlier ones were answered. A send that finds no
 * free connection waits for one, and its latency counts from when it was due (M3). Requests in
 * flight at the end of the window are followed to their end. They are the slow ones, and leaving
 * them out of the latency would flatter the result (M23).
 */
export class OpenLoop implements LoadLoop {
  readonly #options: OpenLoopOptions;
  readonly #user: PoolUser;
  #pool: ConnectionPool | undefined;
  readonly #ticker: Ticker;
  #run: ScheduleRun | undefined;
  #recorder: OpenLoopRecorder | undefined;
  /** Requests that were due before this moment are not recorded. */
  #recordsFrom_ms = 0;
  #unrecorded = 0;
  /** Requests that were due before that moment and had not ended at it. */
  #dueBefore = 0;
  /** Whether sends that fall due within the ticker's least gap share a wake. */
  #sharesWakes = true;
  /** Until when a warm-up as a closed loop sends. */
  #sendsUntil_ms = 0;

  constructor(options: OpenLoopOptions) {
    this.#options = options;
    this.#user = {
      answered: (outcome, code, due_ms, sent_ms, now_ms) =>
        this.#recorderOfEnded(due_ms, now_ms)?.answer(outcome, code, due_ms, sent_ms, now_ms),
      lost: (due_ms, sent_ms, now_ms) =>
        this.#recorderOfEnded(due_ms, now_ms)?.lost(due_ms, sent_ms, now_ms),
      timedOut: (due_ms, sent_ms, now_ms) =>
        this.#recorderOfEnded(due_ms, now_ms)?.timedOut(due_ms, sent_ms, now_ms),
      freed: () => {
        this.#sendDue();
        this.#sendAtOnce();
      },
    };
    this.#ticker = new Ticker(() => this.#sendDue());
  }

  async connected(): Promise<void> {
    await this.#ticker.ready;
    if (!this.#options.isCompiled) await this.#prewarmJit();
    const { connections, openChannel, timeoutS, endpoint } = this.#options;
    this.#pool = this.#openPool(connections, openChannel);
    await this.#pool.connected(Math.max(5, timeoutS), endpoint);
  }

  /** The connections, once they are established. A closed loop may use them between windows. */
  get pool(): ConnectionPool {
    if (!this.#pool) throw new Error("the open loop is not connected");
    return this.#pool;
  }

  #openPool(connections: number, openChannel: OpenChannel): ConnectionPool {
    return new ConnectionPool(connections, openChannel, this.#options.timeoutS, this.#user);
  }

  #recorderOf(due_ms: number): OpenLoopRecorder | undefined {
    return due_ms < this.#recordsFrom_ms ? undefined : this.#recorder;
  }

  /** The recorder of a request that has ended, or was given up. */
  #recorderOfEnded(due_ms: number, ended_ms: number): OpenLoopRecorder | undefined {
    if (due_ms < this.#recordsFrom_ms && ended_ms >= this.#recordsFrom_ms) this.#dueBefore++;
    return this.#recorderOf(due_ms);
  }

  /**
   * Sends to the loopback, so that V8 has compiled what sends and reads before the window opens. At
   * the measured rate that would take ten thousand requests, and compilation in the window makes
   * sends late.
   */
  async #prewarmJit(): Promise<void> {
    const loopback = await this.#options.startLoopback();
    this.#pool = this.#openPool(loopback.connections, loopback.openChannel);
    try {
      await this.#pool.connected(5, "the loopback");
      this.#recorder = new OpenLoopRecorder(this.#options.codeText);
      const share = {
        ...this.#options.share,
        rate_per_second: PREWARM_RATE_PER_SECOND * this.#options.share.of,
      };
      await this.#runSchedule(share, { duration_s: PREWARM_S }, cheapMonotonicMs());
      await this.#pool.idle();
    } finally {
      this.#recorder = undefined;
      this.#pool.close();
      await loopback.close();
    }
  }

  warmUp(seconds: number): Promise<WarmupLoad> {
    return this.#warmUp(async (began_ms) => {
      await this.#runSchedule(this.#options.share, { duration_s: seconds }, began_ms);
    });
  }

  warmUpClosed(seconds: number): Promise<WarmupLoad> {
    return this.#warmUp(async (began_ms) => {
      this.#sendsUntil_ms = began_ms + 1000 * seconds;
      this.#sendAtOnce();
      await sleep(1000 * seconds);
    });
  }

  async #warmUp(makeLoad: (began_ms: number) => Promise<void>): Promise<WarmupLoad> {
    const recorder = new OpenLoopRecorder(this.#options.codeText);
    this.#pool?.serve(this.#user);
    this.#recorder = recorder;
    const began_ms = cheapMonotonicMs();
    const sampler = setInterval(() => recorder.sample(cheapMonotonicMs()), SAMPLE_MS);
    await makeLoad(began_ms);
    clearInterval(sampler);
    await this.#pool?.idle();
    this.#recorder = undefined;

    const took_ms = cheapMonotonicMs() - began_ms;
    const { counts } = recorder.figures(took_ms, this.#sharesWakes);
    return { took_s: took_ms / 1000, requests: counts.sent, ...recorder.ended };
  }

  /** Sends on every free connection, in a warm-up as a closed loop. */
  #sendAtOnce(): void {
    for (;;) {
      const now_ms = cheapMonotonicMs();
      if (now_ms >= this.#sendsUntil_ms || !this.#pool?.send(now_ms, now_ms)) return;
      this.#recorder?.sent(now_ms, now_ms, false);
    }
  }

  shareWakes(shared: boolean): void {
    this.#sharesWakes = shared;
  }

  async measure(
    { extent, opens_ms, lead_in_ms, rate_per_second }: WindowPlan,
    listener: WindowListener,
  ): Promise<Window> {
    const { codeText } = this.#options;
    const share = { ...this.#options.share, ...definedOnly({ rate_per_second }) };
    this.#pool?.serve(this.#user);
    const recorder = new OpenLoopRecorder(codeText);
    this.#recorder = recorder;
    const opened_ms = Math.max(opens_ms, cheapMonotonicMs() + lead_in_ms);
    this.#recordsFrom_ms = opened_ms;
    this.#unrecorded = 0;
    this.#dueBefore = 0;
    recorder.open(opened_ms);
    const opening = setTimeout(
      () => listener.opened(),
      opened_ms - OPENING_LEAD_MS - cheapMonotonicMs(),
    );
    let closes_ms = Number.POSITIVE_INFINITY;
    let sampler: NodeJS.Timeout | undefined;
    const sampling = setTimeout(() => {
      sampler = setInterval(() => {
        // A short rest of the window belongs to the last interval.
        const now = cheapMonotonicMs();
        if (closes_ms - now > SAMPLE_MS / 2) listener.sample(recorder.sample(now));
      }, SAMPLE_MS);
    }, opened_ms - cheapMonotonicMs());
    const sending = this.#runSchedule(share, extent, opened_ms - lead_in_ms, { lead_in_ms });
    closes_ms = this.#run?.closes_ms ?? closes_ms;
    const unsent = await sending;
    clearTimeout(opening);
    clearTimeout(sampling);
    clearInterval(sampler);
    // The window closes in the step in which the last request was sent, and requests in flight now
    // are followed.
    recorder.close();
    const at_shut = unsent + (this.#pool?.inFlight ?? 0);
    listener.sample(recorder.sample(closes_ms));
    listener.closed();
    await this.#pool?.idle();
    this.#recorder = undefined;

    return {
      opened_ms,
      closed_ms: closes_ms,
      lead_in_requests: this.#unrecorded,
      backlog: { at_open: this.#dueBefore, at_shut },
      ...recorder.figures(closes_ms - opened_ms, this.#sharesWakes),
    };
  }

  async stop(): Promise<void> {
    this.#pool?.close();
    await this.#ticker.stop();
  }

  /**
   * Sends by the schedule until its window closes.
   * @returns how many sends were due then, and were still waiting for a connection
   */
  async #runSchedule(
    share: ScheduleShare,
    extent: Extent,
    opens_ms: number,
    { lead_in_ms = 0 }: { lead_in_ms?: number } = {},
  ): Promise<number> {
    const run = new ScheduleRun(share, opens_ms, extent, lead_in_ms);
    this.#options.restarts?.();
    this.#run = run;
    this.#ticker.start({
      share,
      opens_ms,
      closes_ms: run.closes_ms,
      sharesWakes: this.#sharesWakes,
    });

    const { closes_ms } = run;
    while (cheapMonotonicMs() < closes_ms) await sleep(Math.max(1, closes_ms - cheapMonotonicMs()));

    this.#sendDue();
    this.#run = undefined;

    let unsent = 0;
    for (; run.due_ms < closes_ms; run.advance(), unsent++)
      this.#recorderOfEnded(run.due_ms, closes_ms)?.unsent(run.due_ms, closes_ms);

    this.#ticker.progress(run.done, cheapMonotonicMs());
    return unsent;
  }

  /** Sends all that is due, as long as connections are free. */
  #sendDue(): void {
    const run = this.#run;
    const pool = this.#pool;
    if (!run || !pool) return;

    const timeoutMs = this.#options.timeoutS * 1000;

    let now = cheapMonotonicMs();
    for (; run.due_ms < run.closes_ms; run.advance(), now = cheapMonotonicMs()) {
      if (run.due_ms > now) {
        if (!run.isStarved) break;
        this.#setStarved(run, false);
        // The ticker did not wake the worker while it was starved, so time may have passed.
        now = cheapMonotonicMs();
        if (run.due_ms > now) break;
      }
      if (now - run.due_ms > timeoutMs) {
        this.#recorderOfEnded(run.due_ms, now)?.dropped(run.due_ms, now);
      } else if (pool.send(run.due_ms, now)) {
        const recorder = this.#recorderOf(run.due_ms);
        if (recorder) recorder.sent(run.due_ms, now, run.isStarved);
        else this.#unrecorded++;
      } else {
        this.#setStarved(run, true);
        break;
      }
    }

    this.#ticker.progress(run.done, now);
  }

  #setStarved(run: ScheduleRun, isStarved: boolean): void {
    if (run.isStarved === isStarved) return;
    run.isStarved = isStarved;
    this.#ticker.starved = isStarved;
  }
}
