import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { RequestCounts } from "../contract/admissions.js";
import { AUTO_WARMUP, LEAD_IN_S } from "../contract/configuration.js";
import type { GeneratorRunSpec } from "../contract/generator-env.js";
import type { PluginFacts } from "../contract/plugins.js";
import { type Progress, type ReadingPhase, STEADY, WAITING } from "../contract/progress.js";
import type { GeneratorOutput, MeasuredResult, NetworkLink, Sample } from "../contract/result.js";
import { usageError } from "../kit/errors.js";
import { rounded, sum } from "../kit/numbers.js";
import { ClockComparison } from "../kit/system-clock.js";
import { findProfile, findWorkload } from "../traffic/lookup.js";
import { loadDriver } from "./drivers/index.js";
import type { Window } from "./load-loop.js";
import { AnswerLog } from "./measurement/answer-timeline.js";
import { monotonicMs } from "./measurement/clock.js";
import { type Consumers, readDrained } from "./measurement/consumers.js";
import { generatorAsConsumer } from "./measurement/generator-readings.js";
import { ServerMonitor, type ServerSample } from "./measurement/monitor.js";
import { bytesBetween, readNetworkLinks } from "./measurement/network-links.js";
import { SampleMerger } from "./measurement/samples.js";
import { identifyServers, readDiagnoses } from "./measurement/server-readings.js";
import { idleCpuMs, sharesWakes } from "./open-loop/shared-wakes.js";
import { ReadingWaits } from "./reading-waits.js";
import { buildResult, shareOutput } from "./results.js";
import { type WarmupFacts, WarmupWatch } from "./warmup.js";
import type { Measured } from "./workers/protocol.js";
import { WorkerPool } from "./workers/worker-pool.js";

/** Time for the command to reach all workers, so that they open their windows together. */
const START_DELAY_MS = 20;

/** How long before the window the servers are read for its first second. */
const MONITOR_LEAD_MS = 100;

type Warmup = MeasuredResult["warmup"];

/**
 * The end of a warm-up, which comes after the reading of the counters. Half of a warm-up at most.
 */
const leadInS = (warmup_s: GeneratorRunSpec["generator"]["warmup_s"]): number =>
  warmup_s === "auto" ? LEAD_IN_S : Math.min(LEAD_IN_S, warmup_s / 2);

/** How one of several generators ends its warm-up with the others. */
interface JointWarmup {
  /** Called once, when its own may end. */
  steady(): void;
  mayEnd(): boolean;
}

/**
 * Makes the load of the warm-up, without its lead-in. @returns what it was, and whether the
 * window's sends share wakes
 */
async function warmUp(
  { warmup_s, workers, load, share }: GeneratorRunSpec["generator"],
  pool: WorkerPool,
  joint: JointWarmup | undefined,
): Promise<{ warmup: Omit<Warmup, "lead_in">; began_ms?: number; shared_wakes: boolean }> {
  if (warmup_s === 0) return { warmup: { took_s: 0, requests: 0 }, shared_wakes: true };
  const idleBefore = idleCpuMs();
  const began_ms = monotonicMs();
  let took: WarmupFacts;
  let steady: boolean | undefined;
  if (warmup_s === "auto") {
    const watch = new WarmupWatch(workers, load.model, { generators: share?.of ?? 1 });
    took = await pool.warmUp(AUTO_WARMUP.max_s, (worker, slice) => {
      if (!watch.isSteady && watch.add(worker, slice)) joint?.steady();
      return joint ? joint.mayEnd() : watch.isSteady;
    });
    steady = watch.isSteady;
  } else {
    took = await pool.warmUp(warmup_s - leadInS(warmup_s), () => false);
  }
  const idleAfter = idleCpuMs();
  const idle_ms =
    idleBefore === undefined || idleAfter === undefined ? undefined : idleAfter - idleBefore;
  return {
    warmup: { ...took, ...(steady === undefined ? {} : { steady }) },
    began_ms,
    shared_wakes: sharesWakes(idle_ms, monotonicMs() - began_ms),
  };
}

/**
 * Connects, warms up, drains, measures, drains. Where the spec says so, it waits at each drained
 * moment for a line that the counters are read; several generators also wait for each other. The
 * first reads the servers. @throws BenchError
 */
export async function run(
  spec: GeneratorRunSpec,
  plugins: readonly PluginFacts[],
  report: (progress: Progress) => void,
  input: Readable,
): Promise<GeneratorOutput> {
  const started_at = new Date();
  const clocks = new ClockComparison();
  const { generator } = spec;
  const { layer, servers, share } = generator;
  requireLimits(spec);
  if (servers.length > 0) findWorkload(generator.workload.id);
  const driver = await loadDriver(layer);
  const identified = await identifyServers(servers);
  const readsServers = (share?.index ?? 0) === 0;
  const ourServers = readsServers ? identified : undefined;

  const merger = new SampleMerger(generator.workers, share !== undefined);
  const answers = generator.timeline && new AnswerLog(generator.workers);
  let opened_ms = 0;
  let monitor: ServerMonitor | undefined;
  const pool = new WorkerPool([spec], (worker, sample) => {
    answers?.add(worker, sample.latencies_us);
    const interval = merger.add(worker, sample, opened_ms);
    if (interval) report(secondEvent(interval, monitor?.recent(monotonicMs())));
  });
  const waits = generator.waits_for_readings ? new ReadingWaits(report, input) : undefined;
  const drainedAt = async (phase: ReadingPhase): Promise<void> => {
    if (waits) await waits.at(phase);
    else report({ event: "phase", phase });
  };
  /**
   * Waits until all generators have come here, so that the servers are idle, or stay so until they
   * are read.
   */
  const whenAllAreHere = async (): Promise<void> => {
    if (share) await waits?.at(WAITING);
  };
  const joint = share && {
    steady: () => report({ event: "phase", phase: STEADY }),
    mayEnd: () => waits?.areAllSteady ?? false,
  };
  try {
    await pool.connect();
    await drainedAt("connected");
    const consumers: Consumers | undefined =
      servers.length > 0 ? ourServers : await generatorAsConsumer(spec, plugins, () => pool.read());
    const at_start = (await consumers?.read()) ?? [];
    await whenAllAreHere();
    if (generator.warmup_s !== 0) report({ event: "phase", phase: "warmup" });
    const { warmup, began_ms, shared_wakes } = await warmUp(generator, pool, joint);
    const drainMs = generator.timeout_s * 1000;
    await whenAllAreHere();
    const at_window_open = consumers ? await readDrained(consumers, drainMs) : [];
    // What the instruments saw so far is the warm-up's.
    if (generator.diagnose && readsServers) await readDiagnoses(servers);
    await drainedAt("drained");

    monitor = ourServers && new ServerMonitor(servers.map(({ url }) => url));
    const links = await readNetworkLinks();
    const cpu = process.cpuUsage();
    let generatorCpu = cpu;
    let linkBytes: NetworkLink[] = [];
    const lead_in_ms = 1000 * leadInS(generator.warmup_s);
    opened_ms = monotonicMs() + START_DELAY_MS + lead_in_ms;
    report({ event: "phase", phase: "measure", opens_in_ms: START_DELAY_MS + lead_in_ms });
    // In the lead-in: its first reading takes CPU time, and belongs to the start of the window.
    const monitoring = sleep(Math.max(0, lead_in_ms - MONITOR_LEAD_MS)).then(() =>
      monitor?.start(),
    );
    const measured = await pool.measure(
      { extent: generator.extent, opens_ms: opened_ms, lead_in_ms, shared_wakes },
      async () => {
        generatorCpu = process.cpuUsage(cpu);
        linkBytes = bytesBetween(links, await readNetworkLinks());
        await monitoring;
        await monitor?.stop();
      },
    );
    await whenAllAreHere();
    const at_end = consumers ? await readDrained(consumers, drainMs) : [];
    const diagnosed =
      generator.diagnose && readsServers
        ? { servers: await readDiagnoses(servers), nodes: [] }
        : undefined;
    await drainedAt("finished");

    const measurements = {
      spec,
      started_at,
      opens_ms: opened_ms,
      opens_s: began_ms === undefined ? 0 : (opened_ms - began_ms) / 1000,
      measured,
      warmup: withLeadIn(warmup, lead_in_ms / 1000, measured),
      generatorCpuUs: generatorCpu.user + generatorCpu.system,
      longest_gap_ms: Math.max(...measured.map((worker) => worker.longest_gap_ms)),
      clocks,
      links: linkBytes,
      samples: merger.rows(monitor?.samples ?? [], opened_ms),
      monitor,
      driverVersions: driver.versions(),
      ...(consumers ? { consumers: { ...consumers, at_start, at_window_open, at_end } } : {}),
      ...(diagnosed ? { diagnosis: diagnosed } : {}),
      ...(answers ? { answers } : {}),
    };
    return {
      ...buildResult(measurements),
      ...(waits ? { request_counts: requestCounts(measured) } : {}),
      ...(share ? { share: shareOutput(measurements, merger.latencies()) } : {}),
    };
  } finally {
    waits?.close();
    await pool.close();
  }
}

/** @throws usageError for a traffic whose quota binds, where nobody says what the quota is */
export function requireLimits({ generator: { traffic, load }, limits }: GeneratorRunSpec): void {
  if (!findProfile(traffic).binding || (limits && load.model === "open")) return;
  throw usageError(
    `the traffic ${traffic} needs the limits of a campaign: use ratelimit-bench run --traffic ${traffic} --rate 5000`,
  );
}

export function requestCounts(
  measured: readonly Pick<Measured, "sent_by_request" | "undecided_by_request">[],
): RequestCounts {
  const added = (counts: readonly Uint32Array[]): number[] =>
    Array.from(counts[0] ?? [], (_, which) => sum(counts.map((each) => each[which] ?? 0)));
  return {
    sent: added(measured.map((worker) => worker.sent_by_request)),
    undecided: added(measured.map((worker) => worker.undecided_by_request)),
  };
}

export function withLeadIn(
  { took_s, requests, ...rest }: Omit<Warmup, "lead_in">,
  lead_in_s: number,
  measured: readonly Pick<Window, "lead_in_requests">[],
): Warmup {
  const lead_in = {
    took_s: lead_in_s,
    requests: sum(measured.map((window) => window.lead_in_requests)),
  };
  return {
    took_s: rounded(took_s + lead_in.took_s, 3),
    requests: requests + lead_in.requests,
    lead_in,
    ...rest,
  };
}

export function secondEvent(sample: Sample, server: ServerSample | undefined): Progress {
  const answered = sample.allowed + sample.limited;
  const { p99_ms, generator_event_loop_utilisation } = sample;
  return {
    event: "second",
    t_s: sample.t_s,
    requests_per_second: Math.round(answered / sample.interval_s),
    ...(answered > 0 ? { limited_share: sample.limited / answered } : {}),
    ...(p99_ms === undefined ? {} : { p99_ms }),
    ...(generator_event_loop_utilisation === undefined ? {} : { generator_event_loop_utilisation }),
    ...(server === undefined
      ? {}
      : {
          server_event_loop_utilisation: rounded(server.event_loop_utilisation, 4),
          server_cpu_percent: rounded(server.cpu_percent, 1),
        }),
  };
}
