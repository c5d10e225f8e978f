import type { Outcome, Slices } from "../../contract/request-outcomes.js";
import type { ScheduleCounts } from "../../contract/schedule.js";
import type { Window } from "../load-loop.js";
import {
  encodeLatencies,
  latencyUs,
  MicrosecondHistogram,
  newLatencies,
} from "../measurement/histograms.js";
import { type EndedAnswers, ResponseRecorder, type WorkerSample } from "../measurement/recorder.js";

/** A send that is later than this counts as late. */
const LATE_MS = 1;

/**
 * Records a worker's window of an open loop, with response times from the intended send and service
 * times from the send (M23).
 */
export class OpenLoopRecorder {
  readonly #responses: ResponseRecorder;
  readonly #service = newLatencies();
  readonly #lateness = new MicrosecondHistogram();
  readonly #gaps = new MicrosecondHistogram();
  readonly #schedule: ScheduleCounts = {
    offered: 0,
    sent: 0,
    late: 0,
    blocked: 0,
    dropped: 0,
    unsent: 0,
  };
  #lastSend_ms: number | undefined;

  constructor(codeText: (code: number) => string) {
    this.#responses = new ResponseRecorder(codeText);
  }

  /**
   * Opens the window, from which slices count. Without this call it opens when the recorder is
   * made.
   */
  open(at_ms: number): void {
    this.#responses.open(at_ms);
  }

  sent(due_ms: number, now_ms: number, isBlocked: boolean): void {
    this.#offered(due_ms);
    this.#schedule.sent++;
    if (this.#lastSend_ms !== undefined)
      this.#gaps.record(Math.round((now_ms - this.#lastSend_ms) * 1000));
    this.#lastSend_ms = now_ms;
    if (isBlocked) {
      this.#schedule.blocked++;
      return;
    }

    const late_ms = now_ms - due_ms;
    if (late_ms > LATE_MS) this.#schedule.late++;
    this.#lateness.record(Math.round(late_ms * 1000));
  }

  /** Records a send that was given up because no connection became free in time. */
  dropped(due_ms: number, now_ms: number): void {
    this.#offered(due_ms);
    this.#schedule.blocked++;
    this.#schedule.dropped++;
    this.#responses.dropped(now_ms - due_ms, now_ms);
  }

  /** Records a request that was never sent, because the window closed. */
  unsent(due_ms: number, closed_ms: number): void {
    this.#offered(due_ms);
    this.#schedule.blocked++;
    this.#schedule.unsent++;
    this.#responses.notSent(closed_ms - due_ms);
  }

  #offered(due_ms: number): void {
    this.#schedule.offered++;
    this.#responses.due(due_ms);
  }

  answer(outcome: Outcome, code: number, due_ms: number, sent_ms: number, now_ms: number): void {
    this.#responses.answer(outcome, code, now_ms - due_ms, now_ms);
    this.#service[outcome].record(latencyUs(now_ms - sent_ms));
  }

  lost(due_ms: number, sent_ms: number, now_ms: number): void {
    this.#responses.lost(now_ms - due_ms, now_ms);
    this.#service.censored.record(latencyUs(now_ms - sent_ms));
  }

  timedOut(due_ms: number, sent_ms: number, now_ms: number): void {
    this.#responses.timedOut(now_ms - due_ms, now_ms);
    this.#service.censored.record(latencyUs(now_ms - sent_ms));
  }

  close(): void {
    this.#responses.close();
  }

  sample(at_ms: number): WorkerSample {
    return this.#responses.sample(at_ms);
  }

  /**
   * All figures.
   * @param shared_wakes whether sends that fall due together share a wake
   */
  figures(
    length_ms: number,
    shared_wakes: boolean,
  ): Omit<Window, "opened_ms" | "closed_ms" | "lead_in_requests" | "backlog"> {
    return {
      counts: this.#responses.counts(this.#schedule.sent),
      ended: this.ended,
      histograms: this.#responses.histograms(),
      slices: this.slices(length_ms),
      timeline_slices: this.#responses.timelineSlices(length_ms),
      service_histograms: encodeLatencies(this.#service),
      schedule: {
        ...this.#schedule,
        lateness: this.#lateness.encoded(),
        gaps: this.#gaps.encoded(),
        shared_wakes,
      },
    };
  }

  slices(length_ms: number): Slices {
    return this.#responses.slices(length_ms);
  }

  get ended(): EndedAnswers {
    return this.#responses.ended;
  }
}
