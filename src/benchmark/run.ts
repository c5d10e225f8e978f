import { setTimeout as sleep } from "node:timers/promises";
import type { GeneratorRunSpec } from "../contract/generator-env.js";
import { rounded } from "../contract/numbers.js";
import type { PluginFacts } from "../contract/plugins.js";
import type { Progress } from "../contract/progress.js";
import type { MeasuredResult, Sample } from "../contract/result.js";
import { findProfile, findWorkload } from "../traffic/lookup.js";
import { loadDriver } from "./drivers/index.js";
import { monotonicMs } from "./measurement/clock.js";
import { type Consumers, readDrained } from "./measurement/consumers.js";
import { generatorAsConsumer } from "./measurement/generator-readings.js";
import { ServerMonitor, type ServerSample } from "./measurement/monitor.js";
import { bytesBetween, readNetworkLinks } from "./measurement/network-links.js";
import { SampleMerger } from "./measurement/samples.js";
import { identifyServers } from "./measurement/server-readings.js";
import { buildResult } from "./results.js";
import { WorkerPool } from "./workers/worker-pool.js";

/** Time for the command to reach all workers, so that they open their windows together. */
const START_DELAY_MS = 20;
/** Pause at a drained moment, in which a reader of the progress events can read counters. */
const DRAINED_PAUSE_MS = 250;

/**
 * One run of the load generator: identify the servers, warm up, drain, measure, drain.
 * @throws BenchError when a server cannot be reached or is not the expected one
 */
export async function run(
  spec: GeneratorRunSpec,
  plugins: readonly PluginFacts[],
  report: (progress: Progress) => void,
): Promise<MeasuredResult> {
  const started_at = new Date();
  const { generator } = spec;
  const { layer, servers } = generator;
  findProfile(generator.traffic);
  if (servers.length > 0) findWorkload(generator.workload.id);
  const driver = await loadDriver(layer);
  const ourServers = await identifyServers(servers);

  const merger = new SampleMerger(generator.workers);
  let opened_ms = 0;
  let monitor: ServerMonitor | undefined;
  const pool = new WorkerPool(spec, (worker, sample) => {
    const interval = merger.add(worker, sample, opened_ms);
    if (interval) report(secondEvent(interval, monitor?.recent(monotonicMs())));
  });
  try {
    await pool.connect();
    const consumers: Consumers | undefined =
      servers.length > 0 ? ourServers : await generatorAsConsumer(spec, plugins, () => pool.read());
    const at_start = (await consumers?.read()) ?? [];
    if (generator.warmup_s > 0) {
      report({ event: "phase", phase: "warmup" });
      await pool.warmUp(generator.warmup_s);
    }
    const drainMs = generator.timeout_s * 1000;
    const at_window_open = consumers ? await readDrained(consumers, drainMs) : [];
    report({ event: "phase", phase: "drained" });
    await sleep(DRAINED_PAUSE_MS);

    report({ event: "phase", phase: "measure" });
    monitor = ourServers && new ServerMonitor(servers.map(({ url }) => url));
    const links = await readNetworkLinks();
    await monitor?.start();
    const cpu = process.cpuUsage();
    opened_ms = monotonicMs() + START_DELAY_MS;
    const measured = await pool.measure(generator.extent, opened_ms);
    const generatorCpu = process.cpuUsage(cpu);
    const linkBytes = bytesBetween(links, await readNetworkLinks());
    await monitor?.stop();
    const at_end = consumers ? await readDrained(consumers, drainMs) : [];
    report({ event: "phase", phase: "finished" });
    await sleep(DRAINED_PAUSE_MS);

    return buildResult({
      spec,
      started_at,
      finished_at: new Date(),
      warmup: { took_s: Number(generator.warmup_s), requests: 0 },
      measured,
      generatorCpuUs: generatorCpu.user + generatorCpu.system,
      links: linkBytes,
      samples: merger.rows(monitor?.samples ?? [], opened_ms),
      serverSamples: monitor?.samples ?? [],
      samplesByServer: monitor?.samplesByServer ?? [],
      driverVersions: driver.versions(),
      notes: (monitor?.failures ?? []).map((failure) => `a reading of the servers failed: ${failure}`),
      ...(consumers ? { consumers: { ...consumers, at_start, at_window_open, at_end } } : {}),
    });
  } finally {
    await pool.close();
  }
}

/** The progress event of one second. */
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
