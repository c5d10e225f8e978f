import type { GeneratorEnv } from "../contract/generator-env.js";
import type { Extent, Window } from "./engine.js";
import type { WorkerSample } from "./recorder.js";

/** What a worker thread is told at its start. */
export interface WorkerAssignment {
  url: string;
  traffic: string;
  seed: number;
  /** The schedule of an open loop; without it the loop is closed. */
  open?: NonNullable<GeneratorEnv["open"]>;
  /** Which worker it is, from 0, and of how many. */
  index: number;
  of: number;
  /** Connections of all workers together. */
  allConnections: number;
  /** Number of its first connection, over all workers. */
  firstConnection: number;
  connections: number;
  timeoutS: number;
}

/** What the main thread asks of a worker, one at a time; each is answered by one reply of the same name. */
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
