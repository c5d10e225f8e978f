import type { Readable } from "node:stream";
import { AUTO_WARMUP } from "../../contract/configuration.js";
import type { GeneratorGroup, GeneratorRunSpec } from "../../contract/generator-env.js";
import { isClientLayer } from "../../contract/layers.js";
import type { PluginIdentity } from "../../contract/plugins.js";
import type { Progress } from "../../contract/progress.js";
import type { TurnsSpec } from "../../contract/turns.js";
import { rounded } from "../../kit/numbers.js";
import { ClockComparison } from "../../kit/system-clock.js";
import { pipelineFillsMs } from "../../traffic/turn-order.js";
import type { Driver } from "../drivers/driver.js";
import { loadDriver } from "../drivers/index.js";
import { requireLimits, requireWorkload } from "../generator-run.js";
import { monotonicMs } from "../measurement/clock.js";
import { ReadingWaits } from "../reading-waits.js";
import type { RunsOf, TurnsWindow } from "../workers/protocol.js";
import { type SampleListener, WorkerPool } from "../workers/worker-pool.js";
import { GroupTarget } from "./group-target.js";
import {
  meanLatencyMs,
  type WarmupOfTarget,
  type WorkersOfTarget,
  warmUpByTurns,
} from "./warmup-by-turns.js";

/** What a group has before its workers are connected. */
export interface GroupSetup {
  started_at: Date;
  clocks: ClockComparison;
  driver: Driver;
  targets: readonly GroupTarget[];
}

/** How a group tells others what it does, and learns when it may go on. */
export interface GroupLine {
  report(progress: Progress): void;
  input: Readable;
}

export interface GroupWarmup {
  began_ms: number;
  targets: readonly WarmupOfTarget[];
  /** The mean latency of the slowest target. */
  slowest_ms: number;
  /** Two mean latencies of the slowest target. */
  bins_from_ms: number;
}

/** The targets of a generator that have the load by turns, and the workers that load them. */
export class Group {
  readonly setup: GroupSetup;
  readonly pool: WorkerPool;
  readonly waits: ReadingWaits;
  readonly report: (progress: Progress) => void;
  readonly #turns: TurnsSpec;
  /** What is equal in all runs. */
  readonly #common: GeneratorRunSpec["generator"];

  /** Identifies the target of each list of runs. */
  static async setUp(targets: RunsOf<RunsOf<GeneratorRunSpec>>): Promise<GroupSetup> {
    const started_at = new Date();
    const clocks = new ClockComparison();
    for (const spec of targets.flat()) {
      requireLimits(spec);
      requireWorkload(spec);
    }
    const driver = await loadDriver(targets[0][0].generator.layer);
    const identified = await Promise.all(targets.map(([spec]) => GroupTarget.identify(spec)));
    return { started_at, clocks, driver, targets: identified };
  }

  constructor(
    setup: GroupSetup,
    targets: RunsOf<RunsOf<GeneratorRunSpec>>,
    turns: GeneratorGroup["turns"],
    { report, input }: GroupLine,
    onSample: SampleListener,
  ) {
    this.setup = setup;
    this.report = report;
    this.#turns = turns;
    this.#common = targets[0][0].generator;
    this.pool = new WorkerPool(targets, onSample);
    this.waits = new ReadingWaits(report, input);
  }

  get targets(): readonly GroupTarget[] {
    return this.setup.targets;
  }

  async connect(plugins: readonly PluginIdentity[]): Promise<void> {
    await this.pool.connect();
    await this.waits.at("connected");
    if (!isClientLayer(this.#common.layer)) return;
    for (const target of this.targets) await target.consumeInWorkers(plugins, this.pool);
  }

  async warmUp(): Promise<GroupWarmup> {
    this.report({ event: "phase", phase: "warmup" });
    const began_ms = monotonicMs();
    const targets = await this.#loadOfWarmup();
    const slowest_ms = Math.max(0, ...targets.map(({ measured }) => meanLatencyMs(measured)));
    return { began_ms, targets, slowest_ms, bins_from_ms: pipelineFillsMs(slowest_ms) };
  }

  async #loadOfWarmup(): Promise<WarmupOfTarget[]> {
    if (this.#turns.given) {
      const { warmup_s } = this.#common;
      const keeps = this.#turns.curve ?? false;
      // Whoever gives the turns of a load curve ends them before a target may lose one.
      const longest_s = keeps ? AUTO_WARMUP.max_s : 0;
      const seconds = warmup_s === "auto" ? longest_s : warmup_s;
      const targets = await this.turnsFromInput({ seconds, counts: false, keeps });
      return targets.map((measured) => ({ took_s: secondsOfTurns(measured), measured }));
    }
    return warmUpByTurns(this.#common, this.#turns, this.pool, this.targets.length, async (index) =>
      this.targets[index]?.readDrained(),
    );
  }

  /** The turns of the only target, which the input gives. */
  turnsFromInput(plan: TurnsWindow): Promise<WorkersOfTarget[]> {
    return this.pool.givenTurns(this.waits.turns(), plan, (answers) =>
      this.report({ event: "turn", ...answers }),
    );
  }

  async tearDown(): Promise<void> {
    this.waits.close();
    await this.pool.close();
  }
}

/** The seconds of the slices of a target, which all of its workers have at the same time. */
const secondsOfTurns = (workers: WorkersOfTarget): number =>
  rounded(Math.max(0, ...workers.map(({ turns }) => turns.counted_ms)) / 1000, 3);
