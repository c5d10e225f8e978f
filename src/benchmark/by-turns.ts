import type { Readable } from "node:stream";
import type { GeneratorGroup, GeneratorRunSpec } from "../contract/generator-env.js";
import type { GroupOutput } from "../contract/generator-output.js";
import { isClientLayer } from "../contract/layers.js";
import type { PluginIdentity } from "../contract/plugins.js";
import { BEFORE_LONG_TURNS, BETWEEN_TURNS, type Progress } from "../contract/progress.js";
import type { MeasuredResult } from "../contract/result.js";
import type { Usage } from "../contract/server-api.js";
import type { TurnLengths, TurnsRecord, TurnsSpec } from "../contract/turns.js";
import { halvesOf, levelChangesOf } from "../judge/steadiness.js";
import { definedOnly } from "../kit/defined-only.js";
import { messageOf } from "../kit/errors.js";
import { mean, rounded, sum } from "../kit/numbers.js";
import { ClockComparison } from "../kit/system-clock.js";
import { lengthsFor, longTurns, pipelineFillsMs, secondsOfSlices } from "../traffic/turn-order.js";
import type { Reopened } from "./closed-loop.js";
import type { Driver } from "./drivers/driver.js";
import { loadDriver } from "./drivers/index.js";
import {
  requestCounts,
  requireLimits,
  requireWorkload,
  secondEvent,
  withLeadIn,
} from "./generator-run.js";
import { monotonicMs } from "./measurement/clock.js";
import { type Consumers, readDrained } from "./measurement/consumers.js";
import { generatorAsConsumer } from "./measurement/generator-readings.js";
import { ServerMonitor } from "./measurement/monitor.js";
import type { WorkerSample } from "./measurement/recorder.js";
import { SampleMerger } from "./measurement/samples.js";
import { identifyServers } from "./measurement/server-readings.js";
import { mergeBins } from "./measurement/turn-bins.js";
import { ReadingWaits } from "./reading-waits.js";
import { buildResult } from "./results.js";
import { type TurnsPlan, turnsOfASecond } from "./turn-window.js";
import {
  answersByTurn,
  meanLatencyMs,
  requestsOf,
  type WarmupOfTarget,
  type WorkersOfTarget,
  warmUpByTurns,
} from "./warmup-by-turns.js";
import type { TurnsWindow } from "./workers/protocol.js";
import { WorkerPool } from "./workers/worker-pool.js";

/**
 * A round of a group: set-up, warm-up by turns, window by turns, tear-down. At each drained moment
 * it waits for the line that the counters are read. Where each target has a generator of its own,
 * the group has one member, and the turns come from the input.
 * @throws BenchError
 */
export async function runByTurns(
  group: GeneratorGroup,
  plugins: readonly PluginIdentity[],
  report: (progress: Progress) => void,
  input: Readable,
): Promise<GroupOutput> {
  const round = await GroupRound.setUp(group, report, input);
  try {
    await round.connect(plugins);
    const warmup = await round.warmUp();
    const long = await round.takeLongTurns(warmup);
    const window = await round.measure(warmup);
    return round.outputs(warmup, long, window);
  } finally {
    await round.tearDown();
  }
}

/** What the counters of a target's consumers said at the three drained moments. */
interface Readings {
  at_start: Usage[];
  at_window_open: Usage[];
  at_end: Usage[];
}

/** A target of the group, with its servers and the workers that load it. */
class Member {
  readonly spec: GeneratorRunSpec;
  readonly merger: SampleMerger;
  readonly monitor: ServerMonitor | undefined;
  readonly readings: Readings = { at_start: [], at_window_open: [], at_end: [] };
  consumers: Consumers | undefined;
  /** Why it has no result. */
  failure: string | undefined;

  constructor(spec: GeneratorRunSpec, consumers: Consumers | undefined) {
    const { servers, workers } = spec.generator;
    this.spec = spec;
    this.consumers = consumers;
    this.monitor = consumers && new ServerMonitor(servers.map(({ url }) => url));
    this.merger = new SampleMerger(workers);
  }

  static async identify(spec: GeneratorRunSpec): Promise<Member> {
    const { servers } = spec.generator;
    return new Member(spec, servers.length > 0 ? await identifyServers(servers) : undefined);
  }

  /** Reads the counters of one moment. If a target no longer answers, that target alone fails. */
  async read(
    moment: keyof Readings,
    read: (consumers: Consumers) => Promise<Usage[]>,
  ): Promise<void> {
    if (!this.consumers) return;
    try {
      this.readings[moment] = await read(this.consumers);
    } catch (error) {
      this.failure ??= messageOf(error);
    }
  }

  /** Reads the counters between two cycles of the warm-up; undefined where nothing is read. */
  async readInWarmup(drainMs: number): Promise<Usage[] | undefined> {
    if (!this.consumers) return undefined;
    try {
      return await readDrained(this.consumers, drainMs);
    } catch (error) {
      this.failure ??= messageOf(error);
      return undefined;
    }
  }
}

/** What a round has before its workers are connected. */
interface GroupSetup {
  started_at: Date;
  clocks: ClockComparison;
  driver: Driver;
  members: readonly Member[];
}

interface GroupWarmup {
  began_ms: number;
  targets: readonly WarmupOfTarget[];
  /** Two mean latencies of the slowest target. */
  bins_from_ms: number;
  /** The lengths of the turns in the window. */
  lengths: TurnLengths;
}

interface GroupWindow {
  opened_ms: number;
  lengths: TurnLengths;
  /** What the workers of each target did. */
  measured: WorkersOfTarget[];
}

/** Passes once over the targets of a group, step by step as `runByTurns` describes. */
class GroupRound {
  readonly #started_at: Date;
  readonly #clocks: ClockComparison;
  readonly #driver: Driver;
  readonly #turns: TurnsSpec;
  readonly #members: readonly Member[];
  readonly #common: GeneratorRunSpec["generator"];
  readonly #pool: WorkerPool;
  readonly #waits: ReadingWaits;
  readonly #report: (progress: Progress) => void;

  private constructor(
    { runs, turns }: GeneratorGroup,
    { started_at, clocks, driver, members }: GroupSetup,
    report: (progress: Progress) => void,
    input: Readable,
  ) {
    this.#started_at = started_at;
    this.#clocks = clocks;
    this.#driver = driver;
    this.#members = members;
    this.#turns = turns;
    this.#common = runs[0].generator;
    this.#report = report;
    this.#pool = new WorkerPool(runs, (worker, sample, run) =>
      this.#addSample(worker, sample, run),
    );
    this.#waits = new ReadingWaits(report, input);
  }

  static async setUp(
    group: GeneratorGroup,
    report: (progress: Progress) => void,
    input: Readable,
  ): Promise<GroupRound> {
    const started_at = new Date();
    const clocks = new ClockComparison();
    for (const spec of group.runs) {
      requireLimits(spec);
      requireWorkload(spec);
    }
    const driver = await loadDriver(group.runs[0].generator.layer);
    const members = await Promise.all(group.runs.map((spec) => Member.identify(spec)));
    return new GroupRound(group, { started_at, clocks, driver, members }, report, input);
  }

  async connect(plugins: readonly PluginIdentity[]): Promise<void> {
    await this.#pool.connect();
    await this.#waits.at("connected");
    if (isClientLayer(this.#common.layer))
      for (const member of this.#members)
        member.consumers = await generatorAsConsumer(member.spec, plugins, () => this.#pool.read());
    await this.#readAll("at_start", (consumers) => consumers.read());
  }

  async warmUp(): Promise<GroupWarmup> {
    this.#report({ event: "phase", phase: "warmup" });
    const began_ms = monotonicMs();
    const targets = await this.#loadOfWarmup();
    const slowest_ms = Math.max(0, ...targets.map(({ measured }) => meanLatencyMs(measured)));
    const lengths = this.#turns.lengths ?? lengthsFor(slowest_ms, this.#turns.shortest);
    return { began_ms, targets, bins_from_ms: pipelineFillsMs(slowest_ms), lengths };
  }

  async #loadOfWarmup(): Promise<WarmupOfTarget[]> {
    const { warmup_s, timeout_s } = this.#common;
    if (this.#turns.given) {
      const seconds = warmup_s === "auto" ? 0 : warmup_s;
      const targets = await this.#turnsFromInput({ seconds, counts: false });
      return targets.map((measured) => ({ took_s: secondsOfTurns(measured), measured }));
    }
    return warmUpByTurns(this.#common, this.#turns, this.#pool, this.#members.length, (target) =>
      this.#readInWarmup(target, 1000 * timeout_s),
    );
  }

  async #readInWarmup(target: number, drainMs: number): Promise<Usage[] | undefined> {
    return this.#members[target]?.readInWarmup(drainMs);
  }

  /**
   * Gives each target a long turn, if the round has them (M33).
   * @returns what the workers of each target did
   */
  async takeLongTurns({ bins_from_ms }: GroupWarmup): Promise<WorkersOfTarget[]> {
    const { long, given, seed } = this.#turns;
    if (!long) return [];
    await this.#waits.at(BEFORE_LONG_TURNS);
    const plan = { ...longTurns(seed), counts: false, bins_from_ms };
    return given ? this.#turnsFromInput(plan) : this.#pool.turns(plan);
  }

  async measure({ lengths, bins_from_ms }: GroupWarmup): Promise<GroupWindow> {
    await this.#readAllDrained("at_window_open");
    await this.#waits.at("drained");
    const opened_ms = monotonicMs();
    this.#report({ event: "phase", phase: "measure", opens_in_ms: 0 });
    await this.#readMonitors();
    const seconds = secondsOfSlices(durationOf(this.#common), lengths);
    const measured = this.#turns.given
      ? await this.#turnsFromInput({ seconds, counts: true, bins_from_ms })
      : await this.#turnsOfWindow({ lengths, seconds, counts: true, bins_from_ms });

    await this.#readAllDrained("at_end");
    await this.#waits.at("finished");
    return { opened_ms, lengths, measured };
  }

  #turnsOfWindow(plan: Omit<TurnsPlan, "seed">): Promise<WorkersOfTarget[]> {
    // Another seed than that of the warm-up, so that its order is not repeated.
    const seed = ~this.#turns.seed >>> 0;
    return this.#pool.turns({ ...plan, seed }, async () => {
      await this.#waits.at(BETWEEN_TURNS);
      await this.#readMonitors(secondsOf(plan.lengths));
    });
  }

  /** The turns of the only target, which the input gives. */
  #turnsFromInput(plan: TurnsWindow): Promise<WorkersOfTarget[]> {
    return this.#pool.givenTurns(this.#waits.turns(), plan, (answers) =>
      this.#report({ event: "turn", ...answers }),
    );
  }

  outputs(
    warmup: GroupWarmup,
    longTurns: readonly WorkersOfTarget[],
    window: GroupWindow,
  ): GroupOutput {
    const { measured, lengths } = window;
    // A generator of one target does not know the turns of the others.
    const answers = this.#turns.given
      ? []
      : measured.map((workers) => answersByTurn(workers, lengths));
    const halves = halvesOf(answers);
    const levelChanges = levelChangesOf(answers);
    return this.#members.map((member, index): GroupOutput[number] => {
      if (member.failure !== undefined) return { failed: member.failure };

      const workers = measured[index] ?? [];
      if (workers.every(({ turns }) => turns.turns === 0))
        return { failed: "it answered so late in the warm-up that it got no turn" };

      const turns = turnsOf(workers, {
        ...lengths,
        group: this.#members.length,
        halves: halves[index],
        level_change: levelChanges[index],
        bins_from_ms: warmup.bins_from_ms,
        long: longTurnsOf(longTurns[index] ?? []),
      });
      const warmupOfMember = warmupOf(
        warmup.targets[index] ?? { took_s: 0, measured: [] },
        longTurns[index] ?? [],
        workers,
      );
      return {
        ...this.#result(member, window, workers, warmup.began_ms, {
          turns,
          warmup: warmupOfMember,
        }),
        request_counts: requestCounts(workers),
      };
    });
  }

  #result(
    { spec, consumers, readings, merger, monitor }: Member,
    { opened_ms, measured }: GroupWindow,
    workers: WorkersOfTarget,
    began_ms: number,
    figures: { turns: TurnsRecord; warmup: MeasuredResult["warmup"] },
  ): MeasuredResult {
    const [first] = workers;
    return buildResult(
      definedOnly({
        spec,
        started_at: this.#started_at,
        opens_ms: opened_ms,
        opens_s: (opened_ms - began_ms) / 1000,
        measured: workers,
        ...figures,
        generatorCpuUs: Math.round(first?.turns.cpu_us ?? 0),
        // A standstill in a turn of one target breaks the cycles of all targets.
        longest_gap_ms: Math.max(0, ...measured.flat().map((worker) => worker.longest_gap_ms)),
        clocks: this.#clocks,
        links: [],
        samples: merger.rows(monitor?.samples ?? [], 0),
        monitor,
        driverVersions: this.#driver.versions(),
        consumers: consumers && { ...consumers, ...readings },
      }),
    );
  }

  async tearDown(): Promise<void> {
    this.#waits.close();
    await this.#pool.close();
  }

  #addSample(worker: number, sample: WorkerSample, run: number): void {
    const member = this.#members[run];
    const interval = member?.merger.add(worker, sample, 0);
    if (!interval) return;
    this.#report({ ...secondEvent(interval, member?.monitor?.samples.at(-1)), run });
  }

  async #readAll(
    moment: keyof Readings,
    read: (consumers: Consumers) => Promise<Usage[]>,
  ): Promise<void> {
    await Promise.all(this.#members.map((member) => member.read(moment, read)));
  }

  #readAllDrained(moment: keyof Readings): Promise<void> {
    const drainMs = this.#common.timeout_s * 1000;
    return this.#readAll(moment, (consumers) => readDrained(consumers, drainMs));
  }

  /** @param loaded_s how long each target had the load since the last reading */
  async #readMonitors(loaded_s?: number): Promise<void> {
    await Promise.all(this.#members.map(({ monitor }) => monitor?.read(loaded_s)));
  }
}

/**
 * The seconds of load of each target between two readings, which are its slices and its
 * lead-ins.
 */
const secondsOf = (lengths: TurnLengths): number =>
  (turnsOfASecond(lengths) * (lengths.slice_ms + 1.25 * lengths.lead_in_ms)) / 1000;

function durationOf({ extent }: GeneratorRunSpec["generator"]): number {
  if ("duration_s" in extent) return extent.duration_s;
  throw new Error("by turns a run has a duration");
}

/** The seconds of the slices of a target, which all of its workers have at the same time. */
const secondsOfTurns = (workers: WorkersOfTarget): number =>
  rounded(Math.max(0, ...workers.map(({ turns }) => turns.counted_ms)) / 1000, 3);

/**
 * The warm-up of a target, with the requests of its long turns.
 * @param workers what the workers of the target did in the window
 */
function warmupOf(
  { took_s, steady, measured }: WarmupOfTarget,
  longTurns: WorkersOfTarget,
  workers: WorkersOfTarget,
): MeasuredResult["warmup"] {
  const requests = requestsOf([...measured, ...longTurns]);
  const lead_in_ms = mean(workers.map(({ turns }) => turns.lead_in_ms));
  return withLeadIn(
    definedOnly({ took_s, requests, steady }),
    rounded(lead_in_ms / 1000, 6),
    workers,
  );
}

/** What a result states of its target's turns. */
function turnsOf(
  workers: WorkersOfTarget,
  {
    bins_from_ms,
    ...ofGroup
  }: TurnLengths &
    Pick<TurnsRecord, "group" | "halves" | "level_change" | "long"> & { bins_from_ms: number },
): TurnsRecord {
  const figures = workers.map(({ turns }) => turns);
  return definedOnly({
    ...ofGroup,
    turns: Math.max(0, ...figures.map(({ turns }) => turns)),
    drained_s: rounded(mean(figures.map(({ drained_ms }) => drained_ms)) / 1000, 6),
    reopened: reopenedOf(figures.flatMap(({ reopened }) => reopened ?? [])),
    since_began: {
      from_ms: bins_from_ms,
      lead_in: mergeBins(figures.map(({ bins }) => bins.lead_in)),
      slice: mergeBins(figures.map(({ bins }) => bins.slice)),
    },
  });
}

/** Undefined where the round had no long turns, or the target did not get one. */
function longTurnsOf(workers: WorkersOfTarget): TurnsRecord["long"] {
  const figures = workers.map(({ turns }) => turns);
  const turns = Math.max(0, ...figures.map((worker) => worker.turns));
  if (turns === 0) return undefined;

  const loaded_ms = mean(figures.map(({ lead_in_ms, counted_ms }) => lead_in_ms + counted_ms));
  return {
    turns,
    loaded_s: rounded(loaded_ms / 1000, 6),
    requests: requestsOf(workers),
    lead_in: mergeBins(figures.map(({ bins }) => bins.lead_in)),
    slice: mergeBins(figures.map(({ bins }) => bins.slice)),
  };
}

/** Undefined where no worker counts the connections that it opens again. */
function reopenedOf(workers: readonly Reopened[]): TurnsRecord["reopened"] {
  if (workers.length === 0) return undefined;
  return {
    all: sum(workers.map(({ all }) => all)),
    without_cause: sum(workers.map(({ without_cause }) => without_cause)),
  };
}
