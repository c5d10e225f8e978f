import type { AdaptiveState, Manifest } from "../../contract/manifest.js";
import type { Plan } from "../../contract/plan.js";
import type { AdaptiveSummary } from "../../contract/summary.js";
import { type Overheads, REPORT_S, runS } from "../plan/estimate.js";
import type { Progress } from "../run/progress.js";
import type { RunOutcome } from "../run/result-documents.js";
import type { EventLog } from "../ui/event-log.js";
import type { DecideRound } from "./round-decider.js";

type PlannedRun = Plan["runs"][number];

/** Which of the plan's runs are worth their time. */
export interface RunSelection {
  /** Asked before each run, in the plan's order: whether it is needed. */
  isNeeded(planned: PlannedRun): Promise<boolean>;
  /** It was made. @param pauseS before it */
  finished(outcome: RunOutcome, pauseS: number): Promise<void>;
  /** All of the plan was gone through. */
  end(): Promise<void>;
}

/** Of a fixed number of runs all are needed. */
export const ALL_RUNS: RunSelection = {
  isNeeded: async () => true,
  finished: async () => {},
  end: async () => {},
};

export interface AdaptiveRoundsOptions {
  /** Its `adaptive` member is kept up to date. */
  manifest: Manifest;
  /** Runs that an earlier session has measured, by result file. */
  there: ReadonlyMap<string, unknown>;
  overheads: Overheads;
  eventLog: Pick<EventLog, "emit">;
  progress: Pick<Progress, "needed" | "endsWithin" | "left">;
  ask: DecideRound;
  /** Writes the manifest; what cannot be written is said, and ends nothing. */
  save(): Promise<void>;
}

/**
 * Goes on with the configurations that are not told apart yet, round by round. Who goes on follows from the results
 * alone, at the same rounds whether the campaign was interrupted or not: one that is resumed comes to the same end.
 */
export class AdaptiveRounds implements RunSelection {
  readonly #options: AdaptiveRoundsOptions;
  readonly #plan: Plan;
  readonly #looks: readonly number[];
  readonly #state: AdaptiveState;
  #running: ReadonlySet<string>;
  /** The round under way; 0: none yet. */
  #round = 0;
  #known: AdaptiveSummary | undefined;
  /** What the runs until now should have taken by the plan's estimate. */
  #estimated_s = 0;

  constructor(options: AdaptiveRoundsOptions) {
    const { manifest, progress } = options;
    const { configurations, adaptive: { looks, budget_s } = { looks: [] } } = manifest.plan;
    const hashes = configurations.map(({ hash }) => hash);
    const first = Object.fromEntries(hashes.map((hash) => [hash, looks[0] ?? 0]));
    // Whether one that was interrupted is at its end is found out anew: its failed runs are measured again.
    const { ended: _, ...state } = manifest.adaptive ?? { rounds: first, looked: 0, spent_s: 0 };
    this.#options = options;
    this.#plan = manifest.plan;
    this.#looks = looks;
    this.#state = state;
    this.#running = new Set(hashes);
    manifest.adaptive = this.#state;
    if (budget_s !== undefined) progress.endsWithin(budget_s - state.spent_s);
  }

  async isNeeded({ configuration_hash, run }: PlannedRun): Promise<boolean> {
    if (run !== this.#round && !this.#state.ended) await this.#begin(run);
    if (this.#state.ended || !this.#running.has(configuration_hash)) return false;
    this.#estimated_s += this.#estimateS([configuration_hash]);
    return true;
  }

  async finished({ seconds }: RunOutcome, pauseS: number): Promise<void> {
    this.#state.spent_s = Number((this.#state.spent_s + seconds + pauseS).toFixed(3));
    await this.#options.save();
  }

  async end(): Promise<void> {
    if (this.#state.ended) return;
    await this.#look(this.#round);
    await this.#close(this.#known?.not_concluded.length ? "max runs" : "decided");
  }

  /** Before the first run of a round. */
  async #begin(round: number): Promise<void> {
    const made = this.#round;
    if (this.#looks.includes(made)) await this.#look(made);
    if (this.#running.size === 0) return this.#close("decided");
    if (made > 0 && !this.#isBegun(round) && this.#wouldExceedBudget()) {
      for (const hash of this.#running) this.#state.rounds[hash] = made;
      await this.#look(made, true);
      return this.#close("budget");
    }
    this.#round = round;
    await this.#options.save();
  }

  /** One that was begun before an interruption is made whole: half of it would favour some. */
  #isBegun(round: number): boolean {
    return this.#plan.runs.some(({ run, file }) => run === round && this.#options.there.has(file));
  }

  #wouldExceedBudget(): boolean {
    const { budget_s } = this.#plan.adaptive ?? {};
    if (budget_s === undefined) return false;
    const { spent_s } = this.#state;
    // As much longer or shorter than estimated as the rounds before it.
    const round_s = this.#estimateS([...this.#running]) * (spent_s / this.#estimated_s);
    return spent_s + round_s + REPORT_S > budget_s;
  }

  #estimateS(hashes: readonly string[]): number {
    const { configurations, cooldown_s } = this.#plan;
    return configurations
      .filter(({ hash }) => hashes.includes(hash))
      .map(({ configuration }) => cooldown_s + runS(this.#plan, configuration, this.#options.overheads))
      .reduce((sum, seconds) => sum + seconds, 0);
  }

  /** Finds out who goes on. @param isLast whether no round will follow */
  async #look(round: number, isLast = false): Promise<void> {
    const { eventLog, progress, ask } = this.#options;
    const before = this.#possible().length;
    this.#known = await ask(round, isLast);
    const rows = this.#known.configurations;
    const goesOn = new Set(rows.flatMap((row) => (row.goes_on ? [row.configuration_hash] : [])));
    const done = rows.filter(
      ({ configuration_hash: hash }) => hash !== null && this.#running.has(hash) && !goesOn.has(hash),
    );
    this.#running = new Set([...this.#running].filter((hash) => goesOn.has(hash)));
    const next = this.#looks.find((look) => look > round) ?? round;
    for (const hash of this.#running)
      this.#state.rounds[hash] = Math.max(next, this.#state.rounds[hash] ?? 0);
    this.#state.looked = round;
    const possible = this.#possible();
    progress.needed(possible);
    eventLog.emit({
      event: "look",
      round,
      go_on: this.#running.size,
      done,
      not_needed: Math.max(0, before - possible.length),
      time_left_s: progress.left(),
    });
  }

  /** Runs of the plan that were asked for, or may still be. */
  #possible(): PlannedRun[] {
    return this.#plan.runs.filter(
      ({ configuration_hash: hash, run }) =>
        this.#running.has(hash) || run <= (this.#state.rounds[hash] ?? 0),
    );
  }

  #close(why: NonNullable<AdaptiveState["ended"]>["why"]): Promise<void> {
    const { concluded = [], not_concluded = [] } = this.#known ?? {};
    this.#state.ended = { round: this.#state.looked, why, concluded, not_concluded };
    return this.#options.save();
  }
}
