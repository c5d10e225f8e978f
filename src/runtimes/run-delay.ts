import { readdir, readFile } from "node:fs/promises";

/** The times of a thread since its start, in microseconds. */
export interface ThreadTimes {
  cpu_us: number;
  /** The time in which it was ready to run and had no CPU. */
  delay_us: number;
}

export type RunDelays = ReadonlyMap<string, ThreadTimes>;

/**
 * The times of a thread; undefined where the text is malformed.
 * @param text the text of /proc/PID/task/TID/schedstat, which has nanoseconds on a CPU, nanoseconds
 *   of run delay, and timeslices
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
 * The times of all threads of these local processes; undefined where the system does not report
 * them.
 */
export async function readRunDelays(pids: readonly number[]): Promise<RunDelays | undefined> {
  const timesByProcess = await Promise.all(pids.map((pid) => timesOf(pid).catch(() => [])));
  const delays = new Map(timesByProcess.flat());
  return delays.size > 0 ? delays : undefined;
}

/** A time of all threads between two readings, without threads that ended in between. */
function between(from: RunDelays, to: RunDelays, name: keyof ThreadTimes): number {
  let total_us = 0;
  for (const [thread, times] of to) {
    const before_us = from.get(thread)?.[name] ?? 0;
    // Where the time is less than before, the id belongs to a new thread.
    total_us += times[name] >= before_us ? times[name] - before_us : times[name];
  }
  return Math.round(total_us);
}

export const runDelayBetween = (from: RunDelays, to: RunDelays): number =>
  between(from, to, "delay_us");

/** The CPU time of threads, which is finer than the counters of a process (often whole 10 ms). */
export const cpuBetween = (from: RunDelays, to: RunDelays): number => between(from, to, "cpu_us");

/**
 * The CPU time of a process as a counter that only grows. That of its threads is finer than the
 * system's counter of the process, and lacks threads that have ended.
 */
export class FineCpuTime {
  #last: RunDelays = new Map();
  #cpu_us = 0;

  /**
   * Takes a reading.
   * @param counted_us the system's counter of the process, in whole ticks
   * @param threads undefined where the system does not report them
   * @returns the CPU time since the start of the process
   */
  at(counted_us: number, threads: RunDelays | undefined): number {
    if (threads) {
      this.#cpu_us += cpuBetween(this.#last, threads);
      this.#last = threads;
    }
    this.#cpu_us = Math.max(this.#cpu_us, counted_us);
    return this.#cpu_us;
  }
}
