import type { Configuration } from "../../contract/configuration.js";
import { isCounted, type PlannedRun, plannedConfiguration, unitsOf } from "../../contract/plan.js";
import type { Result } from "../../contract/result.js";
import { BenchError, EXIT, messageOf } from "../../kit/errors.js";
import { ALL_RUNS, type RunSelection } from "../adaptive/rounds.js";
import { Aborted, pause } from "../ownership/abort.js";
import { cooldownS, diskReason } from "../plan/estimate.js";
import { PartFailed } from "../run/part-supervisor.js";
import {
  failureDocument,
  type RunIdentity,
  type RunOutcome,
  runOutcomeOf,
} from "../run/result-documents.js";
import { type RunEnd, RunMaker, type RunMakerOptions } from "./run-maker.js";
import { SavedResults, type SavedResultsOptions } from "./saved-results.js";

interface RunLoopOptions extends RunMakerOptions, SavedResultsOptions {
  manifest: RunMakerOptions["manifest"] & SavedResultsOptions["manifest"];
  request: RunMakerOptions["request"];
  /** The outcomes of earlier sessions, by result file. */
  completed: ReadonlyMap<string, RunOutcome>;
  selection?: RunSelection;
}

/**
 * Makes the runs of the plan and saves each result at once, so that a later failure loses nothing.
 */
export class RunLoop {
  readonly #options: RunLoopOptions;
  readonly #runs: RunMaker;
  readonly #results: SavedResults;
  /** Whether the loop ended early because nothing more could be written. */
  isOutOfRoom = false;

  constructor(options: RunLoopOptions) {
    this.#options = options;
    this.#runs = new RunMaker(options);
    this.#results = new SavedResults(options);
  }

  /** The outcomes of the runs that count. @throws Aborted, after the run under way was recorded */
  async runAll(): Promise<RunOutcome[]> {
    const { plan, selection = ALL_RUNS } = this.#options;
    const outcomes: RunOutcome[] = [];
    let previous: PlannedRun | undefined;
    for (const unit of unitsOf(plan, plan.runs)) {
      const needed = await this.#neededOf(unit);
      const [first] = needed;
      if (!first) continue;

      const keptOutcomes = this.#keptOf(needed);
      if (keptOutcomes) {
        outcomes.push(...keptOutcomes);
        continue;
      }

      if (previous && (await this.#findNoRoom(needed)))
        return [...outcomes, ...this.#unmeasured(needed)];
      const pauseS = previous ? await this.#coolDown(previous, first) : 0;
      outcomes.push(...(await this.#measure(needed, pauseS, previous === undefined)));
      previous = first;
    }
    await selection.end();
    return outcomes;
  }

  async #neededOf(unit: readonly PlannedRun[]): Promise<PlannedRun[]> {
    const { selection = ALL_RUNS } = this.#options;
    const needed: PlannedRun[] = [];
    for (const planned of unit) {
      if (planned.diagnose) {
        // Diagnosing runs come last, so that decisions about the others do not wait for them.
        await selection.end();
        needed.push(planned);
      } else if (await selection.isNeeded(planned)) needed.push(planned);
    }
    return needed;
  }

  /**
   * The outcomes of runs that an earlier session has measured; undefined unless it has measured all
   * of them. The runs of a group are made again together.
   */
  #keptOf(needed: readonly PlannedRun[]): RunOutcome[] | undefined {
    const { completed, progress } = this.#options;
    if (!needed.every(({ file }) => completed.has(file))) return undefined;
    const outcomes: RunOutcome[] = [];
    for (const planned of needed) {
      const outcome = completed.get(planned.file);
      if (!outcome) continue;
      progress.kept(planned, outcome);
      if (saysHowItEnded(planned, outcome)) outcomes.push(outcome);
    }
    return outcomes;
  }

  async #measure(
    needed: readonly PlannedRun[],
    pauseS: number,
    isFirst: boolean,
  ): Promise<RunOutcome[]> {
    const { selection = ALL_RUNS } = this.#options;
    const outcomes = await this.#makeRuns(needed, isFirst);
    const counted: RunOutcome[] = [];
    for (const [index, planned] of needed.entries()) {
      const outcome = outcomes[index];
      if (!outcome) continue;
      if (!planned.diagnose) await selection.finished(outcome, index === 0 ? pauseS : 0);
      if (saysHowItEnded(planned, outcome)) counted.push(outcome);
    }
    return counted;
  }

  /**
   * Finds out whether nothing more can be measured, because no result could be written or no part
   * put on record.
   */
  async #findNoRoom(next: readonly PlannedRun[]): Promise<boolean> {
    const { plan, folder, eventLog } = this.#options;
    const noDiskReason = await diskReason({ ...plan, runs: [...next] }, folder);
    const reason = noDiskReason ?? (await this.#noRecordReason());
    if (reason === undefined) return false;
    eventLog.warn(`${reason}; what was measured is reported, and --resume measures the rest`);
    this.isOutOfRoom = true;
    return true;
  }

  async #noRecordReason(): Promise<string | undefined> {
    try {
      await this.#options.lease.update({});
      return undefined;
    } catch (error) {
      return `what is started cannot be recorded in the state folder: ${messageOf(error)}`;
    }
  }

  #unmeasured(runs: readonly PlannedRun[]): RunOutcome[] {
    return runs.map((planned) => ({
      file: planned.file,
      configuration: this.#configuration(planned),
      seconds: 0,
      status: "failed",
    }));
  }

  /** Waits for the pause between two runs. @returns its seconds */
  async #coolDown(previous: PlannedRun, next: PlannedRun): Promise<number> {
    const { plan, progress, signal } = this.#options;
    const seconds = cooldownS(plan, this.#configuration(previous), this.#configuration(next));
    progress.cooldown(seconds);
    await pause(signal, seconds);
    return seconds;
  }

  /** Makes one run, or the runs of a group at the same time. @returns their outcomes, in order */
  async #makeRuns(planned: readonly PlannedRun[], isFirst: boolean): Promise<RunOutcome[]> {
    const { progress } = this.#options;
    if (planned.length > 1) await this.#results.setAside(planned);
    progress.started(planned);
    const began = { at: new Date(), ms: performance.now() };
    const ends = await this.#runs.make(planned);

    // Ctrl-C ends all runs of a group, even those that already had their result.
    const aborted = ends.find((end) => "error" in end && end.error instanceof Aborted);
    const outcomes: RunOutcome[] = [];
    for (const [index, end] of ends.entries()) {
      const run = planned[index];
      if (run) outcomes.push(await this.#record(run, aborted ?? end, began, isFirst));
    }
    progress.ended(planned);
    if (aborted && "error" in aborted) throw aborted.error;

    // The time of a group is shared by its runs.
    return outcomes.map((outcome) => ({ ...outcome, seconds: outcome.seconds / outcomes.length }));
  }

  async #record(
    planned: PlannedRun,
    end: RunEnd,
    began: Moment,
    isFirst: boolean,
  ): Promise<RunOutcome> {
    const { progress } = this.#options;
    const identity = this.#runs.identity(planned);
    const result =
      "result" in end ? end.result : this.#failure(end.error, identity, began.at, isFirst);
    const isSaved = await this.#results.save(planned, result);
    progress.finished(planned, result, isSaved);

    const seconds = (performance.now() - began.ms) / 1000;
    const { configuration } = identity.planned;
    const run = { file: planned.file, configuration, seconds };
    return isSaved ? runOutcomeOf(result, run) : { ...run, status: "failed" };
  }

  #failure(error: unknown, identity: RunIdentity, startedAt: Date, isFirst: boolean): Result {
    if (error instanceof Aborted) {
      const failure = { role: "campaign", text: error.message };
      return failureDocument(identity, "aborted", startedAt, failure);
    }
    // An unfit machine in the first run is for the user to fix, and is not a failed run.
    if (isFirst && error instanceof BenchError && error.exitCode === EXIT.environment) throw error;
    if (!(error instanceof BenchError || error instanceof PartFailed)) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#options.eventLog.detail(text);
    }
    const role = error instanceof PartFailed ? error.role : "harness";
    return failureDocument(identity, "failed", startedAt, { role, text: messageOf(error) });
  }

  #configuration({ configuration_hash }: PlannedRun): Configuration {
    return plannedConfiguration(this.#options.plan, configuration_hash).configuration;
  }
}

/**
 * Whether a run decides how the campaign ended. Runs that count do, and so does a diagnosing run
 * that failed.
 */
const saysHowItEnded = (planned: PlannedRun, { status }: RunOutcome): boolean =>
  isCounted(planned) || (planned.diagnose === true && status === "failed");

/** A moment by the wall clock, for readers, and by the monotonic clock, to measure durations. */
type Moment = { at: Date; ms: number };
