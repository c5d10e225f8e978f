import type { CampaignEvent, EventOf } from "../../contract/events.js";

/** What has happened so far: what the live screen and the last one are made of. */
export class CampaignState {
  campaign: EventOf<"campaign"> | undefined;
  /** The run under way. */
  run: EventOf<"run_started"> | undefined;
  phase: EventOf<"phase"> | undefined;
  /** The newest second of the run under way, while it measures. */
  second: EventOf<"second"> | undefined;
  /** The newest word on the time that is left. */
  left: { time_left_s: number; at: string } | undefined;
  report: EventOf<"report"> | undefined;
  ended: EventOf<"ended"> | undefined;
  /** Runs of the plan that turned out not to be needed. */
  #notNeeded = 0;
  readonly finished: EventOf<"run_finished">[] = [];
  readonly kept: EventOf<"run_kept">[] = [];
  /** Every run that was begun, by its file. */
  readonly started = new Map<string, EventOf<"run_started">>();

  add(event: CampaignEvent): void {
    if ("time_left_s" in event) this.left = { time_left_s: event.time_left_s, at: event.at };
    switch (event.event) {
      case "campaign":
        this.campaign = event;
        this.left = { time_left_s: event.estimate_s, at: event.at };
        break;
      case "run_kept":
        this.kept.push(event);
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
        this.run = undefined;
        this.second = undefined;
        break;
      case "look":
        this.#notNeeded += event.not_needed;
        break;
      case "report":
        this.report = event;
        break;
      case "ended":
        this.ended = event;
        break;
    }
  }

  /** Runs that there will be, at most. */
  get total(): number {
    return (this.campaign?.runs ?? 0) - this.#notNeeded;
  }

  /** Runs that need not be looked at again. */
  get done(): number {
    return this.finished.length + this.kept.length;
  }
}
