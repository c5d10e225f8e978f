import { Worker } from "node:worker_threads";
import type { GeneratorRunSpec } from "../../contract/generator-env.js";
import type { TurnLengths } from "../../contract/turns.js";
import { within } from "../../kit/deadline.js";
import { BenchError, EXIT, type ExitCode } from "../../kit/errors.js";
import { totals } from "../../kit/numbers.js";
import type { WorkerSample } from "../measurement/recorder.js";
import type { WarmupLoad } from "../warmup.js";
import {
  type Command,
  type CurveTurn,
  type Measured,
  type MeasuredByTurns,
  type MeasuredTurn,
  type MeetingPlace,
  meetingPlace,
  placeOfWorker,
  type Reply,
  type RunAssignment,
  type RunsOf,
  resume,
  shareOf,
  sharesBefore,
  type TargetAssignment,
  type TurnOfWorker,
  type TurnsOfTargets,
  type TurnsWindow,
  type WorkerAssignment,
  type WorkerReading,
  type WorkerWindow,
} from "./protocol.js";

const CLOSE_MS = 2_000;

export type SampleListener = (worker: number, sample: WorkerSample, target: number) => void;

type WorkerMessage = Extract<Reply, { reply: "sample" | "closed" | "paused" }>;

const isMessage = (reply: Reply): reply is WorkerMessage =>
  ["sample", "closed", "paused"].includes(reply.reply);

class WorkerHandle {
  readonly assignment: WorkerAssignment;
  readonly #worker: Worker;
  #hasEnded = false;
  #pending: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | undefined;

  constructor(assignment: WorkerAssignment, onMessage: (message: WorkerMessage) => void) {
    this.assignment = assignment;
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: assignment });
    this.#worker.on("message", (reply: Reply) => {
      if (isMessage(reply)) onMessage(reply);
      else if (reply.reply === "error") {
        this.#pending?.reject(
          new BenchError(reply.message, (reply.exitCode ?? EXIT.defect) as ExitCode),
        );
      } else this.#pending?.resolve(reply);
    });
    this.#worker.on("error", (error) => this.#pending?.reject(error as Error));
    this.#worker.on("exit", () => {
      this.#hasEnded = true;
      this.#pending?.reject(new Error("a worker thread ended early"));
    });
  }

  send(command: Command): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#worker.postMessage(command);
    });
  }

  async close(): Promise<void> {
    if (!this.#hasEnded)
      await within(this.send({ command: "stop" }), CLOSE_MS, () => "late").catch(() => undefined);
    await this.#worker.terminate();
  }
}

/** All worker threads of one generator, which warm up and measure together. */
export class WorkerPool {
  readonly #handles: WorkerHandle[];
  readonly #onSample: SampleListener;
  #onClosed: () => void = () => {};
  #onPaused: () => void = () => {};
  readonly #meeting: MeetingPlace;

  /**
   * Spreads connections evenly over the workers of all generators, and numbers them over the whole
   * load.
   * @param targets the runs of each target
   */
  constructor(targets: RunsOf<RunsOf<GeneratorRunSpec>>, onSample: SampleListener) {
    const [[{ generator }]] = targets;
    const { workers } = generator;
    this.#meeting = meetingPlace(workers);
    this.#onSample = onSample;
    this.#handles = Array.from({ length: workers }, (_, worker) => {
      const place = placeOfWorker(generator, worker);
      const runOf = (spec: GeneratorRunSpec): RunAssignment => ({
        spec,
        firstConnection: sharesBefore(spec.generator.load.connections, place),
        connections: shareOf(spec.generator.load.connections, place),
      });
      const targetOf = ([first, ...others]: RunsOf<GeneratorRunSpec>): TargetAssignment => [
        runOf(first),
        ...others.map(runOf),
      ];
      const [first, ...others] = targets;
      const assignment: WorkerAssignment = {
        targets: [targetOf(first), ...others.map(targetOf)],
        ...place,
        ...this.#meeting,
      };
      return new WorkerHandle(assignment, (message) => this.#receive(worker, message));
    });
  }

  async connect(): Promise<void> {
    await this.#all(() => ({ command: "connect" }));
  }

  /** @param asClosed whether an open loop sends as a closed one */
  async warmUp(seconds: number, asClosed = false, target = 0): Promise<WarmupLoad> {
    const replies = await this.#all(() => ({ command: "warmUp", target, seconds, asClosed }));
    const loads = replies.flatMap((reply) => (reply.reply === "warmUp" ? [reply.warmup] : []));
    return {
      took_s: Math.max(...loads.map(({ took_s }) => took_s)),
      ...totals(["requests", "answers", "latency_sum_us"], loads),
    };
  }

  /**
   * Measures one window. @param onClosed is called once, when the windows of all workers have
   * closed
   * @returns one measurement for each worker
   */
  async measure(
    { extent, ...plan }: WorkerWindow,
    onClosed: () => Promise<void>,
  ): Promise<(Measured & { connections: number })[]> {
    const closed = this.#allClosed().then(onClosed);
    const measuring = this.#all(({ assignment }) => ({
      command: "measure",
      extent: "requests" in extent ? { requests: shareOf(extent.requests, assignment) } : extent,
      ...plan,
    }));
    const [replies] = await Promise.all([measuring, closed]);

    return replies.flatMap((reply, index) =>
      reply.reply === "measure"
        ? [{ ...reply.measured, connections: this.#connectionsOf(index, 0) }]
        : [],
    );
  }

  /**
   * Gives the load to targets by turns.
   * @param onPause is called when no target has a turn, and the next turn waits for it
   */
  async turns(
    plan: TurnsOfTargets,
    onPause: () => Promise<void> = async () => {},
  ): Promise<(MeasuredByTurns & { connections: number })[][]> {
    let paused = 0;
    this.#onPaused = () => {
      if (++paused % this.#handles.length === 0) onPause().finally(() => resume(this.#meeting));
    };
    return this.#byTarget(await this.#all(() => ({ command: "turns", ...plan })));
  }

  /** Gives a run of a load curve its turn. @returns one measurement for each worker */
  async curveTurn(turn: CurveTurn): Promise<(MeasuredTurn & { connections: number })[]> {
    const replies = await this.#all(() => ({ command: "curveTurn", ...turn }));
    return replies.flatMap((reply, worker) =>
      reply.reply === "curveTurn"
        ? [{ ...reply.measured, connections: this.#connectionsOf(worker, turn.target, turn.run) }]
        : [],
    );
  }

  async givenTurns(
    turns: AsyncIterable<TurnLengths>,
    plan: TurnsWindow,
    onTurn: (turn: TurnOfWorker) => void,
  ): Promise<(MeasuredByTurns & { connections: number })[][]> {
    for await (const turn of turns) {
      const replies = await this.#all(() => ({ command: "turn", turn, plan }));
      const workers = replies.flatMap((reply) => (reply.reply === "turn" ? [reply.turn] : []));
      onTurn({
        ...totals(["answers", "followed", "latency_sum_us", "requests"], workers),
        // Each worker reads the CPU time of the whole process.
        cpu_us: Math.max(...workers.map(({ cpu_us }) => cpu_us)),
        took_ms: Math.max(...workers.map(({ took_ms }) => took_ms)),
      });
    }
    return this.#byTarget(await this.#all(() => ({ command: "endTurns" })));
  }

  #byTarget(replies: readonly Reply[]): (MeasuredByTurns & { connections: number })[][] {
    const workers = replies.map((reply) => (reply.reply === "turns" ? reply.measured : []));
    return (workers[0] ?? []).map((_, target) =>
      workers.flatMap((measured, worker) => {
        const ofTarget = measured[target];
        return ofTarget ? [{ ...ofTarget, connections: this.#connectionsOf(worker, target) }] : [];
      }),
    );
  }

  #connectionsOf(worker: number, target: number, run = 0): number {
    return this.#handles[worker]?.assignment.targets[target]?.[run]?.connections ?? 0;
  }

  async read(): Promise<WorkerReading[]> {
    const replies = await this.#all(() => ({ command: "read" }));
    return replies.flatMap((reply) => (reply.reply === "read" ? [reply.reading] : []));
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#handles.map((handle) => handle.close()));
  }

  #receive(worker: number, message: WorkerMessage): void {
    if (message.reply === "sample") this.#onSample(worker, message.sample, message.target);
    else if (message.reply === "closed") this.#onClosed();
    else this.#onPaused();
  }

  #allClosed(): Promise<void> {
    let openWindows = this.#handles.length;
    return new Promise((resolve) => {
      this.#onClosed = () => {
        if (--openWindows === 0) resolve();
      };
    });
  }

  #all(command: (handle: WorkerHandle) => Command): Promise<Reply[]> {
    return Promise.all(this.#handles.map((handle) => handle.send(command(handle))));
  }
}
