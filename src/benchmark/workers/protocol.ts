import type { GeneratorEnv } from "../../contract/generator-env.js";
import type { Extent, Window } from "../load-loop.js";
import type { WorkerSample } from "../measurement/recorder.js";

/** The `workerData` of a worker thread. */
export interface WorkerAssignment {
  url: string;
  traffic: string;
  seed: number;
  /** The schedule of an open loop; without it the loop is closed. */
  open?: NonNullable<GeneratorEnv["open"]>;
  /** This worker's index, from 0, and the number of workers. */
  index: number;
  of: number;
  /** Connections of all workers together. */
  allConnections: number;
  /** Number of this worker's first connection, counted over all workers. */
  firstConnection: number;
  connections: number;
  timeoutS: number;
}

/** A message to a worker. They are sent one at a time; the worker answers each with one reply of the same name. */
export type Command =
  | { command: "connect" }
  | { command: "warmUp"; durationS: number }
  | { command: "measure"; extent: Extent; opens_ms: number }
  | { command: "stop" };

export interface Measured extends Window {
  event_loop_utilisation: number;
  cpu_wait_share?: number;
}

export type Reply =
  | { reply: "connect" | "warmUp" | "stop" }
  | { reply: "measure"; measured: Measured }
  | { reply: "sample"; sample: WorkerSample }
  | { reply: "error"; message: string; exitCode?: number };
