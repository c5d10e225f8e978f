import { sleep, steadyMs } from "../clock.js";
import type { OpenChannel } from "../drivers/channel.js";
import type { Stand } from "../drivers/stand.js";
import type { Engine, Extent, Window, WindowListener } from "../engine.js";
import { rehearse, SAMPLE_MS } from "../recorder.js";
import { Pool } from "./pool.js";
import { OpenRecorder } from "./recorder.js";
import { createArrivals, type ScheduleShare } from "./schedule.js";
import { Ticker } from "./ticker.js";

/** Of the rehearsal, for each worker: fast enough to take little time, and slow enough to wait now and then. */
const REHEARSAL_RATE = 20_000;
const REHEARSAL_S = 0.6;

export interface OpenLoopOptions {
  share: ScheduleShare;
  /** The most that may be used at once. */
  connections: number;
  openChannel: OpenChannel;
  /** Somebody to rehearse with. */
  openStand(): Promise<Stand>;
  timeoutS: number;
  /** For messages. */
  host: string;
}

/** One way through the schedule: a warm-up or a window. */
class Passage {
  readonly opens_ms: number;
  readonly closes_ms: number;
  /** The next send; not below `closes_ms` once there is none. */
  due_ms: number;
  /** Sends that are done with. */
  reached = 0;
  /** Sends wait for a free connection. */
  isStarved = false;
  readonly #next: () => number;

  constructor(share: ScheduleShare, opens_ms: number, extent: Extent) {
    this.opens_ms = opens_ms;
    this.#next = createArrivals(share);
    this.closes_ms = opens_ms + lengthMs(share, extent);
    this.due_ms = opens_ms + this.#next();
  }

  advance(): void {
    this.reached++;
    this.due_ms = this.opens_ms + this.#next();
  }
}

/** A window for so many requests closes when the one after them would be due. */
function lengthMs(share: ScheduleShare, extent: Extent): number {
  if ("durationS" in extent) return extent.durationS * 1000;
  const next = createArrivals(share);
  for (let request = 0; request < extent.requests; request++) next();
  return next();
}

/**
 * Sends requests when they are due, whether earlier ones were answered or not. A send that finds no free connection
 * waits for one; its latency counts from when it was due (M3). What was sent in the window is followed to its end, also
 * when that comes after the window: those still under way are the slow ones, and to leave them out would flatter.
 */
export class OpenLoop implements Engine {
  readonly #options: OpenLoopOptions;
  #pool: Pool | undefined;
  readonly #ticker: Ticker;
  #passage: Passage | undefined;
  #recorder: OpenRecorder | undefined;

  constructor(options: OpenLoopOptions) {
    this.#options = options;
    this.#ticker = new Ticker(() => this.#pump());
  }

  async connected(): Promise<void> {
    await this.#ticker.ready;
    await this.#rehearse();
    const { connections, openChannel, timeoutS, host } = this.#options;
    this.#pool = this.#openPool(connections, openChannel);
    await this.#pool.connected(Math.max(5, timeoutS), host);
  }

  #openPool(connections: number, openChannel: OpenChannel): Pool {
    return new Pool(connections, openChannel, this.#options.timeoutS, {
      answered: (status, due_ms, sent_ms, now_ms) =>
        this.#recorder?.answer(status, now_ms - due_ms, now_ms - sent_ms),
      lost: () => this.#recorder?.lost(),
      timedOut: () => this.#recorder?.timedOut(),
      freed: () => this.#pump(),
    });
  }

  /**
   * Sends to a stand-in, so that what sends, reads and records is compiled by the time that it counts. A warm-up at the
   * rate to be measured would take ten thousand requests for that; what is compiled in the window, by threads that
   * want the same CPUs, makes sends late by some milliseconds.
   */
  async #rehearse(): Promise<void> {
    const stand = await this.#options.openStand();
    this.#pool = this.#openPool(stand.connections, stand.openChannel);
    try {
      await this.#pool.connected(5, "the rehearsal's stand-in");
      this.#recorder = new OpenRecorder();
      const share = { ...this.#options.share, ratePerSecond: REHEARSAL_RATE * this.#options.share.of };
      await this.#play(share, { durationS: REHEARSAL_S }, steadyMs());
      await this.#pool.idle();
    } finally {
      this.#recorder = undefined;
      this.#pool.close();
      await stand.close();
    }
  }

  async warmUp(durationS: number): Promise<void> {
    const recorder = new OpenRecorder();
    this.#recorder = recorder;
    const endRehearsal = rehearse(recorder);
    await this.#play(this.#options.share, { durationS }, steadyMs());
    endRehearsal();
    await this.#pool?.idle();
    this.#recorder = undefined;
  }

  async measure(extent: Extent, listener: WindowListener, opens_ms: number): Promise<Window> {
    const recorder = new OpenRecorder();
    this.#recorder = recorder;
    const opened_ms = Math.max(opens_ms, steadyMs());
    let closes_ms = Number.POSITIVE_INFINITY;
    const sampler = setInterval(() => {
      // What is left of the last interval must not become a sliver of its own.
      const now = steadyMs();
      if (closes_ms - now > SAMPLE_MS / 2) listener.sample(recorder.sample(now));
    }, SAMPLE_MS);
    const playing = this.#play(this.#options.share, extent, opened_ms);
    closes_ms = this.#passage?.closes_ms ?? closes_ms;
    await playing;
    clearInterval(sampler);
    listener.closed();
    await this.#pool?.idle();
    this.#recorder = undefined;
    // The last answers may have come after the window; they belong to its last interval.
    listener.sample(recorder.sample(closes_ms));
    return { opened_ms, closed_ms: closes_ms, ...recorder.figures() };
  }

  async stop(): Promise<void> {
    this.#pool?.close();
    await this.#ticker.stop();
  }

  /** Resolves when the passage closes: nothing more is sent then. */
  async #play(share: ScheduleShare, extent: Extent, opens_ms: number): Promise<void> {
    const passage = new Passage(share, opens_ms, extent);
    this.#passage = passage;
    const { closes_ms } = passage;
    this.#ticker.start({ share, opens_ms, closes_ms });
    while (steadyMs() < closes_ms) await sleep(Math.max(1, closes_ms - steadyMs()));
    this.#pump();
    this.#passage = undefined;
    for (; passage.due_ms < closes_ms; passage.advance()) this.#recorder?.unsent();
    this.#ticker.progress(passage.reached, steadyMs());
  }

  /** Sends all that is due, as far as connections are free. */
  #pump(): void {
    const passage = this.#passage;
    const pool = this.#pool;
    if (!passage || !pool) return;
    const patienceMs = this.#options.timeoutS * 1000;
    let now = steadyMs();
    for (; passage.due_ms < passage.closes_ms; passage.advance(), now = steadyMs()) {
      if (passage.due_ms > now) {
        if (!passage.isStarved) break;
        this.#setStarved(passage, false);
        // The ticker may have kept still a moment ago, because it took the worker for starved.
        now = steadyMs();
        if (passage.due_ms > now) break;
      }
      if (now - passage.due_ms > patienceMs) {
        this.#recorder?.dropped();
      } else if (pool.send(passage.due_ms, now)) {
        this.#recorder?.sent(passage.due_ms, now, passage.isStarved);
      } else {
        this.#setStarved(passage, true);
        break;
      }
    }
    this.#ticker.progress(passage.reached, now);
  }

  #setStarved(passage: Passage, isStarved: boolean): void {
    if (passage.isStarved === isStarved) return;
    passage.isStarved = isStarved;
    this.#ticker.starved = isStarved;
  }
}
