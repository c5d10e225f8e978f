import type { Readable } from "node:stream";
import { AUTO_WARMUP } from "../contract/configuration.js";
import type { GeneratorGroup, GeneratorRunSpec } from "../contract/generator-env.js";
import { isClientLayer } from "../contract/layers.js";
import type { PluginFacts } from "../contract/plugins.js";
import { BETWEEN_TURNS, type Progress } from "../contract/progress.js";
import type { GroupOutput } from "../contract/result.js";
import type { Usage } from "../contract/server-api.js";
import type { TurnLengths, TurnsFacts, TurnsSpec } from "../contract/turns.js";
import { SLICE_MS } from "../judge/merging/slices.js";
import { halvesOf } from "../judge/steadiness.js";
import { messageOf } from "../kit/errors.js";
import { mean, rounded, sum } from "../kit/numbers.js";
import { ClockComparison } from "../kit/system-clock.js";
import { findWorkload } from "../traffic/lookup.js";
import { lengthsFor, secondsOfSlices } from "../traffic/turn-order.js";
import type { Reopened } from "./closed-loop.js";
import { loadDriver } from "./drivers/index.js";
import { requestCounts, requireLimits, secondEvent, withLeadIn } from "./generator-run.js";
import { monotonicMs } from "./measurement/clock.js";
import { type Consumers, readDrained } from "./measurement/consumers.js";
import { generatorAsConsumer } from "./measurement/generator-readings.js";
import { ServerMonitor } from "./measurement/monitor.js";
import { SampleMerger } from "./measurement/samples.js";
import { identifyServers } from "./measurement/server-readings.js";
import { ReadingWaits } from "./reading-waits.js";
import { buildResult } from "./results.js";
import { turnsOfASecond } from "./turn-window.js";
import { type WarmupSlice, WarmupWatch } from "./warmup.js";
import type { MeasuredByTurns } from "./workers/protocol.js";
import { WorkerPool } from "./workers/worker-pool.js";

/** Turns of a target between two looks at whether its warm-up of `auto` is over. */
const TURNS_OF_A_LOOK = 5;

type Workers = readonly (MeasuredByTurns & { connections: number })[];

interface Member {
  spec: GeneratorRunSpec;
  consumers: Consumers | undefined;
  merger: SampleMerger;
  monitor: ServerMonitor | undefined;
  /** Why it has no result. */
  failed?: string;
}

/** Of all answers: one that takes longer than a slice is always a followed one. */
function meanLatencyMs(workers: Workers): number {
  const ended = workers.map(({ turns }) => turns.ended);
  const answers = sum(ended.map((each) => each.answers));
  return answers > 0 ? sum(ended.map((each) => each.latency_sum_us)) / answers / 1000 : 0;
}

const secondsOf = (lengths: TurnLengths): number =>
  (turnsOfASecond(lengths) * (lengths.slice_ms + 1.25 * lengths.lead_in_ms)) / 1000;

function answersByTurn(workers: Workers, lengths: TurnLengths): number[] {
  const slices = workers.map((worker) => slicesOf(worker, lengths));
  const turns = Math.max(0, ...workers.map((worker) => worker.turns.turns));
  return Array.from({ length: turns }, (_, turn) =>
    sum(slices.map((own) => own[turn]?.answers ?? 0)),
  );
}

/** What each turn of a worker was, as a slice of a warm-up. @param before_ms since its begin */
function slicesOf(
  { slices }: Workers[number],
  { slice_ms }: TurnLengths,
  before_ms = 0,
): WarmupSlice[] {
  const bins = slice_ms / SLICE_MS;
  const total = (values: readonly number[], turn: number) =>
    sum(values.slice(turn * bins, (turn + 1) * bins));
  return Array.from({ length: Math.floor(slices.allowed.length / bins) }, (_, turn) => ({
    ends_ms: before_ms + (turn + 1) * slice_ms,
    width_ms: slice_ms,
    answers: total(slices.allowed, turn) + total(slices.limited, turn),
    latency_sum_us: total(slices.latency_sum_us, turn),
    failed: total(slices.failed, turn),
  }));
}

interface Warmup {
  took_s: number;
  /** By target, whether it was steady at the end; empty for a warm-up of fixed length. */
  steady: readonly boolean[];
  /** By target, what its workers did. */
  measured: Workers[];
}

/** A warm-up of `auto` goes on until all targets that answer are steady (M26). */
async function warmUp(
  { warmup_s, workers }: GeneratorRunSpec["generator"],
  { lengths = lengthsFor(0), seed }: TurnsSpec,
  pool: WorkerPool,
  targets: number,
): Promise<Warmup> {
  if (warmup_s !== "auto") {
    const measured = await pool.turns({ lengths, seconds: warmup_s, seed, counts: false });
    return { took_s: warmup_s, steady: [], measured };
  }
  const { min_by_turns_s: min_s, max_s } = AUTO_WARMUP;
  const watches = Array.from(
    { length: targets },
    () => new WarmupWatch(workers, "closed", { min_s }),
  );
  const all: (MeasuredByTurns & { connections: number })[][] = watches.map(() => []);
  let took_s = 0;
  for (let look = 0; took_s < max_s; look++) {
    const turn_s = lengths.slice_ms / 1000;
    const seconds = look === 0 ? Math.max(min_s, turn_s) : TURNS_OF_A_LOOK * turn_s;
    const measured = await pool.turns({ lengths, seconds, seed: seed + look, counts: false });
    const isOver = measured.map((ofTarget, target) => {
      for (const [worker, one] of ofTarget.entries())
        for (const slice of slicesOf(one, lengths, 1000 * took_s))
          watches[target]?.add(worker, slice);
      all[target]?.push(...ofTarget);
      return watches[target]?.isSteady || meanLatencyMs(ofTarget) === 0;
    });
    took_s += seconds;
    if (isOver.every(Boolean)) break;
  }
  return { took_s, steady: watches.map(({ isSteady }) => isSteady), measured: all };
}

/** The counters of all targets. One that does not answer any more fails alone. */
const readAll = (members: readonly Member[], read: (consumers: Consumers) => Promise<Usage[]>) =>
  Promise.all(
    members.map(async (member) => {
      if (!member.consumers) return [];
      return read(member.consumers).catch((error: unknown) => {
        member.failed ??= messageOf(error);
        return [];
      });
    }),
  );

/**
 * A round of a group: connect, warm up by turns, drain, measure by turns, drain; at each drained
 * moment it waits for the line that the counters are read. With a generator a target, this is that
 * of its only one. @throws BenchError
 */
export async function runByTurns(
  { runs, turns }: GeneratorGroup,
  plugins: readonly PluginFacts[],
  report: (progress: Progress) => void,
  input: Readable,
): Promise<GroupOutput> {
  const started_at = new Date();
  const clocks = new ClockComparison();
  const [{ generator: common }] = runs;
  for (const spec of runs) {
    requireLimits(spec);
    if (spec.generator.servers.length > 0) findWorkload(spec.generator.workload.id);
  }
  const driver = await loadDriver(common.layer);
  const members: Member[] = await Promise.all(
    runs.map(async (spec) => {
      const { servers, workers } = spec.generator;
      const consumers = servers.length > 0 ? await identifyServers(servers) : undefined;
      const monitor = consumers && new ServerMonitor(servers.map(({ url }) => url));
      return { spec, consumers, monitor, merger: new SampleMerger(workers) };
    }),
  );
  const pool = new WorkerPool(runs, (worker, sample, run) => {
    const member = members[run];
    const interval = member?.merger.add(worker, sample, 0);
    if (interval)
      report({ ...secondEvent(interval, member?.monitor?.samples.at(-1)), run } as Progress);
  });
  const waits = new ReadingWaits(report, input);
  const readMonitors = (own_s?: number) =>
    Promise.all(members.map(({ monitor }) => monitor?.read(own_s)));
  try {
    await pool.connect();
    await waits.at("connected");
    if (isClientLayer(common.layer))
      for (const member of members)
        member.consumers = await generatorAsConsumer(member.spec, plugins, () => pool.read());
    const at_start = await readAll(members, (consumers) => consumers.read());
    report({ event: "phase", phase: "warmup" });
    const began_ms = monotonicMs();
    /** Turns that the input gives, of the only target. */
    const given = (seconds: number, counts: boolean) =>
      pool.givenTurns(waits.turns(), { seconds, counts }, (answers) =>
        report({ event: "turn", ...answers }),
      );
    const warmup_s = common.warmup_s === "auto" ? AUTO_WARMUP.min_by_turns_s : common.warmup_s;
    const warm = turns.given
      ? { took_s: warmup_s, steady: [], measured: await given(warmup_s, false) }
      : await warmUp(common, turns, pool, members.length);
    const found = turns.lengths ?? lengthsFor(Math.max(0, ...warm.measured.map(meanLatencyMs)));
    const drainMs = common.timeout_s * 1000;
    const at_window_open = await readAll(members, (consumers) => readDrained(consumers, drainMs));
    await waits.at("drained");

    const opened_ms = monotonicMs();
    report({ event: "phase", phase: "measure", opens_in_ms: 0 });
    await readMonitors();
    const seconds = secondsOfSlices(durationOf(common), found);
    const measured = turns.given
      ? await given(seconds, true)
      : await pool.turns(
          { lengths: found, seconds, seed: ~turns.seed >>> 0, counts: true },
          async () => {
            await waits.at(BETWEEN_TURNS);
            await readMonitors(secondsOf(found));
          },
        );
    const at_end = await readAll(members, (consumers) => readDrained(consumers, drainMs));
    await waits.at("finished");

    // What stood still in a turn of one target broke the cycles of all.
    const longest_gap_ms = Math.max(0, ...measured.flat().map((worker) => worker.longest_gap_ms));
    // Those of other generators are not known here.
    const halves = turns.given
      ? []
      : halvesOf(measured.map((workers) => answersByTurn(workers, found)));
    return members.map(
      ({ spec, consumers, merger, monitor, failed }, index): GroupOutput[number] => {
        if (failed !== undefined) return { failed };
        const workers = measured[index] ?? [];
        const figures = workers.map((worker) => worker.turns);
        const turnsTaken = Math.max(0, ...figures.map((each) => each.turns));
        if (turnsTaken === 0)
          return { failed: "it answered so late in the warm-up that it got no turn" };
        const steady = warm.steady[index];
        const readingsOf = (usages: readonly Usage[][]): Usage[] => usages[index] ?? [];
        return {
          ...buildResult({
            spec,
            started_at,
            opens_ms: opened_ms,
            opens_s: (opened_ms - began_ms) / 1000,
            measured: workers,
            warmup: withLeadIn(
              {
                took_s: warm.took_s,
                requests: sum(
                  (warm.measured[index] ?? []).map(
                    (each) => each.counts.sent + each.lead_in_requests,
                  ),
                ),
                ...(steady === undefined ? {} : { steady }),
              },
              rounded(mean(figures.map(({ lead_in_ms }) => lead_in_ms)) / 1000, 6),
              workers,
            ),
            turns: {
              group: members.length,
              turns: turnsTaken,
              ...found,
              drained_s: rounded(mean(figures.map(({ drained_ms }) => drained_ms)) / 1000, 6),
              ...reopenedOf(figures.flatMap(({ reopened }) => reopened ?? [])),
              ...(halves[index] ? { halves: halves[index] } : {}),
            },
            generatorCpuUs: Math.round(figures[0]?.cpu_us ?? 0),
            longest_gap_ms,
            clocks,
            links: [],
            samples: merger.rows(monitor?.samples ?? [], 0),
            monitor,
            driverVersions: driver.versions(),
            ...(consumers
              ? {
                  consumers: {
                    ...consumers,
                    at_start: readingsOf(at_start),
                    at_window_open: readingsOf(at_window_open),
                    at_end: readingsOf(at_end),
                  },
                }
              : {}),
          }),
          request_counts: requestCounts(workers),
        };
      },
    );
  } finally {
    waits.close();
    await pool.close();
  }
}

const reopenedOf = (workers: readonly Reopened[]): Pick<TurnsFacts, "reopened"> =>
  workers.length === 0
    ? {}
    : {
        reopened: {
          all: sum(workers.map(({ all }) => all)),
          without_cause: sum(workers.map(({ without_cause }) => without_cause)),
        },
      };

function durationOf({ extent }: GeneratorRunSpec["generator"]): number {
  if ("duration_s" in extent) return extent.duration_s;
  throw new Error("by turns a run has a duration");
}
