import { readdir, readFile } from "node:fs/promises";

/** How long each thread was ready to run without a CPU since its start, in microseconds, by thread id. */
export type RunDelays = ReadonlyMap<string, number>;

/** @param text of /proc/PID/task/TID/schedstat: nanoseconds on a CPU, nanoseconds of run delay, timeslices */
export function runDelayUs(text: string): number | undefined {
  const [, delay_ns] = text.trim().split(" ");
  const delay_us = Number(delay_ns) / 1000;
  return delay_ns === undefined || Number.isNaN(delay_us) ? undefined : delay_us;
}

async function delaysOf(pid: number): Promise<[string, number][]> {
  const folder = `/proc/${pid}/task`;
  const threads = await readdir(folder);
  const delays = threads.map(async (thread): Promise<[string, number][]> => {
    // A thread may end at any moment.
    const text = await readFile(`${folder}/${thread}/schedstat`, "utf8").catch(() => "");
    const delay_us = runDelayUs(text);
    return delay_us === undefined ? [] : [[thread, delay_us]];
  });
  return (await Promise.all(delays)).flat();
}

/** @returns the delays of all threads of these local processes; undefined where the system does not report them */
export async function readRunDelays(pids: readonly number[]): Promise<RunDelays | undefined> {
  const delays = await Promise.all(pids.map((pid) => delaysOf(pid).catch(() => [])));
  const all = new Map(delays.flat());
  return all.size > 0 ? all : undefined;
}

/** The run delay of all threads between two readings. The delay of a thread that ended in between is not known. */
export function runDelayBetween(from: RunDelays, to: RunDelays): number {
  let total_us = 0;
  for (const [thread, delay_us] of to) {
    const before_us = from.get(thread) ?? 0;
    // Less than before: the id belongs to a new thread.
    total_us += delay_us >= before_us ? delay_us - before_us : delay_us;
  }
  return Math.round(total_us);
}
