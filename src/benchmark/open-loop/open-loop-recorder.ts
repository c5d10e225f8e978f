import type { Counts, Outcome } from "../../contract/result.js";
import type { ScheduleCounts } from "../../contract/schedule.js";
import type { Window } from "../load-loop.js";
import { encodeByOutcome, histogramsByOutcome, MicrosecondHistogram } from "../measurement/histograms.js";
import { ResponseRecorder, type WorkerSample } from "../measurement/recorder.js";

/** A send that is later than this counts as late. */
const LATE_MS = 1;

/** Records one worker's window of an open loop: response time from the intended send, service time from the send. */
export class OpenLoopRecorder {
  readonly #responses: ResponseRecorder;
  readonly #service = histogramsByOutcome();
  readonly #lateness = new MicrosecondHistogram();
  readonly #schedule: ScheduleCounts = { offered: 0, sent: 0, late: 0, blocked: 0, dropped: 0, unsent: 0 };
  #lost = 0;
  #timedOut = 0;

  constructor(codeText: (code: number) => string) {
    this.#responses = new ResponseRecorder(codeText);
  }

  /** A send that was due at `due_ms`. @param isBlocked whether it found no free connection then */
  sent(due_ms: number, now_ms: number, isBlocked: boolean): void {
    const late_ms = now_ms - due_ms;
    this.#schedule.offered++;
    this.#schedule.sent++;
    if (late_ms > LATE_MS) this.#schedule.late++;
    if (isBlocked) this.#schedule.blocked++;
    this.#lateness.record(Math.round(late_ms * 1000));
  }

  /** A send that was given up because no connection became free in time. */
  dropped(): void {
    this.#schedule.offered++;
    this.#schedule.blocked++;
    this.#schedule.dropped++;
  }

  /** A send that was due and still waiting when the window closed. */
  unsent(): void {
    this.#schedule.offered++;
    this.#schedule.blocked++;
    this.#schedule.unsent++;
  }

  answer(outcome: Outcome, code: number, response_ms: number, service_ms: number): void {
    this.#responses.answer(outcome, code, response_ms);
    this.#service[outcome].record(Math.max(1, Math.round(service_ms * 1000)));
  }

  lost(): void {
    this.#lost++;
    this.#responses.loss(1);
  }

  timedOut(): void {
    this.#timedOut++;
    this.#responses.loss(1);
  }

  sample(at_ms: number): WorkerSample {
    return this.#responses.sample(at_ms);
  }

  /** All figures; call this when nothing is in flight any more. */
  figures(): Omit<Window, "opened_ms" | "closed_ms"> {
    const counts: Counts = this.#responses.counts({
      sent: this.#schedule.sent,
      connection_errors: this.#lost,
      timed_out: this.#timedOut,
      cut: 0,
    });
    return {
      counts,
      histograms: this.#responses.histograms(),
      service_histograms: encodeByOutcome(this.#service),
      schedule: { ...this.#schedule, lateness: this.#lateness.encoded() },
    };
  }
}
