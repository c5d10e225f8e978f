import type { RequestCounts } from "../../contract/admissions.js";
import type { GeneratorGroup } from "../../contract/generator-env.js";
import type { GroupOutput } from "../../contract/generator-output.js";
import { isClientLayer } from "../../contract/layers.js";
import type { PluginIdentity } from "../../contract/plugins.js";
import { TURN_BEGINS, TURN_ENDED } from "../../contract/progress.js";
import type { MeasuredResult } from "../../contract/result.js";
import type { Usage } from "../../contract/server-api.js";
import type { TurnLengths, TurnsRecord } from "../../contract/turns.js";
import { answeredRequests, ends } from "../../judge/counts.js";
import { definedOnly } from "../../kit/defined-only.js";
import { BenchError, EXIT } from "../../kit/errors.js";
import { sum, totals } from "../../kit/numbers.js";
import type { LoadPhase } from "../../traffic/prediction.js";
import { curveOrder, spreadMs } from "../../traffic/turn-order.js";
import { requestCounts, secondEvent, withLeadIn } from "../generator-run.js";
import { monotonicMs } from "../measurement/clock.js";
import type { WorkerSample } from "../measurement/recorder.js";
import { SampleMerger } from "../measurement/samples.js";
import { idleCpuMs, sharesWakes } from "../open-loop/shared-wakes.js";
import { buildResult } from "../results.js";
import type { MeasuredTurn, RunsOf } from "../workers/protocol.js";
import { curveTargets, type PlacedRun } from "./curve-targets.js";
import { Group, type GroupLine, type GroupSetup, type GroupWarmup } from "./group.js";
import { leadInS, turnsRecordOf } from "./turn-records.js";
import { requestsOf } from "./warmup-by-turns.js";

/**
 * A round of a load curve: set-up, one warm-up by turns for each target, then one turn for each run,
 * and tear-down. It waits for the line that the counters are read at the drained moments of a group,
 * and before and after each turn.
 * @throws BenchError
 */
export async function runLoadCurve(
  group: GeneratorGroup,
  plugins: readonly PluginIdentity[],
  line: GroupLine,
): Promise<GroupOutput> {
  const round = await CurveRound.setUp(group, line);
  try {
    await round.connect(plugins);
    const warmup = await round.warmUp();
    await round.measure(warmup);
    return round.outputs(warmup);
  } finally {
    await round.tearDown();
  }
}

/** The time that the command takes to reach all workers, so that they begin a turn together. */
const START_DELAY_MS = 20;

/**
 * How long the connections of the open loops of a target are used before the first turn, where its
 * warm-up used those of its closed loop. A server does more at the first request of a connection.
 */
const FIRST_USE_S = 0.1;

type WorkersOfRun = readonly (MeasuredTurn & { connections: number })[];

/** A run, with what its turn measured. */
interface CurveRun extends PlacedRun {
  merger: SampleMerger;
  turn?: {
    lengths: TurnLengths;
    workers: WorkersOfRun;
    at_begin: Usage[];
    at_end: Usage[];
    /** The load of the target between the warm-up and this turn. */
    before: readonly LoadPhase[];
  };
}

interface CurveWarmup extends GroupWarmup {
  /** Whether sends of the open loops that fall due together share a wake. */
  shared_wakes: boolean;
}

class CurveRound {
  readonly #group: Group;
  readonly #turns: GeneratorGroup["turns"];
  readonly #runs: readonly CurveRun[];
  readonly #loadOfTargets: readonly LoadPhase[][];
  /** What the consumers of each target said before any load. */
  readonly #atStart: Usage[][] = [];
  /** The requests of the first use of connections, by target. */
  readonly #firstUse: number[] = [];
  /** The requests of each target since the start. */
  readonly #counts: RequestCounts[] = [];
  #current: { run: CurveRun; opens_ms: number } | undefined;

  private constructor(
    targets: RunsOf<RunsOf<PlacedRun>>,
    { turns }: GeneratorGroup,
    setup: GroupSetup,
    line: GroupLine,
  ) {
    this.#turns = turns;
    this.#loadOfTargets = targets.map(() => []);
    this.#runs = targets
      .flat()
      .map((run) => ({ ...run, merger: new SampleMerger(run.spec.generator.workers) }))
      .toSorted((a, b) => a.index - b.index);
    // The lengths are those of the turns of runs, and a warm-up has its own.
    const { lengths: _, ...warmupTurns } = turns;
    this.#group = new Group(setup, specsOf(targets), warmupTurns, line, (worker, sample) =>
      this.#addSample(worker, sample),
    );
  }

  static async setUp(group: GeneratorGroup, line: GroupLine): Promise<CurveRound> {
    const targets = curveTargets(group);
    const setup = await Group.setUp(specsOf(targets));
    return new CurveRound(targets, group, setup, line);
  }

  async connect(plugins: readonly PluginIdentity[]): Promise<void> {
    await this.#group.connect(plugins);
    for (const [index, target] of this.#group.targets.entries())
      this.#atStart[index] = (await target.read()) ?? [];
  }

  async warmUp(): Promise<CurveWarmup> {
    const began_ms = monotonicMs();
    const idleBefore = idleCpuMs();
    const warmup = await this.#group.warmUp();
    const idleAfter = idleCpuMs();
    const idle_ms =
      idleBefore === undefined || idleAfter === undefined ? undefined : idleAfter - idleBefore;
    const shared_wakes = sharesWakes(idle_ms, monotonicMs() - began_ms);

    for (const target of this.#group.targets.keys())
      this.#firstUse[target] = await this.#useConnections(target);
    return { ...warmup, shared_wakes };
  }

  /** @returns the requests that were sent */
  async #useConnections(target: number): Promise<number> {
    const generators = this.#runs.flatMap((run) =>
      run.target === target ? [run.spec.generator] : [],
    );
    const models = new Set(generators.map(({ load }) => load.model));
    const isConnected = generators.some(({ layer }) => !isClientLayer(layer));
    if (!isConnected || models.size < 2) return 0;
    return (await this.#group.pool.warmUp(FIRST_USE_S, true, target)).requests;
  }

  async measure(warmup: CurveWarmup): Promise<void> {
    const { waits } = this.#group;
    await waits.at("drained");
    this.#group.report({ event: "phase", phase: "measure", opens_in_ms: 0 });
    if (this.#turns.given) await this.#takeGivenTurns(warmup);
    else await this.#takeTurns(warmup);
    await waits.at("finished");
  }

  async #takeTurns(warmup: CurveWarmup): Promise<void> {
    const { lengths, seed } = this.#turns;
    if (!lengths) throw new Error("a load curve states no lengths of its turns");
    for (const run of curveOrder(this.#runs, ({ spec }) => spec.generator.load, seed))
      await this.#takeTurn(run, lengths, warmup);
  }

  async #takeGivenTurns(warmup: CurveWarmup): Promise<void> {
    for await (const { run: index = -1, ...lengths } of this.#group.waits.turns()) {
      const run = this.#runs[index];
      if (!run) throw new BenchError(`a turn was given to run ${index}`, EXIT.configurationFailed);
      const workers = await this.#takeTurn(run, lengths, warmup);
      this.#group.report({ event: "turn", ...answersIn(workers) });
    }
  }

  async #takeTurn(
    run: CurveRun,
    lengths: TurnLengths,
    { began_ms, bins_from_ms, shared_wakes }: CurveWarmup,
  ): Promise<WorkersOfRun> {
    const { pool, waits, targets } = this.#group;
    const target = targets[run.target];
    // The readings of the consumers cost them CPU time, so they lie outside the two moments.
    const at_begin = (await target?.readDrained()) ?? [];
    if (!target || target.failure !== undefined) return [];
    await waits.at(TURN_BEGINS, run.index);

    const opens_ms = monotonicMs() + START_DELAY_MS + lengths.lead_in_ms;
    this.#current = { run, opens_ms };
    const workers = await pool.curveTurn({
      ...lengths,
      target: run.target,
      run: run.place,
      opens_ms,
      spread_ms: spreadMs(bins_from_ms),
      shared_wakes,
    });
    this.#counts[run.target] = requestCounts(workers);

    // A server may still be at work on a request that was given up.
    if (workers.some(hasUnanswered)) await target.readDrained();
    await waits.at(TURN_ENDED, run.index);
    const at_end = (await target.readDrained()) ?? [];
    if (target.failure !== undefined) return workers;
    const load = this.#loadOfTargets[run.target] ?? [];
    run.turn = { lengths, workers, at_begin, at_end, before: [...load] };
    load.push(phaseOf(workers, began_ms));
    return workers;
  }

  outputs(warmup: CurveWarmup): GroupOutput {
    return this.#runs.map((run): GroupOutput[number] => {
      const { failure } = this.#group.targets[run.target] ?? {};
      if (!run.turn) return { failed: failure ?? "it got no turn" };
      return {
        ...this.#result(run, run.turn, warmup),
        ...definedOnly({ request_counts: this.#counts[run.target] }),
      };
    });
  }

  #result(
    { spec, target: index, merger }: CurveRun,
    { workers, lengths, at_begin, at_end, before }: NonNullable<CurveRun["turn"]>,
    warmup: CurveWarmup,
  ): MeasuredResult {
    const { started_at, clocks, driver, targets } = this.#group.setup;
    const target = targets[index];
    const figures = workers.map(({ turns }) => turns);
    const opens_ms = Math.min(...workers.map(({ opened_ms }) => opened_ms));
    const { took_s, steady, measured } = warmup.targets[index] ?? { took_s: 0, measured: [] };
    const requests = requestsOf(measured) + (this.#firstUse[index] ?? 0);
    return buildResult(
      definedOnly({
        spec,
        started_at,
        opens_ms,
        opens_s: (opens_ms - warmup.began_ms) / 1000,
        measured: workers,
        turns: definedOnly({
          group: targets.length,
          curve: true as const,
          turns: 1,
          ...lengths,
          ...turnsRecordOf(figures),
          backlog: backlogOf(workers),
        }),
        warmup: withLeadIn(definedOnly({ took_s, requests, steady }), leadInS(figures), workers),
        generatorCpuUs: Math.round(figures[0]?.cpu_us ?? 0),
        longest_gap_ms: Math.max(0, ...workers.map(({ longest_gap_ms }) => longest_gap_ms)),
        clocks,
        links: [],
        samples: merger.rows([], openingOfSamples(spec, opens_ms)),
        driverVersions: driver.versions(),
        consumers: target?.consumers && {
          ...target.consumers,
          at_start: at_begin,
          at_window_open: at_begin,
          at_end,
        },
        before: { at_start: this.#atStart[index] ?? [], load: before },
      }),
    );
  }

  tearDown(): Promise<void> {
    return this.#group.tearDown();
  }

  #addSample(worker: number, sample: WorkerSample): void {
    if (!this.#current) return;
    const { run, opens_ms } = this.#current;
    const interval = run.merger.add(worker, sample, openingOfSamples(run.spec, opens_ms));
    if (interval) this.#group.report({ ...secondEvent(interval, undefined), run: run.index });
  }
}

const specsOf = (targets: RunsOf<RunsOf<PlacedRun>>): RunsOf<RunsOf<PlacedRun["spec"]>> => {
  const specs = ([first, ...others]: RunsOf<PlacedRun>) =>
    [first.spec, ...others.map(({ spec }) => spec)] as const;
  const [first, ...others] = targets;
  return [specs(first), ...others.map(specs)];
};

/** The samples of a closed loop by turns count the time in its slices. */
const openingOfSamples = ({ generator }: PlacedRun["spec"], opens_ms: number): number =>
  generator.load.model === "open" ? opens_ms : 0;

const hasUnanswered = ({ counts }: WorkersOfRun[number]): boolean => {
  const { connection_errors, timed_out } = ends(counts);
  return connection_errors + timed_out > 0;
};

/** The load of a turn, with its lead-in, in seconds since the warm-up began. */
function phaseOf(workers: WorkersOfRun, began_ms: number): LoadPhase {
  const opened_ms = Math.min(...workers.map((worker) => worker.opened_ms));
  const lead_in_s = leadInS(workers.map(({ turns }) => turns));
  const counted_ms = Math.max(...workers.map(({ turns }) => turns.counted_ms));
  return {
    begins_s: (opened_ms - began_ms) / 1000 - lead_in_s,
    length_s: lead_in_s + counted_ms / 1000,
    requests: requestsOf(workers),
  };
}

/** Undefined in a closed loop, which has no request that waits. */
function backlogOf(workers: WorkersOfRun): TurnsRecord["backlog"] {
  const backlogs = workers.flatMap(({ backlog }) => backlog ?? []);
  return backlogs.length > 0 ? totals(["at_open", "at_shut"], backlogs) : undefined;
}

/** What a turn that came from the input reports when it has ended. */
function answersIn(workers: WorkersOfRun) {
  const greatest = (values: readonly number[]) => Math.max(0, ...values);
  return {
    answers: sum(workers.map(({ counts }) => answeredRequests(counts))),
    followed: sum(workers.map(({ counts }) => answeredRequests(counts.after_window))),
    latency_sum_us: sum(workers.map(({ ended }) => ended.latency_sum_us)),
    took_ms: greatest(workers.map(({ turns }) => turns.counted_ms + turns.drained_ms)),
    requests: requestsOf(workers),
    // Each worker reads the CPU time of the whole process.
    cpu_us: greatest(workers.map(({ turns }) => turns.cpu_us)),
  };
}
