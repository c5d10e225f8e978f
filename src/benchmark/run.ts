import type { GeneratorEnv } from "../contract/generator-env.js";
import type { Progress } from "../contract/progress.js";
import type { MeasuredResult } from "../contract/result.js";
import { findProfile, findWorkload } from "../traffic/find.js";
import { monotonicMs, sleep } from "./clock.js";
import { Crew } from "./crew.js";
import { Monitor } from "./monitor.js";
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
      if (whole) report(secondOf(whole));
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
    const monitor = at_window_open && new Monitor(work.url, at_window_open);
    const cpu = process.cpuUsage();
    monitor?.start();
    opened_ms = monotonicMs() + (work.open ? MUSTER_MS : 0);
    const extent =
      work.requests === undefined ? { durationS: work.durationS ?? 30 } : { requests: work.requests };
    const measured = await crew.measure(extent, opened_ms);
    const generatorCpu = process.cpuUsage(cpu);
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

function secondOf(sample: ReturnType<SampleSheet["rows"]>[number]): Progress {
  const answered = sample.allowed + sample.limited;
  return {
    event: "second",
    t_s: sample.t_s,
    requests_per_second: Math.round(answered / sample.interval_s),
    limited_share: answered > 0 ? sample.limited / answered : 0,
    ...(sample.p99_ms === undefined ? {} : { p99_ms: sample.p99_ms }),
  };
}
