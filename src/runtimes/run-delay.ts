import { readdir, readFile } from "node:fs/promises";

/** What a thread has had since its start, in microseconds. */
export interface ThreadTimes {
  cpu_us: number;
  /** It was ready to run and had no CPU. */
  delay_us: number;
}

export type RunDelays = ReadonlyMap<string, ThreadTimes>;

/**
 * @param text of /proc/PID/task/TID/schedstat: nanoseconds on a CPU, nanoseconds of run delay,
 *   timeslices
 */
export function threadTimesOf(text: string): ThreadTimes | undefined {
  const [cpu_ns, delay_ns] = text.trim().split(" ");
  const times = { cpu_us: Number(cpu_ns) / 1000, delay_us: Number(delay_ns) / 1000 };
  return delay_ns === undefined || Number.isNaN(times.cpu_us + times.delay_us) ? undefined : times;
}

async function timesOf(pid: number): Promise<[string, ThreadTimes][]> {
  const folder = `/proc/${pid}/task`;
  const threads = await readdir(folder);
  const timesByThread = threads.map(async (thread): Promise<[string, ThreadTimes][]> => {
    // A thread may end at any moment.
    const text = await readFile(`${folder}/${thread}/schedstat`, "utf8").catch(() => "");
    const times = threadTimesOf(text);
    return times ? [[thread, times]] : [];
  });
  return (await Promise.all(timesByThread)).flat();
}

/**
 * @returns the times of all threads of these local processes; undefined where the system does not
 *   report them
 */
export async function readRunDelays(pids: readonly number[]): Promise<RunDelays | undefined> {
  const timesByProcess = await Promise.all(pids.map((pid) => timesOf(pid).catch(() => [])));
  const delays = new Map(timesByProcess.flat());
  return delays.size > 0 ? delays : undefined;
}

/**
 * A time of all threads between two readings. That of a thread that ended in between is not known.
 */
function between(from: RunDelays, to: RunDelays, name: keyof ThreadTimes): number {
  let total_us = 0;
  for (const [thread, times] of to) {
    const before_us = from.get(thread)?.[name] ?? 0;
    // Less than before: the id belongs to a new thread.
    total_us += times[name] >= before_us ? times[name] - before_us : times[name];
  }
  return Math.round(total_us);
}

export const runDelayBetween = (from: RunDelays, to: RunDelays): number =>
  between(from, to, "delay_us");

/** Finer than the counters of a process, which may be whole hundredths of a second. */
export const cpuBetween = (from: RunDelays, to: RunDelays): number => between(from, to, "cpu_us");
