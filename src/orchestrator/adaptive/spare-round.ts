import { roundOf } from "../../contract/plan.js";
import { needsSpareRound, roundsToReplace } from "../plan/spare-round.js";
import type { RunOutcome } from "../run/result-documents.js";
import type { EventLog } from "../ui/event-log.js";
import { counted } from "../ui/text.js";
import type { RunSelection, SelectionOptions } from "./rounds.js";

interface SpareRoundOptions extends Pick<SelectionOptions, "manifest" | "progress" | "save"> {
  completed: ReadonlyMap<string, RunOutcome>;
  eventLog: Pick<EventLog, "emit" | "info">;
}

/**
 * Needs all runs of the plan, and adds those of its spare round where invalid runs leave a comparison
 * one pair short. Only whether runs are valid decides that, never their figures.
 */
export class SpareRound implements RunSelection {
  readonly #options: SpareRoundOptions;
  readonly #outcomes: Map<string, RunOutcome>;

  private constructor(options: SpareRoundOptions) {
    this.#options = options;
    this.#outcomes = new Map(options.completed);
  }

  /** The selection after the runs of earlier sessions, which may have ended before the spare round. */
  static async open(options: SpareRoundOptions): Promise<SpareRound> {
    const selection = new SpareRound(options);
    await selection.#planIfNeeded();
    return selection;
  }

  async isNeeded(): Promise<boolean> {
    return true;
  }

  async finished(outcome: RunOutcome): Promise<void> {
    this.#outcomes.set(outcome.file, outcome);
    await this.#planIfNeeded();
  }

  async end(): Promise<void> {}

  async #planIfNeeded(): Promise<void> {
    const { manifest, progress, eventLog, save } = this.#options;
    const { plan } = manifest;
    const [first] = plan.spare_runs ?? [];
    if (!first || !needsSpareRound(plan, this.#outcomes)) return;

    const replaces = roundsToReplace(plan, this.#outcomes);
    manifest.spare_round = { round: roundOf(first), replaces };
    plan.runs.push(...(plan.spare_runs ?? []));
    progress.expect(plan.runs);
    eventLog.emit({
      event: "planned",
      runs: plan.runs.length,
      time_left_s: progress.timeLeftS(),
    });
    const lost = `${counted(replaces.length, "round")} with invalid runs (${replaces.join(", ")})`;
    eventLog.info(`spare round ${roundOf(first)} is made: ${lost} left a comparison one short`);
    await save();
  }
}
