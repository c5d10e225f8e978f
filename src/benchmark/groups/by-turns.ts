import type { GeneratorGroup, GeneratorRunSpec } from "../../contract/generator-env.js";
import type { GroupOutput } from "../../contract/generator-output.js";
import type { PluginIdentity } from "../../contract/plugins.js";
import { BEFORE_LONG_TURNS, BETWEEN_TURNS } from "../../contract/progress.js";
import type { MeasuredResult } from "../../contract/result.js";
import type { Usage } from "../../contract/server-api.js";
import type { TurnLengths, TurnsRecord, TurnsSpec } from "../../contract/turns.js";
import { halvesOf, levelChangesOf } from "../../judge/steadiness.js";
import { definedOnly } from "../../kit/defined-only.js";
import { mean, rounded } from "../../kit/numbers.js";
import { lengthsFor, longTurns, secondsOfSlices } from "../../traffic/turn-order.js";
import { requestCounts, secondEvent, withLeadIn } from "../generator-run.js";
import { monotonicMs } from "../measurement/clock.js";
import { ServerMonitor } from "../measurement/monitor.js";
import type { WorkerSample } from "../measurement/recorder.js";
import { SampleMerger } from "../measurement/samples.js";
import { mergeBins } from "../measurement/turn-bins.js";
import { buildResult } from "../results.js";
import { type TurnsPlan, turnsOfASecond } from "../turn-window.js";
import { Group, type GroupLine, type GroupSetup, type GroupWarmup } from "./group.js";
import type { GroupTarget } from "./group-target.js";
import { leadInS, turnsRecordOf } from "./turn-records.js";
import {
  answersByTurn,
  requestsOf,
  type WarmupOfTarget,
  type WorkersOfTarget,
} from "./warmup-by-turns.js";

/**
 * A round of a group: set-up, warm-up by turns, window by turns, tear-down. At each drained moment
 * it waits for the line that the counters are read. Where each target has a generator of its own,
 * the group has one member, and the turns come from the input.
 * @throws BenchError
 */
export async function runByTurns(
  group: GeneratorGroup,
  plugins: readonly PluginIdentity[],
  line: GroupLine,
): Promise<GroupOutput> {
  const round = await GroupRound.setUp(group, line);
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

/** A target of the group, with what is read and measured of it. */
class Member {
  readonly target: GroupTarget;
  readonly merger: SampleMerger;
  readonly monitor: ServerMonitor | undefined;
  readonly readings: Readings = { at_start: [], at_window_open: [], at_end: [] };

  constructor(target: GroupTarget) {
    const { servers, workers } = target.spec.generator;
    this.target = target;
    this.monitor = target.consumers && new ServerMonitor(servers.map(({ url }) => url));
    this.merger = new SampleMerger(workers);
  }

  async readDrained(moment: keyof Readings): Promise<void> {
    this.readings[moment] = (await this.target.readDrained()) ?? [];
  }
}

interface GroupWindow {
  opened_ms: number;
  lengths: TurnLengths;
  /** What the workers of each target did. */
  measured: WorkersOfTarget[];
}

/** Passes once over the targets of a group, step by step as `runByTurns` describes. */
class GroupRound {
  readonly #group: Group;
  readonly #turns: TurnsSpec;
  readonly #members: readonly Member[];
  readonly #common: GeneratorRunSpec["generator"];

  private constructor({ runs, turns }: GeneratorGroup, setup: GroupSetup, line: GroupLine) {
    const [first, ...others] = runs;
    this.#members = setup.targets.map((target) => new Member(target));
    this.#turns = turns;
    this.#common = first.generator;
    const targets = [[first], ...others.map((run) => [run] as const)] as const;
    this.#group = new Group(setup, targets, turns, line, (worker, sample, target) =>
      this.#addSample(worker, sample, target),
    );
  }

  static async setUp(group: GeneratorGroup, line: GroupLine): Promise<GroupRound> {
    const [first, ...others] = group.runs;
    const setup = await Group.setUp([[first], ...others.map((run) => [run] as const)]);
    return new GroupRound(group, setup, line);
  }

  async connect(plugins: readonly PluginIdentity[]): Promise<void> {
    await this.#group.connect(plugins);
    await Promise.all(
      this.#members.map(async ({ target, readings }) => {
        readings.at_start = (await target.read()) ?? [];
      }),
    );
  }

  warmUp(): Promise<GroupWarmup> {
    return this.#group.warmUp();
  }

  /**
   * Gives each target a long turn, if the round has them (M33).
   * @returns what the workers of each target did
   */
  async takeLongTurns({ bins_from_ms }: GroupWarmup): Promise<WorkersOfTarget[]> {
    const { long, given: areFromInput, seed } = this.#turns;
    if (!long) return [];
    await this.#group.waits.at(BEFORE_LONG_TURNS);
    const plan = { ...longTurns(seed), counts: false, bins_from_ms };
    return areFromInput ? this.#group.turnsFromInput(plan) : this.#group.pool.turns(plan);
  }

  async measure({ slowest_ms, bins_from_ms }: GroupWarmup): Promise<GroupWindow> {
    await this.#readAllDrained("at_window_open");
    await this.#group.waits.at("drained");
    const opened_ms = monotonicMs();
    this.#group.report({ event: "phase", phase: "measure", opens_in_ms: 0 });
    await this.#readMonitors();
    const lengths = this.#turns.lengths ?? lengthsFor(slowest_ms, this.#turns.shortest);
    const seconds = secondsOfSlices(durationOf(this.#common), lengths);
    const measured = this.#turns.given
      ? await this.#group.turnsFromInput({ seconds, counts: true, bins_from_ms })
      : await this.#turnsOfWindow({ lengths, seconds, counts: true, bins_from_ms });

    await this.#readAllDrained("at_end");
    await this.#group.waits.at("finished");
    return { opened_ms, lengths, measured };
  }

  #turnsOfWindow(plan: Omit<TurnsPlan, "seed">): Promise<WorkersOfTarget[]> {
    // Another seed than that of the warm-up, so that its order is not repeated.
    const seed = ~this.#turns.seed >>> 0;
    return this.#group.pool.turns({ ...plan, seed }, async () => {
      await this.#group.waits.at(BETWEEN_TURNS);
      await this.#readMonitors(secondsOf(plan.lengths));
    });
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
      const { failure } = member.target;
      if (failure !== undefined) return { failed: failure };

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
    { target, readings, merger, monitor }: Member,
    { opened_ms, measured }: GroupWindow,
    workers: WorkersOfTarget,
    began_ms: number,
    figures: { turns: TurnsRecord; warmup: MeasuredResult["warmup"] },
  ): MeasuredResult {
    const [first] = workers;
    const { started_at, clocks, driver } = this.#group.setup;
    return buildResult(
      definedOnly({
        spec: target.spec,
        started_at,
        opens_ms: opened_ms,
        opens_s: (opened_ms - began_ms) / 1000,
        measured: workers,
        ...figures,
        generatorCpuUs: Math.round(first?.turns.cpu_us ?? 0),
        // A standstill in a turn of one target breaks the cycles of all targets.
        longest_gap_ms: Math.max(0, ...measured.flat().map((worker) => worker.longest_gap_ms)),
        clocks,
        links: [],
        samples: merger.rows(monitor?.samples ?? [], 0),
        monitor,
        driverVersions: driver.versions(),
        consumers: target.consumers && { ...target.consumers, ...readings },
      }),
    );
  }

  tearDown(): Promise<void> {
    return this.#group.tearDown();
  }

  #addSample(worker: number, sample: WorkerSample, run: number): void {
    const member = this.#members[run];
    const interval = member?.merger.add(worker, sample, 0);
    if (!interval) return;
    this.#group.report({ ...secondEvent(interval, member?.monitor?.samples.at(-1)), run });
  }

  async #readAllDrained(moment: keyof Readings): Promise<void> {
    await Promise.all(this.#members.map((member) => member.readDrained(moment)));
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
  const lead_in_s = leadInS(workers.map(({ turns }) => turns));
  return withLeadIn(definedOnly({ took_s, requests, steady }), lead_in_s, workers);
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
    ...turnsRecordOf(figures),
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
