import { Worker } from "node:worker_threads";
import { BenchError, EXIT, type ExitCode } from "../contract/errors.js";
import type { Extent } from "./engine.js";
import type { Command, Measured, Reply, WorkerAssignment } from "./protocol.js";
import type { WorkerSample } from "./recorder.js";

/** One worker thread, seen from the main thread. */
class Hand {
  readonly connections: number;
  readonly #worker: Worker;
  #answer: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | undefined;

  constructor(assignment: WorkerAssignment, onSample: (sample: WorkerSample) => void) {
    this.connections = assignment.connections;
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: assignment });
    this.#worker.on("message", (reply: Reply) => {
      if (reply.reply === "sample") onSample(reply.sample);
      else if (reply.reply === "error") {
        this.#answer?.reject(new BenchError(reply.message, (reply.exitCode ?? EXIT.defect) as ExitCode));
      } else this.#answer?.resolve(reply);
    });
    this.#worker.on("error", (error) => this.#answer?.reject(error as Error));
    this.#worker.on("exit", () => this.#answer?.reject(new Error("a worker thread ended early")));
  }

  ask(command: Command): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#answer = { resolve, reject };
      this.#worker.postMessage(command);
    });
  }

  async dismiss(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** All worker threads of one generator; they warm up and measure together. */
export class Crew {
  readonly #hands: Hand[];

  /** Connections are spread as evenly as they go; each keeps its number, whatever the count of workers. */
  constructor(
    shared: Omit<WorkerAssignment, "index" | "of" | "allConnections" | "firstConnection" | "connections">,
    connections: number,
    workers: number,
    onSample: (worker: number, sample: WorkerSample) => void,
  ) {
    let firstConnection = 0;
    this.#hands = Array.from({ length: workers }, (_, index) => {
      const share = Math.floor(connections / workers) + (index < connections % workers ? 1 : 0);
      const place = { index, of: workers, allConnections: connections, firstConnection, connections: share };
      firstConnection += share;
      return new Hand({ ...shared, ...place }, (sample) => onSample(index, sample));
    });
  }

  async connect(): Promise<void> {
    await this.#all(() => ({ command: "connect" }));
  }

  async warmUp(durationS: number): Promise<void> {
    await this.#all(() => ({ command: "warmUp", durationS }));
  }

  /**
   * @param opens_ms when the windows of all workers open together, monotonic milliseconds
   * @returns one measurement a worker, with its number of connections
   */
  async measure(extent: Extent, opens_ms: number): Promise<(Measured & { connections: number })[]> {
    const replies = await this.#all((_hand, index) => ({
      command: "measure",
      extent: "requests" in extent ? { requests: this.#share(extent.requests, index) } : extent,
      opens_ms,
    }));
    return replies.flatMap((reply, index) =>
      reply.reply === "measure"
        ? [{ ...reply.measured, connections: this.#hands[index]?.connections ?? 0 }]
        : [],
    );
  }

  /** Ends all threads; never fails. */
  async dismiss(): Promise<void> {
    await Promise.allSettled(this.#hands.map((hand) => hand.dismiss()));
  }

  #share(total: number, index: number): number {
    return Math.floor(total / this.#hands.length) + (index < total % this.#hands.length ? 1 : 0);
  }

  #all(command: (hand: Hand, index: number) => Command): Promise<Reply[]> {
    return Promise.all(this.#hands.map((hand, index) => hand.ask(command(hand, index))));
  }
}
