import { mkdir, rename } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Configuration } from "../../contract/configuration.js";
import { isProgramLayer } from "../../contract/layers.js";
import type { Manifest } from "../../contract/manifest.js";
import {
  isCounted,
  type Plan,
  type PlannedRun,
  plannedConfiguration,
  roundOf,
  unitsOf,
} from "../../contract/plan.js";
import type { PluginFacts } from "../../contract/plugins.js";
import type { Result } from "../../contract/result.js";
import { BenchError, EXIT, messageOf } from "../../kit/errors.js";
import type { PartFaults, Runtime } from "../../runtimes/runtime-types.js";
import { ALL_RUNS, type RunSelection } from "../adaptive/rounds.js";
import type { Checksums } from "../files/checksums.js";
import { writeAtomically } from "../files/results-folder.js";
import { Aborted, abortable, pause } from "../ownership/abort.js";
import type { Lease } from "../ownership/lease.js";
import { cooldownS, diskReason } from "../plan/estimate.js";
import { moduleFiles } from "../plan/module-files.js";
import type { Request } from "../request/request.js";
import { executeRound, type RoundEnd, type RoundMember } from "../run/execute-round.js";
import {
  executeRun,
  type MachinesOfRun,
  type RawRun,
  type RunListener,
} from "../run/execute-run.js";
import type { ExternalStore } from "../run/layout.js";
import { PartFailed } from "../run/part-supervisor.js";
import { executeProgramRun } from "../run/program-run.js";
import {
  failureDocument,
  measuredDocument,
  printedDocument,
  type RunIdentity,
  type RunOutcome,
  runOutcomeOf,
} from "../run/result-documents.js";
import { type EventLog, lineLog } from "../ui/event-log.js";
import type { CampaignMachines } from "./campaign-machines.js";
import type { Progress } from "./campaign-progress.js";
import { checkPlugins } from "./used-plugins.js";

interface RunLoopOptions {
  campaign: string;
  folder: string;
  plan: Plan;
  /** Gets the lengths of turns, once they are found. */
  manifest: Pick<Manifest, "turns" | "set_aside">;
  runtime: Runtime;
  lease: Lease;
  eventLog: EventLog;
  progress: Progress;
  signal: AbortSignal;
  request: Request;
  external: ExternalStore | undefined;
  /** Those that the campaign started with. */
  plugins?: readonly PluginFacts[];
  completed: ReadonlyMap<string, RunOutcome>;
  checksums: Checksums;
  machines?: CampaignMachines;
  partFaults?: PartFaults;
  selection?: RunSelection;
}

/**
 * Makes the runs of the plan and saves each result at once, so that a later failure loses nothing.
 */
export class RunLoop {
  readonly #options: RunLoopOptions;
  /** Whether it ended early because nothing more could be written. */
  lacksRoom = false;

  constructor(options: RunLoopOptions) {
    this.#options = options;
  }

  /** The outcomes of the runs that count. @throws Aborted, after the run under way was recorded */
  async runAll(): Promise<RunOutcome[]> {
    const { plan, signal, completed, progress, selection = ALL_RUNS } = this.#options;
    const outcomes: RunOutcome[] = [];
    let before: PlannedRun | undefined;
    for (const unit of unitsOf(plan, plan.runs)) {
      const needed: PlannedRun[] = [];
      for (const planned of unit) {
        // The diagnosing runs come last: what is decided about the others does not wait for them.
        if (planned.diagnose) await selection.end();
        else if (!(await selection.isNeeded(planned))) continue;
        needed.push(planned);
      }
      const [first] = needed;
      if (!first) continue;
      // The runs of a group were made at the same time, or are made again together.
      const kept = needed.flatMap((planned) => completed.get(planned.file) ?? []);
      if (kept.length === needed.length) {
        for (const [index, planned] of needed.entries()) {
          const measured = kept[index];
          if (!measured) continue;
          progress.kept(planned, measured);
          if (saysHowItEnded(planned, measured)) outcomes.push(measured);
        }
        continue;
      }
      if (before && (await this.#findNoRoom(needed)))
        return [...outcomes, ...this.#unmeasured(needed)];
      const pauseS = before ? this.#cooldownS(before, first) : 0;
      if (before) {
        progress.cooldown(pauseS);
        await pause(signal, pauseS);
      }
      const made = await this.#makeRuns(needed, before === undefined);
      for (const [index, outcome] of made.entries()) {
        const planned = needed[index] ?? first;
        if (!planned.diagnose) await selection.finished(outcome, index === 0 ? pauseS : 0);
        if (saysHowItEnded(planned, outcome)) outcomes.push(outcome);
      }
      before = first;
    }
    await selection.end();
    return outcomes;
  }

  /**
   * Finds out whether nothing more can be measured, as nothing of it could be written or put on
   * record.
   */
  async #findNoRoom(next: readonly PlannedRun[]): Promise<boolean> {
    const { plan, folder, lease, eventLog } = this.#options;
    const reason =
      (await diskReason({ ...plan, runs: [...next] }, folder)) ??
      (await lease.update({}).then(
        () => undefined,
        (error) => `what is started cannot be recorded in the state folder: ${messageOf(error)}`,
      ));
    if (reason === undefined) return false;
    eventLog.warn(`${reason}; what was measured is reported, and --resume measures the rest`);
    this.lacksRoom = true;
    return true;
  }

  #unmeasured(runs: readonly PlannedRun[]): RunOutcome[] {
    return runs.map((planned) => {
      const { configuration } = this.#identity(planned).planned;
      return { file: planned.file, configuration, seconds: 0, status: "failed" };
    });
  }

  /** Makes one run, or those of a group at the same time. @returns their outcomes, in order */
  async #makeRuns(planned: readonly PlannedRun[], isFirst: boolean): Promise<RunOutcome[]> {
    const { progress } = this.#options;
    if (planned.length > 1) await this.#setAside(planned);
    progress.started(planned);
    const began = { at: new Date(), ms: performance.now() };
    const [first] = planned;
    const ends: RunEnd[] =
      first && planned.length === 1
        ? [await settled(this.#measure(first, this.#identity(first)))]
        : await this.#measureRound(planned);
    const aborted = ends.find((end) => "error" in end && end.error instanceof Aborted);
    const outcomes: RunOutcome[] = [];
    for (const [index, end] of ends.entries()) {
      const run = planned[index];
      if (run) outcomes.push(await this.#record(run, aborted ?? end, began, isFirst));
    }
    progress.ended(planned);
    if (aborted && "error" in aborted) throw aborted.error;
    // Each has its share of the time.
    return outcomes.map((outcome) => ({ ...outcome, seconds: outcome.seconds / outcomes.length }));
  }

  async #record(
    planned: PlannedRun,
    end: RunEnd,
    began: Moment,
    isFirst: boolean,
  ): Promise<RunOutcome> {
    const { progress } = this.#options;
    const identity = this.#identity(planned);
    const { configuration } = identity.planned;
    const result =
      "result" in end ? end.result : this.#failure(end.error, identity, began.at, isFirst);
    const saved = await this.#save(planned, result);
    progress.finished(planned, result, saved);
    const seconds = (performance.now() - began.ms) / 1000;
    const run = { file: planned.file, configuration, seconds };
    return saved ? runOutcomeOf(result, run) : { ...run, status: "failed" };
  }

  #failure(error: unknown, identity: RunIdentity, startedAt: Date, isFirst: boolean): Result {
    if (error instanceof Aborted)
      return failureDocument(identity, "aborted", startedAt, {
        role: "campaign",
        text: error.message,
      });
    // In the first run an unfit machine is for the user to fix; it is not a failed run.
    if (isFirst && error instanceof BenchError && error.exitCode === EXIT.environment) throw error;
    if (!(error instanceof BenchError || error instanceof PartFailed))
      this.#options.eventLog.detail(
        error instanceof Error ? (error.stack ?? error.message) : String(error),
      );
    const role = error instanceof PartFailed ? error.role : "harness";
    return failureDocument(identity, "failed", startedAt, { role, text: messageOf(error) });
  }

  #settings(planned: PlannedRun, configuration: Configuration): RoundMember["request"] {
    const { plan, request, external, partFaults } = this.#options;
    return {
      configuration,
      // All configurations of a round meet the same requests.
      seed: (plan.seed + roundOf(planned)) % 4_294_967_296,
      warmupS: plan.warmup_s,
      workers: request.workers,
      caps: request.caps,
      modules: moduleFiles(request),
      ...(partFaults ? { partFaults } : {}),
      ...(external ? { external } : {}),
      ...(planned.diagnose ? { diagnose: planned.diagnose } : {}),
    };
  }

  /**
   * A round is measured as a whole: what an earlier session left of it enters no figure, and is
   * kept.
   */
  async #setAside(planned: readonly PlannedRun[]): Promise<void> {
    const { folder, checksums, manifest } = this.#options;
    for (const { file } of planned) {
      if (!checksums.has(file)) continue;
      const to = `${ABORTED}/${(manifest.set_aside ?? []).length + 1}-${file}`;
      await mkdir(join(folder, ABORTED), { recursive: true });
      await rename(join(folder, file), join(folder, to)).catch((error) => {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      });
      await checksums.rename(file, to);
      manifest.set_aside = [...(manifest.set_aside ?? []), to];
    }
  }

  async #measureRound(planned: readonly PlannedRun[]): Promise<RunEnd[]> {
    const { plan, runtime, lease, signal, manifest, progress } = this.#options;
    const identities = planned.map((each) => this.#identity(each));
    const listeners = this.#listeners(planned);
    const members = planned.map((each, index) => ({
      request: this.#settings(each, (identities[index] as RunIdentity).planned.configuration),
      listener: listeners[index] as RunListener,
    }));
    const [first] = planned;
    // Those that the first round of this load has found hold for all.
    const [lengths] = planned.flatMap((each) => manifest.turns?.[each.configuration_hash] ?? []);
    const turns = {
      seed: (plan.seed + (first ? 1000 * roundOf(first) + (first.group ?? 0) : 0)) % 4_294_967_296,
      ...(lengths ? { lengths } : {}),
    };
    const show = (role: string, line: string): void => progress.programLine(role, line);
    let ends: RoundEnd[];
    try {
      ends = await abortable(signal, executeRound(members, turns, runtime, lease, show));
    } catch (error) {
      return planned.map(() => ({ error }));
    }
    return ends.map((end, index): RunEnd => {
      if ("error" in end) return end;
      const identity = identities[index] as RunIdentity;
      const { turns: found } = end.raw.result;
      if (found) {
        const { lead_in_ms, slice_ms } = found;
        const { hash } = identity.planned;
        manifest.turns = { [hash]: lengths ?? { lead_in_ms, slice_ms }, ...manifest.turns };
      }
      try {
        return { result: this.#document(identity, end.raw) };
      } catch (error) {
        return { error };
      }
    });
  }

  async #measure(planned: PlannedRun, identity: RunIdentity): Promise<Result> {
    const { runtime, lease, signal } = this.#options;
    const settings = this.#settings(planned, identity.planned.configuration);
    const [listener] = this.#listeners([planned]) as [RunListener];
    const { layer, target } = settings.configuration;
    if (isProgramLayer(layer) || target.program !== undefined) {
      const printed = await abortable(
        signal,
        executeProgramRun(settings, runtime, lease, listener),
      );
      return printedDocument(identity, { ...printed, ...this.#linksOf(printed) });
    }
    const raw = await abortable(
      signal,
      executeRun(settings, runtime, lease, listener, { machines: this.#options.machines }),
    );
    return this.#document(identity, raw);
  }

  #document(identity: RunIdentity, raw: RawRun): Result {
    checkPlugins(identity.plugins ?? [], raw.result);
    return measuredDocument(identity, { ...raw, ...this.#linksOf(raw) });
  }

  #linksOf({ placement = {} }: MachinesOfRun): Pick<MachinesOfRun, "links"> {
    const { machines } = this.#options;
    return machines ? { links: machines.linksOf(placement) } : {};
  }

  /**
   * With the copy for OUTPUT_FILE. @returns whether both could be written; a full disk fails this
   * run alone
   */
  async #save({ file }: PlannedRun, result: Result): Promise<boolean> {
    const { folder, checksums, eventLog, request } = this.#options;
    const { outputFile } = request;
    const text = `${JSON.stringify(result)}\n`;
    let what = join(folder, file);
    try {
      await writeAtomically(what, text);
      await checksums.add(file, text);
      if (outputFile) {
        what = `OUTPUT_FILE ${outputFile}`;
        await writeAtomically(resolve(outputFile), text);
      }
      return true;
    } catch (error) {
      eventLog.warn(`${what} could not be written: ${messageOf(error)}`);
      return false;
    }
  }

  #identity({ configuration_hash, run, diagnose }: PlannedRun): RunIdentity {
    const { plan, campaign, runtime, request, plugins = [] } = this.#options;
    const planned = plannedConfiguration(plan, configuration_hash);
    return { campaign, planned, run, runtime, caps: request.caps, plugins, diagnose };
  }

  #listeners(planned: readonly PlannedRun[]): RunListener[] {
    return this.#options.progress.listeners(
      planned.map((run) => ({ planned: run, log: this.#log(run.file) })),
    );
  }

  /** @returns writes a line of a role to the log of a run */
  #log(file: string): (role: string, line: string) => void {
    const { folder, eventLog } = this.#options;
    const append = lineLog(join(folder, `${file}.log`), (text) => eventLog.warn(text));
    return (role, line) => append(`${new Date().toISOString()} ${role}: ${line}`);
  }

  #cooldownS(before: PlannedRun, next: PlannedRun): number {
    const { plan } = this.#options;
    const configurationOf = ({ configuration_hash }: PlannedRun) =>
      plannedConfiguration(plan, configuration_hash).configuration;
    return cooldownS(plan, configurationOf(before), configurationOf(next));
  }
}

/**
 * Whether a run says how the campaign ended: of those that do not count, a diagnosing run that
 * failed.
 */
const saysHowItEnded = (planned: PlannedRun, { status }: RunOutcome): boolean =>
  isCounted(planned) || (planned.diagnose === true && status === "failed");

/** Folder of the results of rounds that were measured again. */
const ABORTED = "aborted";

/** By the wall clock for who reads it, and by the monotonic one for how long something takes. */
type Moment = { at: Date; ms: number };

type RunEnd = { result: Result } | { error: unknown };

const settled = (run: Promise<Result>): Promise<RunEnd> =>
  run.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
