import { setTimeout as sleep } from "node:timers/promises";
import type { GeneratorEnv } from "../contract/generator-env.js";
import { rounded } from "../contract/numbers.js";
import type { Progress } from "../contract/progress.js";
import type { MeasuredResult, Sample } from "../contract/result.js";
import { findProfile, findWorkload } from "../traffic/lookup.js";
import { monotonicMs } from "./measurement/clock.js";
import { ServerMonitor, type ServerSample } from "./measurement/monitor.js";
import { bytesBetween, readNetworkLinks } from "./measurement/network-links.js";
import { SampleMerger } from "./measurement/samples.js";
import { identifyServer, readDrainedUsage, readUsage } from "./measurement/server-readings.js";
import { buildResult } from "./results.js";
import { WorkerPool } from "./workers/worker-pool.js";

/** Time for the command to reach all workers, so that they start the schedule together. */
const START_DELAY_MS = 20;
/** Pause at a drained moment, in which a reader of the progress events can read counters. */
const DRAINED_PAUSE_MS = 250;

/**
 * One run of the load generator: identify the server, warm up, drain, measure, drain.
 * @throws BenchError when the server cannot be reached or is not the expected one
 */
export async function run(work: GeneratorEnv, report: (progress: Progress) => void): Promise<MeasuredResult> {
  const started_at = new Date();
  findProfile(work.traffic);
  const endpoint = work.url + findWorkload(work.workload).path;
  const health = await identifyServer(work.url, work.runNonce);
  const at_start = health && (await readUsage(work.url));

  const merger = new SampleMerger(work.workers);
  let opened_ms = 0;
  let monitor: ServerMonitor | undefined;
  const pool = new WorkerPool(
    {
      url: endpoint,
      traffic: work.traffic,
      seed: work.seed,
      timeoutS: work.timeoutS,
      ...(work.open ? { open: work.open } : {}),
    },
    work.connections,
    work.workers,
    (worker, sample) => {
      const interval = merger.add(worker, sample, opened_ms);
      if (interval) report(secondEvent(interval, monitor?.recent(monotonicMs())));
    },
  );
  try {
    await pool.connect();
    if (work.warmupS > 0) {
      report({ event: "phase", phase: "warmup" });
      await pool.warmUp(work.warmupS);
    }
    const drainMs = work.timeoutS * 1000;
    const at_window_open = health && (await readDrainedUsage(work.url, drainMs));
    report({ event: "phase", phase: "drained" });
    await sleep(DRAINED_PAUSE_MS);

    report({ event: "phase", phase: "measure" });
    monitor = at_window_open && new ServerMonitor(work.url);
    const links = await readNetworkLinks();
    await monitor?.start();
    const cpu = process.cpuUsage();
    opened_ms = monotonicMs() + (work.open ? START_DELAY_MS : 0);
    const extent =
      work.requests === undefined ? { durationS: work.durationS ?? 30 } : { requests: work.requests };
    const measured = await pool.measure(extent, opened_ms);
    const generatorCpu = process.cpuUsage(cpu);
    const linkBytes = bytesBetween(links, await readNetworkLinks());
    await monitor?.stop();
    const at_end = health && (await readDrainedUsage(work.url, drainMs));
    report({ event: "phase", phase: "finished" });
    await sleep(DRAINED_PAUSE_MS);

    return buildResult({
      work,
      started_at,
      finished_at: new Date(),
      measured,
      generatorCpuUs: generatorCpu.user + generatorCpu.system,
      links: linkBytes,
      samples: merger.rows(monitor?.samples ?? [], opened_ms),
      serverSamples: monitor?.samples ?? [],
      notes: (monitor?.failures ?? []).map((failure) => `a reading of the server failed: ${failure}`),
      ...(health && at_start && at_window_open && at_end
        ? { server: { health, at_start, at_window_open, at_end } }
        : {}),
    });
  } finally {
    await pool.terminate();
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
