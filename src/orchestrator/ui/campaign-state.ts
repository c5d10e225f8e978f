import type { CampaignEvent, EventOf } from "../../contract/events.js";

/** The state of a campaign after its events so far. The live and the final screen show it. */
export class CampaignState {
  campaign: EventOf<"campaign"> | undefined;
  /** The round under way, where the runs of a group go by turns. */
  round: EventOf<"round_started"> | undefined;
  run: EventOf<"run_started"> | undefined;
  phase: EventOf<"phase"> | undefined;
  /** The latest second of a run under way, while it measures. */
  second: EventOf<"second"> | undefined;
  timeLeft: { time_left_s: number; at: string } | undefined;
  report: EventOf<"report"> | undefined;
  ended: EventOf<"ended"> | undefined;
  /** How many runs a search is expected to have. */
  #expected: number | undefined;
  /** Planned runs that adaptive rounds do not need. */
  #notNeeded = 0;
  readonly finished: EventOf<"run_finished">[] = [];
  readonly kept: EventOf<"run_kept">[] = [];
  readonly started = new Map<string, EventOf<"run_started">>();

  add(event: CampaignEvent): void {
    if ("time_left_s" in event) this.timeLeft = { time_left_s: event.time_left_s, at: event.at };
    switch (event.event) {
      case "campaign":
        this.campaign = event;
        this.timeLeft = { time_left_s: event.estimate_s, at: event.at };
        break;
      case "run_kept":
        this.kept.push(event);
        break;
      case "round_started":
        this.round = event;
        break;
      case "round_finished":
        this.round = undefined;
        break;
      case "run_started":
        this.run = event;
        this.started.set(event.file, event);
        this.phase = undefined;
        this.second = undefined;
        break;
      case "phase":
        this.phase = event;
        if (event.phase !== "measure") this.second = undefined;
        break;
      case "second":
        this.second = event;
        break;
      case "run_finished":
        this.finished.push(event);
        if (!this.round) this.run = undefined;
        this.second = undefined;
        break;
      case "look":
        this.#notNeeded += event.not_needed;
        break;
      case "planned":
        this.#expected = event.runs;
        break;
      case "report":
        this.report = event;
        break;
      case "ended":
        this.ended = event;
        break;
    }
  }

  /** The latest start of the run of that number. */
  startOf(number: number | undefined): EventOf<"run_started"> | undefined {
    return [...this.started.values()].findLast((event) => event.number === number);
  }

  /** How many runs the campaign will have had at its end, as far as is known. */
  get total(): number {
    return (this.#expected ?? this.campaign?.runs ?? 0) - this.#notNeeded;
  }

  /** Number of runs that are finished or kept from an earlier session. */
  get done(): number {
    return this.finished.length + this.kept.length;
  }

  /** Number of measured runs that count, invalid ones included. */
  get measured(): number {
    return (
      this.done -
      this.finished.filter(({ status }) => status === "failed" || status === "aborted").length
    );
  }

  get counts(): EventOf<"ended">["runs"] {
    const ended = { valid: 0, suspect: 0, invalid: 0, failed: 0, aborted: 0 };
    for (const { status } of this.finished) ended[status]++;
    return { ...ended, kept: this.kept.length, not_begun: Math.max(0, this.total - this.done) };
  }
}
