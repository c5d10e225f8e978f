import type { GeneratorEnv } from "../contract/generator-env.js";
import type { Progress } from "../contract/progress.js";
import type { MeasuredResult, Sample } from "../contract/result.js";
import { findProfile, findWorkload } from "../traffic/find.js";
import { monotonicMs, sleep } from "./clock.js";
import { Crew } from "./crew.js";
import { carriedSince, readLinks } from "./links.js";
import { Monitor, type ServerSample } from "./monitor.js";
import { buildResult } from "./results.js";
import { SampleSheet } from "./samples.js";
import { identify, readDrainedUsage, readUsage } from "./server-under-test.js";

/** Time for the word to reach all workers, so that they begin one schedule together. */
const MUSTER_MS = 20;
/** At a drained moment nothing is sent for so long, so that whoever follows the progress can read counters. */
const READING_PAUSE_MS = 250;

/**
 * One run of the load generator: identify the server, warm up, drain, measure, drain.
 * @throws BenchError when the server cannot be reached or is not the one that was meant
 */
export async function run(work: GeneratorEnv, report: (progress: Progress) => void): Promise<MeasuredResult> {
  const started_at = new Date();
  findProfile(work.traffic);
  const endpoint = work.url + findWorkload(work.workload).path;
  const health = await identify(work.url, work.runNonce);
  const at_start = health && (await readUsage(work.url));

  const sheet = new SampleSheet(work.workers);
  let opened_ms = 0;
  let monitor: Monitor | undefined;
  const crew = new Crew(
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
      const whole = sheet.add(worker, sample, opened_ms);
      if (whole) report(secondOf(whole, monitor?.recent(monotonicMs())));
    },
  );
  try {
    await crew.connect();
    if (work.warmupS > 0) {
      report({ event: "phase", phase: "warmup" });
      await crew.warmUp(work.warmupS);
    }
    const drainMs = work.timeoutS * 1000;
    const at_window_open = health && (await readDrainedUsage(work.url, drainMs));
    report({ event: "phase", phase: "drained" });
    await sleep(READING_PAUSE_MS);

    report({ event: "phase", phase: "measure" });
    monitor = at_window_open && new Monitor(work.url);
    const links = await readLinks();
    await monitor?.start();
    const cpu = process.cpuUsage();
    opened_ms = monotonicMs() + (work.open ? MUSTER_MS : 0);
    const extent =
      work.requests === undefined ? { durationS: work.durationS ?? 30 } : { requests: work.requests };
    const measured = await crew.measure(extent, opened_ms);
    const generatorCpu = process.cpuUsage(cpu);
    const carried = carriedSince(links, await readLinks());
    await monitor?.stop();
    const at_end = health && (await readDrainedUsage(work.url, drainMs));
    report({ event: "phase", phase: "finished" });
    await sleep(READING_PAUSE_MS);

    return buildResult({
      work,
      started_at,
      finished_at: new Date(),
      measured,
      generatorCpuUs: generatorCpu.user + generatorCpu.system,
      links: carried,
      samples: sheet.rows(monitor?.samples ?? [], opened_ms),
      serverSamples: monitor?.samples ?? [],
      notes: (monitor?.failures ?? []).map((failure) => `a reading of the server failed: ${failure}`),
      ...(health && at_start && at_window_open && at_end
        ? { server: { health, at_start, at_window_open, at_end } }
        : {}),
    });
  } finally {
    await crew.dismiss();
  }
}

/** A second as it is told live. */
export function secondOf(sample: Sample, server: ServerSample | undefined): Progress {
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
          server_event_loop_utilisation: Number(server.event_loop_utilisation.toFixed(4)),
          server_cpu_percent: Number(server.cpu_percent.toFixed(1)),
        }),
  };
}
