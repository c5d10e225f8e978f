import { join, resolve } from "node:path";
import { BenchError, EXIT, messageOf } from "../../contract/errors.js";
import type { Plan } from "../../contract/plan.js";
import type { PluginFacts } from "../../contract/plugins.js";
import type { Result } from "../../contract/result.js";
import type { Runtime } from "../../runtimes/types.js";
import { ALL_RUNS, type Choice } from "../adaptive/rounds.js";
import type { Checksums } from "../files/checksums.js";
import { writeWhole } from "../files/results-folder.js";
import { Aborted, pause, unlessAborted } from "../ownership/abort.js";
import type { Lease } from "../ownership/lease.js";
import type { Request } from "../request/request.js";
import { PartFailed } from "../run/part-supervisor.js";
import { checkPlugins } from "../run/plugins.js";
import type { Progress } from "../run/progress.js";
import type { RunOutcome } from "../run/result-documents.js";
import { type Belonging, failureOf, recordOf } from "../run/result-documents.js";
import { executeRun, type RunListener } from "../run/run.js";
import type { ExternalStore } from "../run/store.js";
import { type Journal, lineLog } from "../ui/event-log.js";

type PlannedRun = Plan["runs"][number];

export interface RecorderOptions {
  campaign: string;
  folder: string;
  plan: Plan;
  runtime: Runtime;
  lease: Lease;
  journal: Journal;
  progress: Progress;
  signal: AbortSignal;
  request: Request;
  /** The store that the user already runs, instead of our own. */
  external: ExternalStore | undefined;
  /** What the campaign began with; absent without any. */
  plugins?: readonly PluginFacts[];
  /** Runs that an earlier session has measured, by result file. */
  there: ReadonlyMap<string, RunOutcome>;
  checksums: Checksums;
  /** Which runs of the plan are needed; all of them where it is absent. */
  choice?: Choice;
}

/** Works through the plan and saves run by run: what was measured stays, whatever happens to the next run. */
export class Recorder {
  readonly #options: RecorderOptions;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** @throws Aborted, after the run under way was recorded as aborted; BenchError when the first run cannot start */
  async recordAll(): Promise<RunOutcome[]> {
    const { plan, signal, there, progress, choice = ALL_RUNS } = this.#options;
    const outcomes: RunOutcome[] = [];
    let before: PlannedRun | undefined;
    for (const planned of plan.runs) {
      if (!(await choice.wants(planned))) continue;
      const measured = there.get(planned.file);
      if (measured) {
        progress.kept(planned, measured.status);
        outcomes.push(measured);
        continue;
      }
      const pauseS = before ? this.#cooldownS(before, planned) : 0;
      if (before) {
        progress.cooldown(pauseS);
        await pause(signal, pauseS);
      }
      const outcome = await this.#record(planned, before === undefined);
      await choice.took(outcome, pauseS);
      outcomes.push(outcome);
      before = planned;
    }
    await choice.end();
    return outcomes;
  }

  async #record(planned: PlannedRun, isFirst: boolean): Promise<RunOutcome> {
    const { journal, progress } = this.#options;
    const belonging = this.#belonging(planned);
    progress.started(planned);
    const startedAt = new Date();
    let result: Result;
    try {
      result = await this.#measure(planned, belonging);
    } catch (error) {
      if (error instanceof Aborted) {
        const role = "campaign";
        const aborted = failureOf(belonging, "aborted", startedAt, { role, text: error.message });
        progress.finished(planned, aborted, await this.#save(planned, aborted));
        throw error;
      }
      // Before anything was measured, a machine that is not fit is the user's to mend, not a failed run.
      if (isFirst && error instanceof BenchError && error.exitCode === EXIT.environment) throw error;
      if (!(error instanceof BenchError || error instanceof PartFailed)) {
        journal.note(error instanceof Error ? (error.stack ?? error.message) : String(error));
      }
      const role = error instanceof PartFailed ? error.role : "harness";
      result = failureOf(belonging, "failed", startedAt, { role, text: messageOf(error) });
    }
    const saved = (await this.#save(planned, result)) && (await this.#copy(result));
    progress.finished(planned, result, saved);
    const status = result.status === "measured" && saved ? result.verdict.status : "failed";
    const seconds = (Date.now() - startedAt.getTime()) / 1000;
    return { file: planned.file, status, configuration: belonging.planned.configuration, seconds };
  }

  async #measure(planned: PlannedRun, belonging: Belonging): Promise<Result> {
    const { plan, runtime, lease, signal, request, external } = this.#options;
    const raw = await unlessAborted(
      signal,
      executeRun(
        {
          configuration: belonging.planned.configuration,
          run: planned.run,
          seed: (plan.seed + planned.run) % 4_294_967_296,
          warmupS: plan.warmup_s,
          workers: request.workers,
          caps: request.caps,
          ...(external ? { external } : {}),
        },
        runtime,
        lease,
        this.#listener(planned),
      ),
    );
    checkPlugins(belonging.plugins ?? [], raw.result);
    return recordOf(belonging, raw);
  }

  /** @returns whether it could be written; a full disk fails this run and leaves the others alone */
  async #save(planned: PlannedRun, result: Result): Promise<boolean> {
    const { folder, checksums } = this.#options;
    const path = join(folder, planned.file);
    try {
      await writeWhole(path, textOf(result));
      await checksums.add(planned.file, textOf(result));
      return true;
    } catch (error) {
      this.#options.journal.warn(`${path} could not be written: ${messageOf(error)}`);
      return false;
    }
  }

  /** @returns whether the result also stands where the user wants a copy of it */
  async #copy(result: Result): Promise<boolean> {
    const { journal, request } = this.#options;
    if (!request.outputFile) return true;
    try {
      await writeWhole(resolve(request.outputFile), textOf(result));
      return true;
    } catch (error) {
      journal.warn(`OUTPUT_FILE ${request.outputFile} could not be written: ${messageOf(error)}`);
      return false;
    }
  }

  #belonging({ configuration_hash, run }: PlannedRun): Belonging {
    const { plan, campaign, runtime, request, plugins = [] } = this.#options;
    const planned = plan.configurations.find(({ hash }) => hash === configuration_hash);
    if (!planned) throw new Error(`the plan has a run of an unknown configuration ${configuration_hash}`);
    return { campaign, planned, run, runtime, caps: request.caps, plugins };
  }

  #listener(planned: PlannedRun): RunListener {
    const { folder, journal, progress } = this.#options;
    const append = lineLog(join(folder, `${planned.file}.log`), (text) => journal.warn(text));
    return progress.listener(planned, (role, line) => append(`${new Date().toISOString()} ${role}: ${line}`));
  }

  #cooldownS(before: PlannedRun, next: PlannedRun): number {
    const { plan } = this.#options;
    const client = (run: PlannedRun) => this.#belonging(run).planned.configuration.target.client;
    const changes = plan.order === "consecutive" && client(before) !== client(next);
    return changes ? plan.client_cooldown_s : plan.cooldown_s;
  }
}

const textOf = (result: Result): string => `${JSON.stringify(result)}\n`;
