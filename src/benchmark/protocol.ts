import type { Counts, EncodedHistogram, Outcome } from "../contract/result.js";
import type { Extent } from "./autocannon.js";
import type { WorkerSample } from "./recorder.js";

/** What a worker thread is told at its start. */
export interface WorkerAssignment {
  url: string;
  traffic: string;
  seed: number;
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
  | { command: "measure"; extent: Extent }
  | { command: "stop" };

export interface Measured {
  opened_ms: number;
  closed_ms: number;
  counts: Counts;
  event_loop_utilisation: number;
  cpu_wait_share?: number;
  histograms: Record<Outcome, EncodedHistogram>;
}

export type Reply =
  | { reply: "connect" | "warmUp" | "stop" }
  | { reply: "measure"; measured: Measured }
  | { reply: "sample"; sample: WorkerSample }
  | { reply: "error"; message: string; exitCode?: number };
