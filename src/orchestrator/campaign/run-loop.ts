import { join, resolve } from "node:path";
import { BenchError, EXIT, messageOf } from "../../contract/errors.js";
import type { HostSpeed, RunHostSpeed } from "../../contract/host-speed.js";
import { isProgramLayer } from "../../contract/layers.js";
import { isCounted, type Plan, roundOf } from "../../contract/plan.js";
import type { PluginFacts } from "../../contract/plugins.js";
import { type HostLoad, hasFigures, type Result } from "../../contract/result.js";
import type { PartFaults, Runtime } from "../../runtimes/types.js";
import { ALL_RUNS, type RunSelection } from "../adaptive/rounds.js";
import type { Checksums } from "../files/checksums.js";
import { writeAtomically } from "../files/results-folder.js";
import { Aborted, abortable, pause } from "../ownership/abort.js";
import type { Lease } from "../ownership/lease.js";
import { cooldownS } from "../plan/estimate.js";
import type { Request } from "../request/request.js";
import type { Progress } from "../run/campaign-progress.js";
import type { ExternalStore } from "../run/layout.js";
import { moduleFiles } from "../run/module-files.js";
import { PartFailed } from "../run/part-supervisor.js";
import { checkPlugins } from "../run/plugins.js";
import { executeProgramRun } from "../run/program-run.js";
import {
  failureDocument,
  measuredDocument,
  printedDocument,
  type RunIdentity,
  type RunOutcome,
} from "../run/result-documents.js";
import { executeRun, type MachinesOfRun, type RunListener } from "../run/run.js";
import { type EventLog, lineLog } from "../ui/event-log.js";
import { type CampaignMachines, speedsOf } from "./machines.js";

type PlannedRun = Plan["runs"][number];

interface RunLoopOptions {
  campaign: string;
  folder: string;
  plan: Plan;
  runtime: Runtime;
  lease: Lease;
  eventLog: EventLog;
  progress: Progress;
  signal: AbortSignal;
  request: Request;
  /** The store that the user already runs. */
  external: ExternalStore | undefined;
  /** Those that the campaign started with. */
  plugins?: readonly PluginFacts[];
  /** Runs that an earlier session has completed, by result file. */
  completed: ReadonlyMap<string, RunOutcome>;
  checksums: Checksums;
  /** Measures the speed of this machine; absent where the runs take place on another one. */
  hostSpeed?: { measure(): Promise<HostSpeed> };
  /** Absent where the runs take place on one machine. */
  machines?: CampaignMachines;
  /** What the runtime can do to its parts; absent where no run has a fault. */
  partFaults?: PartFaults;
  /** Which runs of the plan are needed; by default all. */
  selection?: RunSelection;
}

/** Makes the runs of the plan and saves each result at once, so that a later failure loses nothing. */
export class RunLoop {
  readonly #options: RunLoopOptions;
  #probeFailed = false;

  constructor(options: RunLoopOptions) {
    this.#options = options;
  }

  /**
   * @returns the outcomes of the runs that count, and of diagnosing runs that failed
   * @throws Aborted, after the run under way was recorded as aborted; BenchError when the first run cannot start
   */
  async runAll(): Promise<RunOutcome[]> {
    const { plan, signal, completed, progress, selection = ALL_RUNS } = this.#options;
    const outcomes: RunOutcome[] = [];
    let before: PlannedRun | undefined;
    for (const planned of plan.runs) {
      // The diagnosing runs come last: what is decided about the others does not wait for them.
      if (planned.diagnose) await selection.end();
      else if (!(await selection.isNeeded(planned))) continue;
      const measured = completed.get(planned.file);
      if (measured) {
        progress.kept(planned, measured);
        if (saysHowItEnded(planned, measured)) outcomes.push(measured);
        continue;
      }
      const pauseS = before ? this.#cooldownS(before, planned) : 0;
      if (before) {
        progress.cooldown(pauseS);
        await pause(signal, pauseS);
      }
      const outcome = await this.#makeRun(planned, before === undefined);
      if (!planned.diagnose) await selection.finished(outcome, pauseS);
      if (saysHowItEnded(planned, outcome)) outcomes.push(outcome);
      before = planned;
    }
    await selection.end();
    return outcomes;
  }

  async #makeRun(planned: PlannedRun, isFirst: boolean): Promise<RunOutcome> {
    const { eventLog, progress } = this.#options;
    const identity = this.#identity(planned);
    progress.started(planned);
    const startedAt = new Date();
    let result: Result;
    try {
      result = await this.#measure(planned, identity);
    } catch (error) {
      if (error instanceof Aborted) {
        const role = "campaign";
        const aborted = failureDocument(identity, "aborted", startedAt, { role, text: error.message });
        progress.finished(planned, aborted, await this.#save(planned, aborted));
        throw error;
      }
      // In the first run an unfit machine is for the user to fix; it is not a failed run.
      if (isFirst && error instanceof BenchError && error.exitCode === EXIT.environment) throw error;
      if (!(error instanceof BenchError || error instanceof PartFailed)) {
        eventLog.detail(error instanceof Error ? (error.stack ?? error.message) : String(error));
      }
      const role = error instanceof PartFailed ? error.role : "harness";
      result = failureDocument(identity, "failed", startedAt, { role, text: messageOf(error) });
    }
    const saved = (await this.#save(planned, result)) && (await this.#copy(result));
    progress.finished(planned, result, saved);
    const seconds = (Date.now() - startedAt.getTime()) / 1000;
    const { configuration } = identity.planned;
    const run = { file: planned.file, configuration, seconds };
    if (!hasFigures(result) || !saved) return { ...run, status: "failed" };
    const { verdict, outcome } = result;
    return { ...run, status: verdict.status, ...(outcome === undefined ? {} : { outcome }) };
  }

  async #measure(planned: PlannedRun, identity: RunIdentity): Promise<Result> {
    const { plan, runtime, lease, signal, request, external, partFaults } = this.#options;
    const settings = {
      configuration: identity.planned.configuration,
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
    const listener = this.#listener(planned);
    const before = await this.#hostSpeed();
    const machines = await this.#machinesBefore();
    const { layer, target } = settings.configuration;
    if (isProgramLayer(layer) || target.program !== undefined) {
      const printed = await abortable(signal, executeProgramRun(settings, runtime, lease, listener));
      // A load program's result has no speed of the host.
      const since = target.program === undefined ? await this.#since(before, printed) : {};
      return printedDocument(identity, { ...printed, ...since, ...(await machines(printed)) });
    }
    const raw = await abortable(
      signal,
      executeRun(settings, runtime, lease, listener, this.#options.machines),
    );
    checkPlugins(identity.plugins ?? [], raw.result);
    const found = { ...(await this.#since(before, raw)), ...(await machines(raw)) };
    return measuredDocument(identity, { ...raw, ...found });
  }

  /**
   * What several machines add to a run that begins now.
   * @returns gives it, once the run's parts have ended
   */
  async #machinesBefore(): Promise<(run: MachinesOfRun) => Promise<MachinesOfRun>> {
    const { machines, signal } = this.#options;
    if (!machines) return async () => ({});
    const before = await abortable(signal, machines.speed());
    return async ({ placement = {} }) => {
      const links = machines.linksOf(placement);
      const machine_speed = speedsOf(before, await abortable(signal, machines.speed()), placement);
      return { links, ...(Object.keys(machine_speed).length > 0 ? { machine_speed } : {}) };
    };
  }

  /** The speed of the host around a run whose parts have ended; empty where it is not known. */
  async #since(
    before: HostSpeed | undefined,
    { host_load }: { host_load?: HostLoad | undefined },
  ): Promise<{ host_speed?: RunHostSpeed }> {
    // Containers whose counters this machine does not see may run anywhere, also under the same kernel.
    if (!before || (this.#options.runtime.engine && !host_load)) return {};
    const after = await this.#hostSpeed();
    return after ? { host_speed: { before, after } } : {};
  }

  /** Undefined where it is not known. A probe that fails costs the facts about the host, and no run. */
  async #hostSpeed(): Promise<HostSpeed | undefined> {
    const { hostSpeed, eventLog, signal } = this.#options;
    if (!hostSpeed || this.#probeFailed) return undefined;
    try {
      return await abortable(signal, hostSpeed.measure());
    } catch (error) {
      if (error instanceof Aborted) throw error;
      this.#probeFailed = true;
      eventLog.warn(`the speed of the host is not measured any more: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** @returns whether the result could be written; a full disk fails only this run */
  async #save(planned: PlannedRun, result: Result): Promise<boolean> {
    const { folder, checksums } = this.#options;
    const path = join(folder, planned.file);
    try {
      await writeAtomically(path, textOf(result));
      await checksums.add(planned.file, textOf(result));
      return true;
    } catch (error) {
      this.#options.eventLog.warn(`${path} could not be written: ${messageOf(error)}`);
      return false;
    }
  }

  /** Writes the copy that OUTPUT_FILE requests. @returns whether that succeeded */
  async #copy(result: Result): Promise<boolean> {
    const { eventLog, request } = this.#options;
    if (!request.outputFile) return true;
    try {
      await writeAtomically(resolve(request.outputFile), textOf(result));
      return true;
    } catch (error) {
      eventLog.warn(`OUTPUT_FILE ${request.outputFile} could not be written: ${messageOf(error)}`);
      return false;
    }
  }

  #identity({ configuration_hash, run, diagnose }: PlannedRun): RunIdentity {
    const { plan, campaign, runtime, request, plugins = [] } = this.#options;
    const planned = plan.configurations.find(({ hash }) => hash === configuration_hash);
    if (!planned) throw new Error(`the plan has a run of an unknown configuration ${configuration_hash}`);
    return { campaign, planned, run, runtime, caps: request.caps, plugins, diagnose };
  }

  #listener(planned: PlannedRun): RunListener {
    const { folder, eventLog, progress } = this.#options;
    const append = lineLog(join(folder, `${planned.file}.log`), (text) => eventLog.warn(text));
    return progress.listener(planned, (role, line) => append(`${new Date().toISOString()} ${role}: ${line}`));
  }

  #cooldownS(before: PlannedRun, next: PlannedRun): number {
    const configurationOf = (run: PlannedRun) => this.#identity(run).planned.configuration;
    return cooldownS(this.#options.plan, configurationOf(before), configurationOf(next));
  }
}

/** Whether a run says how the campaign ended: of those that do not count, a diagnosing run that failed. */
const saysHowItEnded = (planned: PlannedRun, { status }: RunOutcome): boolean =>
  isCounted(planned) || (planned.diagnose === true && status === "failed");

const textOf = (result: Result): string => `${JSON.stringify(result)}\n`;
