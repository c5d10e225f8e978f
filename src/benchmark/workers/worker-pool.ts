import { Worker } from "node:worker_threads";
import { BenchError, EXIT, type ExitCode } from "../../contract/errors.js";
import type { Extent } from "../load-loop.js";
import type { WorkerSample } from "../measurement/recorder.js";
import type { Command, Measured, Reply, WorkerAssignment } from "./protocol.js";

/** The main thread's side of one worker thread. */
class WorkerHandle {
  readonly connections: number;
  readonly #worker: Worker;
  #pending: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | undefined;

  constructor(assignment: WorkerAssignment, onSample: (sample: WorkerSample) => void) {
    this.connections = assignment.connections;
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: assignment });
    this.#worker.on("message", (reply: Reply) => {
      if (reply.reply === "sample") onSample(reply.sample);
      else if (reply.reply === "error") {
        this.#pending?.reject(new BenchError(reply.message, (reply.exitCode ?? EXIT.defect) as ExitCode));
      } else this.#pending?.resolve(reply);
    });
    this.#worker.on("error", (error) => this.#pending?.reject(error as Error));
    this.#worker.on("exit", () => this.#pending?.reject(new Error("a worker thread ended early")));
  }

  send(command: Command): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#worker.postMessage(command);
    });
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** All worker threads of one generator; they warm up and measure together. */
export class WorkerPool {
  readonly #handles: WorkerHandle[];

  /** Spreads connections evenly over the workers. A connection keeps its number whatever the count of workers. */
  constructor(
    shared: Omit<WorkerAssignment, "index" | "of" | "allConnections" | "firstConnection" | "connections">,
    connections: number,
    workers: number,
    onSample: (worker: number, sample: WorkerSample) => void,
  ) {
    let firstConnection = 0;
    this.#handles = Array.from({ length: workers }, (_, index) => {
      const share = Math.floor(connections / workers) + (index < connections % workers ? 1 : 0);
      const position = {
        index,
        of: workers,
        allConnections: connections,
        firstConnection,
        connections: share,
      };
      firstConnection += share;
      return new WorkerHandle({ ...shared, ...position }, (sample) => onSample(index, sample));
    });
  }

  async connect(): Promise<void> {
    await this.#all(() => ({ command: "connect" }));
  }

  async warmUp(durationS: number): Promise<void> {
    await this.#all(() => ({ command: "warmUp", durationS }));
  }

  /**
   * @param opens_ms when the windows of all workers open, monotonic milliseconds
   * @returns one measurement per worker, with its number of connections
   */
  async measure(extent: Extent, opens_ms: number): Promise<(Measured & { connections: number })[]> {
    const replies = await this.#all((_handle, index) => ({
      command: "measure",
      extent: "requests" in extent ? { requests: this.#share(extent.requests, index) } : extent,
      opens_ms,
    }));
    return replies.flatMap((reply, index) =>
      reply.reply === "measure"
        ? [{ ...reply.measured, connections: this.#handles[index]?.connections ?? 0 }]
        : [],
    );
  }

  /** Ends all threads; never rejects. */
  async terminate(): Promise<void> {
    await Promise.allSettled(this.#handles.map((handle) => handle.terminate()));
  }

  #share(total: number, index: number): number {
    return Math.floor(total / this.#handles.length) + (index < total % this.#handles.length ? 1 : 0);
  }

  #all(command: (handle: WorkerHandle, index: number) => Command): Promise<Reply[]> {
    return Promise.all(this.#handles.map((handle, index) => handle.send(command(handle, index))));
  }
}
