import type { AdaptiveState, Manifest } from "../../contract/manifest.js";
import {
  type Plan,
  type PlannedRun,
  plannedConfiguration,
  roundOf,
  unitsOf,
} from "../../contract/plan.js";
import { type AdaptiveSummary, adaptiveSummarySchema } from "../../contract/summary.js";
import { BenchError, EXIT } from "../../kit/errors.js";
import { rounded, sum } from "../../kit/numbers.js";
import { type PythonContext, PythonFailed, pythonOutput } from "../host/python.js";
import { runsUntil } from "../plan/decision-rounds.js";
import { type Overheads, REPORT_S, runS } from "../plan/estimate.js";
import { GroupTargets } from "../plan/group-fillers.js";
import { isControl, originals, plannedRankings } from "../plan/rankings.js";
import type { RunOutcome } from "../run/result-documents.js";
import type { EventLog } from "../ui/event-log.js";

/** Decides which runs of a plan are needed. */
export interface RunSelection {
  /** Whether a run is needed, which is asked before each run in the plan's order. */
  isNeeded(planned: PlannedRun): Promise<boolean>;
  finished(outcome: RunOutcome, pauseS: number): Promise<void>;
  end(): Promise<void>;
}

/** The selection for a fixed number of runs, of which all are needed. */
export const ALL_RUNS: RunSelection = {
  isNeeded: async () => true,
  finished: async () => {},
  end: async () => {},
};

type DecideRound = (round: number, isLast: boolean) => Promise<AdaptiveSummary>;

/**
 * A function that lets the report decide, because only the report does statistics.
 * @throws BenchError with the last line of the report
 */
export function roundDecider(python: PythonContext, campaignFolder: string): DecideRound {
  return async (round, isLast) => {
    const args = [campaignFolder, "--round", String(round)];
    if (isLast) args.push("--end");
    try {
      const output = await pythonOutput(python, "decide-rounds", args);
      return adaptiveSummarySchema.parse(JSON.parse(output));
    } catch (error) {
      if (!(error instanceof PythonFailed)) throw error;
      const code = error.exitCode === EXIT.defect ? EXIT.defect : EXIT.configurationFailed;
      throw new BenchError(
        `it could not be decided which configurations continue after round ${round}: ${error.message}`,
        code,
      );
    }
  };
}

/** Estimates how long the campaign will take. A selection says which runs are still to come. */
export interface ExpectedTime {
  /** Takes the runs that take place, which were made, are planned, or are likely to be planned. */
  expect(runs: Plan["runs"]): void;
  limitTime(seconds: number): void;
  timeLeftS(): number;
}

export interface SelectionOptions {
  /** The manifest, in which the selection keeps its state. */
  manifest: Manifest;
  completed: ReadonlyMap<string, unknown>;
  overheads: Overheads;
  progress: ExpectedTime;
  /** Writes the manifest. A failure is reported and does not end the campaign. */
  save(): Promise<void>;
}

export interface AdaptiveRoundsOptions extends SelectionOptions {
  eventLog: Pick<EventLog, "emit">;
  decideRound: DecideRound;
}

const filesOf = (runs: readonly PlannedRun[]): ReadonlySet<string> =>
  new Set(runs.map(({ file }) => file));

/**
 * The configurations that continue, with those that they are compared with. A reference and its
 * copies take part as long as any other member of their ranking does. By turns a control takes part
 * as long as any target of its groups.
 */
function withCompanions(plan: Plan, continuing: ReadonlySet<string>): ReadonlySet<string> {
  const companions = new Set(continuing);
  for (const { members, reference } of plannedRankings(plan)) {
    if (!reference) continue;
    const withoutCopies = originals(members);
    const compared = withoutCopies.length > 1 ? withoutCopies : members;
    const isOpen = compared.some((member) => member !== reference && continuing.has(member.hash));
    for (const member of members) {
      if (member !== reference && compared.includes(member)) continue;
      if (isOpen) companions.add(member.hash);
      else companions.delete(member.hash);
    }
  }
  for (const [hash, mates] of controlsBeside(plan)) {
    if ([...mates].some((mate) => companions.has(mate))) companions.add(hash);
    else companions.delete(hash);
  }
  return companions;
}

/**
 * The configurations for whose sake a control is in a group, by the control's hash. Only runs by
 * turns have groups.
 */
function controlsBeside(plan: Plan): ReadonlyMap<string, ReadonlySet<string>> {
  const controls = new Set(plan.configurations.filter(isControl).map(({ hash }) => hash));
  const matesByControl = new Map<string, Set<string>>();
  for (const unit of unitsOf(plan, plan.runs)) {
    const mates = unit.filter((run) => !run.beside).map((run) => run.configuration_hash);
    for (const { configuration_hash: hash, beside: isBeside } of unit) {
      if (!isBeside || !controls.has(hash)) continue;
      const earlier = matesByControl.get(hash) ?? [];
      matesByControl.set(hash, new Set([...earlier, ...mates]));
    }
  }
  return matesByControl;
}

/**
 * Continues with the configurations whose ranking is open, and their references. Decisions depend
 * on the results alone, so that a resumed campaign ends the same way.
 */
export class AdaptiveRounds implements RunSelection {
  readonly #options: AdaptiveRoundsOptions;
  readonly #plan: Plan;
  readonly #targets: GroupTargets;
  readonly #decisionRounds: readonly number[];
  readonly #state: AdaptiveState;
  #running: ReadonlySet<string>;
  /** The files of runs that have been requested or may still be. */
  #possible: ReadonlySet<string>;
  #round = 0;
  #decision: AdaptiveSummary | undefined;
  /** The plan's estimate for the runs so far. */
  #estimated_s = 0;

  constructor(options: AdaptiveRoundsOptions) {
    const { manifest, progress } = options;
    const { configurations, adaptive } = manifest.plan;
    const { looks, budget_s } = adaptive ?? { looks: [] };
    const hashes = configurations.map(({ hash }) => hash);
    const firstLooks = Object.fromEntries(hashes.map((hash) => [hash, looks[0] ?? 0]));
    const initialState: AdaptiveState = { rounds: firstLooks, looked: 0, spent_s: 0 };
    // An earlier end is dropped, because a resumed campaign measures its failed runs again and then
    // decides again.
    const { ended: _, ...state } = manifest.adaptive ?? initialState;
    this.#options = options;
    this.#plan = manifest.plan;
    this.#targets = new GroupTargets(manifest.plan);
    this.#decisionRounds = looks;
    this.#state = state;
    this.#running = new Set(hashes);
    this.#possible = filesOf(this.#possibleRuns());
    manifest.adaptive = this.#state;
    if (budget_s !== undefined) progress.limitTime(budget_s - state.spent_s);
  }

  async isNeeded(planned: PlannedRun): Promise<boolean> {
    const round = roundOf(planned);
    if (round !== this.#round && !this.#state.ended) await this.#startRound(round);
    return !this.#state.ended && this.#isOpen(planned);
  }

  #isOpen(planned: PlannedRun): boolean {
    return this.#running.has(planned.configuration_hash) && this.#possible.has(planned.file);
  }

  async finished({ seconds }: RunOutcome, pauseS: number): Promise<void> {
    this.#state.spent_s = rounded(this.#state.spent_s + seconds + pauseS, 3);
    await this.#options.save();
  }

  async end(): Promise<void> {
    if (this.#state.ended) return;
    await this.#decide(this.#round);
    await this.#finish(this.#decision?.not_concluded.length ? "max runs" : "decided");
  }

  async #startRound(round: number): Promise<void> {
    const previous = this.#round;
    if (this.#decisionRounds.includes(previous)) await this.#decide(previous);
    if (this.#running.size === 0) return this.#finish("decided");
    if (previous > 0 && !this.#hasRuns(round) && this.#wouldExceedBudget(round)) {
      for (const hash of this.#running) this.#state.rounds[hash] = previous;
      await this.#decide(previous, true);
      return this.#finish("budget");
    }
    this.#round = round;
    this.#estimated_s += this.#roundS(round);
    await this.#options.save();
  }

  /**
   * Whether an earlier session has started this round, which is then completed. Half a round would
   * favour some configurations.
   */
  #hasRuns(round: number): boolean {
    return this.#plan.runs.some(
      (run) => roundOf(run) === round && this.#options.completed.has(run.file),
    );
  }

  #wouldExceedBudget(round: number): boolean {
    const { budget_s } = this.#plan.adaptive ?? {};
    if (budget_s === undefined) return false;
    const { spent_s } = this.#state;
    // The estimate is scaled by how far the earlier rounds were off.
    const round_s = this.#roundS(round) * (spent_s / this.#estimated_s);
    return spent_s + round_s + REPORT_S > budget_s;
  }

  /** The estimated seconds of a round, with the targets that keep the size of its groups. */
  #roundS(round: number): number {
    const runs = this.#plan.runs.filter((run) => roundOf(run) === round && this.#isOpen(run));
    const groups = [...unitsOf(this.#plan, runs)].map((unit) => this.#targets.withRuns(unit));
    return sum(
      groups.flat().map((hash) => {
        const { configuration } = plannedConfiguration(this.#plan, hash);
        return this.#plan.cooldown_s + runS(this.#plan, configuration, this.#options.overheads);
      }),
    );
  }

  async #decide(round: number, isLast = false): Promise<void> {
    const { eventLog, progress, decideRound } = this.#options;
    const possibleBefore = this.#possible.size;
    this.#decision = await decideRound(round, isLast);
    const rows = this.#decision.configurations;
    const open = rows.flatMap(({ configuration_hash: hash, goes_on }) =>
      goes_on && hash ? [hash] : [],
    );
    const continuing = withCompanions(this.#plan, new Set(open));
    const done = rows.filter(
      ({ configuration_hash: hash }) =>
        hash !== null && this.#running.has(hash) && !continuing.has(hash),
    );
    this.#running = new Set([...this.#running].filter((hash) => continuing.has(hash)));

    const next = this.#decisionRounds.find((candidate) => candidate > round) ?? round;
    for (const hash of this.#running)
      this.#state.rounds[hash] = Math.max(next, this.#state.rounds[hash] ?? 0);
    this.#state.looked = round;

    const possible = this.#possibleRuns();
    this.#possible = filesOf(possible);
    progress.expect(possible);
    eventLog.emit({
      event: "look",
      round,
      go_on: this.#running.size,
      done,
      not_needed: Math.max(0, possibleBefore - possible.length),
      time_left_s: progress.timeLeftS(),
    });
  }

  #possibleRuns(): PlannedRun[] {
    return runsUntil(this.#plan, (hash) =>
      this.#running.has(hash) ? Number.POSITIVE_INFINITY : (this.#state.rounds[hash] ?? 0),
    );
  }

  #finish(why: NonNullable<AdaptiveState["ended"]>["why"]): Promise<void> {
    const { concluded = [], not_concluded = [] } = this.#decision ?? {};
    this.#state.ended = { round: this.#state.looked, why, concluded, not_concluded };
    return this.#options.save();
  }
}
