import type { Readable } from "node:stream";
import { messageOf } from "../contract/errors.js";
import type { GeneratorGroup, GeneratorRunSpec } from "../contract/generator-env.js";
import { isClientLayer } from "../contract/layers.js";
import { mean, rounded, sum } from "../contract/numbers.js";
import type { PluginFacts } from "../contract/plugins.js";
import type { Progress } from "../contract/progress.js";
import type { GroupOutput } from "../contract/result.js";
import type { Usage } from "../contract/server-api.js";
import { AUTO_WARMUP_BY_TURNS_S, type TurnLengths } from "../contract/turns.js";
import { halvesOf } from "../judge/steadiness.js";
import { findWorkload } from "../traffic/lookup.js";
import { lengthsFor, secondsOfSlices } from "../traffic/turn-order.js";
import { loadDriver } from "./drivers/index.js";
import { monotonicMs } from "./measurement/clock.js";
import { type Consumers, readDrained } from "./measurement/consumers.js";
import { generatorAsConsumer } from "./measurement/generator-readings.js";
import { ServerMonitor } from "./measurement/monitor.js";
import { SampleMerger } from "./measurement/samples.js";
import { identifyServers } from "./measurement/server-readings.js";
import { ReadingWaits } from "./reading-waits.js";
import { buildResult } from "./results.js";
import { requestCounts, requireLimits, secondEvent } from "./run.js";
import { turnsOfASecond } from "./turns.js";
import type { MeasuredByTurns } from "./workers/protocol.js";
import { WorkerPool } from "./workers/worker-pool.js";

const BIN_MS = 100;

type Workers = readonly (MeasuredByTurns & { connections: number })[];

/** One target of the group. */
interface Member {
  spec: GeneratorRunSpec;
  /** Absent for foreign servers. */
  consumers: Consumers | undefined;
  merger: SampleMerger;
  monitor: ServerMonitor | undefined;
  /** Why it has no result. */
  failed?: string;
}

/** The mean latency of what the workers measured, milliseconds; 0 without answers. */
function meanLatencyMs(workers: Workers): number {
  const answers = sum(workers.flatMap(({ slices }) => [...slices.allowed, ...slices.limited]));
  return answers > 0 ? sum(workers.flatMap(({ slices }) => slices.latency_sum_us)) / answers / 1000 : 0;
}

/** Of load, in the turns of a target that are a second of its slices. */
const secondsOf = (lengths: TurnLengths): number =>
  (turnsOfASecond(lengths) * (lengths.slice_ms + 1.25 * lengths.lead_in_ms)) / 1000;

/** The answers of each turn of a target. */
function answersByTurn(workers: Workers, { slice_ms }: TurnLengths): number[] {
  const bins = slice_ms / BIN_MS;
  const turns = Math.max(0, ...workers.map((worker) => worker.turns.turns));
  return Array.from({ length: turns }, (_, turn) =>
    sum(
      workers.flatMap(({ slices: { allowed, limited } }) => [
        ...allowed.slice(turn * bins, (turn + 1) * bins),
        ...limited.slice(turn * bins, (turn + 1) * bins),
      ]),
    ),
  );
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
 * One round of a group: connect to all targets, warm up by turns, drain, measure by turns, drain. At each drained moment it
 * waits for the line that says that the counters of all targets are read. Where the targets have a generator each, this
 * is the one of its only target, and waits for each of its turns.
 * @returns what was measured of each target, in the order of the group
 * @throws BenchError when a server cannot be reached or is not the expected one
 */
export async function runByTurns(
  { runs, turns }: GeneratorGroup,
  plugins: readonly PluginFacts[],
  report: (progress: Progress) => void,
  input: Readable,
): Promise<GroupOutput> {
  const started_at = new Date();
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
    if (interval) report({ ...secondEvent(interval, member?.monitor?.samples.at(-1)), run } as Progress);
  });
  const waits = new ReadingWaits(report, input);
  const readMonitors = (own_s?: number) => Promise.all(members.map(({ monitor }) => monitor?.read(own_s)));
  try {
    await pool.connect();
    await waits.at("connected");
    if (isClientLayer(common.layer))
      for (const member of members)
        member.consumers = await generatorAsConsumer(member.spec, plugins, () => pool.read());
    const at_start = await readAll(members, (consumers) => consumers.read());
    report({ event: "phase", phase: "warmup" });
    const began_ms = monotonicMs();
    const warmup_s = common.warmup_s === "auto" ? AUTO_WARMUP_BY_TURNS_S : common.warmup_s;
    /** Turns for so many seconds of slices of each target, or those that the input gives. */
    const load = (lengths: TurnLengths, seconds: number, counts: boolean): Promise<Workers[]> => {
      if (turns.given)
        return pool.givenTurns(waits.turns(), { seconds, counts }, (answers) =>
          report({ event: "turn", ...answers }),
        );
      const readServers = counts ? async () => void (await readMonitors(secondsOf(lengths))) : undefined;
      const seed = turns.seed + (counts ? 1 : 0);
      return pool.turns({ lengths, seconds, seed, counts }, readServers);
    };
    const warm = await load(turns.lengths ?? lengthsFor(0), warmup_s, false);
    const found = turns.lengths ?? lengthsFor(Math.max(0, ...warm.map(meanLatencyMs)));
    const drainMs = common.timeout_s * 1000;
    const at_window_open = await readAll(members, (consumers) => readDrained(consumers, drainMs));
    await waits.at("drained");

    const opened_ms = monotonicMs();
    report({ event: "phase", phase: "measure", opens_in_ms: 0 });
    await readMonitors();
    const measured = await load(found, secondsOfSlices(durationOf(common), found), true);
    const at_end = await readAll(members, (consumers) => readDrained(consumers, drainMs));
    await waits.at("finished");

    // Those of other generators are not known here.
    const halves = turns.given ? [] : halvesOf(measured.map((workers) => answersByTurn(workers, found)));
    return members.map(({ spec, consumers, merger, monitor, failed }, index): GroupOutput[number] => {
      if (failed !== undefined) return { failed };
      const workers = measured[index] ?? [];
      const figures = workers.map((worker) => worker.turns);
      const lead_in_s = mean(figures.map(({ lead_in_ms }) => lead_in_ms)) / 1000;
      const lead_in_requests = sum(workers.map((worker) => worker.lead_in_requests));
      const warmWorkers = warm[index] ?? [];
      const readingsOf = (usages: readonly Usage[][]): Usage[] => usages[index] ?? [];
      return {
        ...buildResult({
          spec,
          started_at,
          finished_at: new Date(),
          opened_at: new Date(Date.now() - (monotonicMs() - opened_ms)),
          opens_ms: opened_ms,
          wall_offset_ms: Date.now() - monotonicMs(),
          opens_s: (opened_ms - began_ms) / 1000,
          measured: workers,
          warmup: {
            took_s: rounded(warmup_s + lead_in_s, 3),
            requests:
              sum(warmWorkers.map(({ counts, lead_in_requests: more }) => counts.sent + more)) +
              lead_in_requests,
            lead_in: { took_s: rounded(lead_in_s, 6), requests: lead_in_requests },
          },
          turns: {
            group: members.length,
            turns: Math.max(0, ...figures.map((each) => each.turns)),
            ...found,
            drained_s: rounded(mean(figures.map(({ drained_ms }) => drained_ms)) / 1000, 6),
            ...(halves[index] ? { halves: halves[index] } : {}),
          },
          generatorCpuUs: Math.round(figures[0]?.cpu_us ?? 0),
          links: [],
          samples: merger.rows(monitor?.samples ?? [], 0),
          serverSamples: monitor?.samples ?? [],
          samplesByServer: monitor?.samplesByServer ?? [],
          driverVersions: driver.versions(),
          notes: [...new Set(monitor?.failures)].map(
            (failure) => `a reading of the servers failed: ${failure}`,
          ),
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
    });
  } finally {
    waits.close();
    await pool.close();
  }
}

function durationOf({ extent }: GeneratorRunSpec["generator"]): number {
  if ("duration_s" in extent) return extent.duration_s;
  throw new Error("by turns a run has a duration");
}
