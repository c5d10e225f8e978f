import { setTimeout as sleep } from "node:timers/promises";
import type { LoadLoop, Window, WindowListener, WindowPlan } from "./load-loop.js";
import { cheapMonotonicMs, laterMonotonicMs, sleepUntil } from "./measurement/clock.js";
import { ResponseRecorder, SAMPLE_MS } from "./measurement/recorder.js";
import type { WarmupLoad } from "./warmup.js";

/** Connections that were opened again. */
export interface Reopened {
  all: number;
  /** How many of these the target had not closed, and had no request that was given up. */
  without_cause: number;
}

/**
 * Connections behind a gate. While the gate is shut all of them stay open and idle, so that the
 * window uses the connections of the warm-up.
 */
export interface ClosedConnections {
  /**
   * Connections that were opened again since all were connected. It is undefined where a client
   * library holds them.
   */
  readonly reopened?: Readonly<Reopened>;
  /**
   * Waits until every connection is established. @throws environmentError when some are not in time
   */
  connected(): Promise<void>;
  /**
   * Lets requests be sent, and records them.
   * @param quota number of requests, after which no more are sent
   * @param spread_ms time over which the connections begin, one after another; by default all begin
   *   at once
   */
  openGate(recorder: ResponseRecorder, quota: number, spread_ms?: number): void;
  /**
   * Lets requests in flight belong to another recorder and its quota, since a window counts the
   * answers that come in it (M2).
   * @param quota at least the number of connections
   * @returns how many of the sent requests do not belong to the new recorder
   */
  changeRecorder(recorder: ResponseRecorder, quota: number): number;
  /**
   * Closes the recorder in one synchronous step, after which nothing is sent.
   * @returns how many requests were sent
   */
  shutGate(): number;
  /** Follows requests in flight to their end. A request is given up a second after its time-out. */
  drained(): Promise<void>;
  /** Resolves when the quota is sent and nothing is in flight. */
  quotaDone(): Promise<void>;
  stop(): Promise<void>;
}

export class ClosedLoop implements LoadLoop {
  readonly #connections: ClosedConnections;
  readonly #codeText: (code: number) => string;

  constructor(connections: ClosedConnections, codeText: (code: number) => string) {
    this.#connections = connections;
    this.#codeText = codeText;
  }

  connected(): Promise<void> {
    return this.#connections.connected();
  }

  async warmUp(seconds: number): Promise<WarmupLoad> {
    const recorder = new ResponseRecorder(this.#codeText);
    const began_ms = cheapMonotonicMs();
    const sampler = setInterval(() => recorder.sample(cheapMonotonicMs()), SAMPLE_MS);
    this.#connections.openGate(recorder, Number.POSITIVE_INFINITY);
    await sleep(seconds * 1000);
    const requests = this.#connections.shutGate();
    clearInterval(sampler);
    await this.#connections.drained();
    return { took_s: (cheapMonotonicMs() - began_ms) / 1000, requests, ...recorder.ended };
  }

  async measure(
    { extent, opens_ms, lead_in_ms }: WindowPlan,
    listener: WindowListener,
  ): Promise<Window> {
    const recorder = new ResponseRecorder(this.#codeText);
    const quota = "requests" in extent ? extent.requests : Number.POSITIVE_INFINITY;
    await sleepUntil(opens_ms - lead_in_ms);
    if (lead_in_ms > 0) {
      this.#connections.openGate(new ResponseRecorder(this.#codeText), Number.POSITIVE_INFINITY);
      await sleep(Math.max(1, opens_ms - cheapMonotonicMs()));
    }
    const opened_ms = laterMonotonicMs();
    recorder.open(opened_ms);
    listener.opened();
    let lead_in_requests = 0;
    if (lead_in_ms > 0) lead_in_requests = this.#connections.changeRecorder(recorder, quota);
    else this.#connections.openGate(recorder, quota);
    const closes_ms =
      "duration_s" in extent ? opened_ms + extent.duration_s * 1000 : Number.POSITIVE_INFINITY;
    const sampler = setInterval(() => {
      // A short rest of the window belongs to the last interval.
      const now = cheapMonotonicMs();
      if (closes_ms - now > SAMPLE_MS / 2) listener.sample(recorder.sample(now));
    }, SAMPLE_MS);
    if ("requests" in extent) await this.#connections.quotaDone();
    else await sleep(extent.duration_s * 1000);

    // The window closes in one synchronous step. Requests in flight now are followed, but do not
    // count in the window.
    const closed_ms = cheapMonotonicMs();
    const sent = this.#connections.shutGate();
    clearInterval(sampler);
    listener.sample(recorder.sample(closed_ms));
    listener.closed();
    await this.#connections.drained();
    const length_ms = Math.min(closes_ms, closed_ms) - opened_ms;
    return {
      opened_ms,
      closed_ms,
      lead_in_requests,
      counts: recorder.counts(sent),
      ended: recorder.ended,
      histograms: recorder.histograms(),
      slices: recorder.slices(length_ms),
      timeline_slices: recorder.timelineSlices(length_ms),
    };
  }

  stop(): Promise<void> {
    return this.#connections.stop();
  }
}
