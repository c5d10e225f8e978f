import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { BenchError, EXIT, messageOf } from "../contract/errors.js";
import type { Plan } from "../contract/plan.js";
import type { PluginFacts } from "../contract/plugins.js";
import type { Result } from "../contract/result.js";
import type { Runtime } from "../runtimes/types.js";
import { Aborted, pause, unlessAborted } from "./abort.js";
import { PartFailed } from "./cast.js";
import { type Journal, lineLog } from "./journal.js";
import type { Lease } from "./lease.js";
import { checkPlugins } from "./plugins.js";
import { type Belonging, describeResult, failureOf, recordOf } from "./records.js";
import type { Request } from "./request.js";
import { writeWhole } from "./results-dir.js";
import { executeRun, type RunListener } from "./run.js";
import type { ExternalStore } from "./store-of-run.js";

type PlannedRun = Plan["runs"][number];

export interface RunOutcome {
  file: string;
  status: "valid" | "suspect" | "invalid" | "failed";
}

export interface RecorderOptions {
  campaign: string;
  folder: string;
  plan: Plan;
  runtime: Runtime;
  lease: Lease;
  journal: Journal;
  signal: AbortSignal;
  request: Request;
  /** The store that the user already runs, instead of our own. */
  external: ExternalStore | undefined;
  /** What the campaign began with; absent without any. */
  plugins?: readonly PluginFacts[];
}

/** Works through the plan and saves run by run: what was measured stays, whatever happens to the next run. */
export class Recorder {
  readonly #options: RecorderOptions;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** @throws Aborted, after the run under way was recorded as aborted; BenchError when the first run cannot start */
  async recordAll(): Promise<RunOutcome[]> {
    const { plan, signal } = this.#options;
    const outcomes: RunOutcome[] = [];
    for (const [index, planned] of plan.runs.entries()) {
      if (index > 0) await pause(signal, this.#cooldownS(plan.runs[index - 1], planned));
      outcomes.push(await this.#record(planned, index));
    }
    return outcomes;
  }

  async #record(planned: PlannedRun, index: number): Promise<RunOutcome> {
    const { plan, journal } = this.#options;
    const belonging = this.#belonging(planned);
    const { target, workload, traffic, load } = belonging.planned.configuration;
    const what = `${target.label}, ${workload.id}, ${traffic}, ${load.connections} connections`;
    const round = `run ${planned.run} of ${plan.runs_per_configuration}`;
    journal.stamp(`[${index + 1}/${plan.runs.length}] ${what}, ${round}`);
    const startedAt = new Date();
    let result: Result;
    try {
      result = await this.#measure(planned, belonging);
    } catch (error) {
      if (error instanceof Aborted) {
        await this.#save(
          planned,
          failureOf(belonging, "aborted", startedAt, { role: "campaign", text: error.message }),
        );
        throw error;
      }
      // Before anything was measured, a machine that is not fit is the user's to mend, not a failed run.
      if (index === 0 && error instanceof BenchError && error.exitCode === EXIT.environment) throw error;
      if (!(error instanceof BenchError || error instanceof PartFailed)) {
        journal.note(error instanceof Error ? (error.stack ?? error.message) : String(error));
      }
      const role = error instanceof PartFailed ? error.role : "harness";
      result = failureOf(belonging, "failed", startedAt, { role, text: messageOf(error) });
    }
    const saved = (await this.#save(planned, result)) && (await this.#copy(planned));
    journal.stamp(`  ${describeResult(result)}`);
    const status = result.status === "measured" && saved ? result.verdict.status : "failed";
    return { file: planned.file, status };
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
    const path = join(this.#options.folder, planned.file);
    try {
      await writeWhole(path, `${JSON.stringify(result)}\n`);
      return true;
    } catch (error) {
      this.#options.journal.warn(`${path} could not be written: ${messageOf(error)}`);
      return false;
    }
  }

  /** @returns whether the result also stands where the user wants a copy of it */
  async #copy({ file }: PlannedRun): Promise<boolean> {
    const { folder, journal, request } = this.#options;
    if (!request.outputFile) return true;
    try {
      await copyFile(join(folder, file), request.outputFile);
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
    const { folder, journal } = this.#options;
    const append = lineLog(join(folder, `${planned.file}.log`));
    return {
      phase: (text) => journal.note(`  ${text}`),
      progress: () => {},
      log: (role, line) => append(`${new Date().toISOString()} ${role}: ${line}`),
    };
  }

  #cooldownS(before: PlannedRun | undefined, next: PlannedRun): number {
    const { plan } = this.#options;
    const client = (run: PlannedRun | undefined) =>
      run && this.#belonging(run).planned.configuration.target.client;
    const changes = plan.order === "consecutive" && client(before) !== client(next);
    return changes ? plan.client_cooldown_s : plan.cooldown_s;
  }
}
