import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import {
  HOST_SPEED_PROBE_VERSION,
  type HostSpeed,
  type HostSpeedProbeFacts,
} from "../contract/host-speed.js";
import { median, rounded } from "../contract/numbers.js";
import { CHASE_BYTES, linkLines, type ThreadReply, type ThreadTask } from "./host-speed-work.js";
import { threadClock } from "./thread-clock.js";

/** A machine with more CPUs than this is measured on so many: each thread takes some megabytes during the runs. */
const MAX_THREADS = 64;

/** The version of the probe and its clock on this system, for the manifest. */
export const hostSpeedProbeFacts = (): HostSpeedProbeFacts => ({
  version: HOST_SPEED_PROBE_VERSION,
  clock: threadClock(),
});

/** The median over the threads. @param replies at least one */
export function hostSpeedOf(replies: readonly Omit<ThreadReply, "checksum">[]): HostSpeed {
  const over = (read: (reply: (typeof replies)[number]) => number | undefined) =>
    replies.flatMap((reply) => read(reply) ?? []);
  const roundTrips = over(({ ping_pong_us }) => ping_pong_us);
  return {
    integer_us: rounded(median(over(({ integer_us }) => integer_us)), 1),
    chase_us: rounded(median(over(({ chase_us }) => chase_us)), 1),
    ...(roundTrips.length > 0 ? { ping_pong_us: rounded(median(roundTrips), 3) } : {}),
    cpus: replies.length,
  };
}

/**
 * Measures the speed of this machine by a fixed piece of work on all CPUs at once: 0.3 s. Its threads live as long as
 * the probe, so that their code stays compiled; between two measurements they sleep.
 */
export class HostSpeedProbe {
  #workers: Worker[] | undefined;

  /** @throws Error when a thread cannot be started, or ends early */
  async measure(): Promise<HostSpeed> {
    if (!this.#workers) {
      this.#workers = startWorkers();
      // The first measurement compiles the code and fills the caches. It does not count.
      await this.#replies(this.#workers);
    }
    return hostSpeedOf(await this.#replies(this.#workers));
  }

  async close(): Promise<void> {
    const workers = this.#workers ?? [];
    this.#workers = undefined;
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  async #replies(workers: readonly Worker[]): Promise<ThreadReply[]> {
    try {
      return await Promise.all(workers.map(askWorker));
    } catch (error) {
      // The others would wait for the one that failed.
      await this.close();
      throw error;
    }
  }
}

function startWorkers(): Worker[] {
  const threads = Math.min(availableParallelism(), MAX_THREADS);
  const memory = new SharedArrayBuffer(CHASE_BYTES);
  linkLines(new Int32Array(memory));
  const arrivals = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  return Array.from({ length: threads }, (_, thread) => {
    const workerData: ThreadTask = { thread, threads, memory, arrivals };
    const worker = new Worker(new URL("./host-speed-worker.js", import.meta.url), {
      workerData,
      // The work must not depend on the flags of this process.
      execArgv: [],
    });
    // A probe that nobody closed must not keep the process.
    worker.unref();
    return worker;
  });
}

/** @throws Error when the thread fails or ends */
function askWorker(worker: Worker): Promise<ThreadReply> {
  return new Promise<ThreadReply>((resolve, reject) => {
    const onEnd = () => reject(new Error("a thread that measures the speed of the host ended early"));
    const settle = () => {
      worker.off("message", onMessage).off("error", onError).off("exit", onEnd);
      worker.unref();
    };
    const onMessage = (reply: ThreadReply) => {
      settle();
      resolve(reply);
    };
    const onError = (error: unknown) => {
      settle();
      reject(error);
    };
    worker.once("message", onMessage).once("error", onError).once("exit", onEnd);
    // While an answer is due the process must wait for it.
    worker.ref();
    worker.postMessage("measure");
  });
}
