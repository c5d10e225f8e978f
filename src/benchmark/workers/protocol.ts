import type { GeneratorRunSpec } from "../../contract/generator-env.js";
import type { TurnLengths } from "../../contract/turns.js";
import type { LimiterReport } from "../drivers/driver.js";
import type { Window, WindowPlan } from "../load-loop.js";
import type { DecisionColumns } from "../measurement/decision-log.js";
import type { WorkerSample } from "../measurement/recorder.js";
import type { TurnAnswers, TurnFigures, TurnsPlan } from "../turns.js";
import type { WarmupFacts, WarmupSlice } from "../warmup.js";
import type { MeetingPlace } from "./meeting.js";
import type { WorkerPlace } from "./shares.js";

export interface WorkerAssignment extends WorkerPlace, MeetingPlace {
  runs: readonly [RunAssignment, ...RunAssignment[]];
}

export interface RunAssignment {
  spec: GeneratorRunSpec;
  /** Number of this worker's first connection, counted over all workers of all generators. */
  firstConnection: number;
  connections: number;
}

/** A message to a worker. They are sent one at a time; the worker answers each with one reply of the same name. */
export type Command =
  | { command: "connect" }
  | { command: "warmUp"; atMostS: number }
  | ({ command: "measure" } & WorkerWindow)
  | ({ command: "turns" } & TurnsPlan)
  /** The next turn of the only run; the first opens its window. */
  | { command: "turn"; turn: TurnLengths; plan: GivenTurns }
  | { command: "endTurns" }
  | { command: "read" }
  | { command: "stop" };

/** A window whose turns are given from outside. */
export type GivenTurns = Pick<TurnsPlan, "seconds" | "counts">;

/** Ends the warm-up that is running. It has no reply of its own. */
export interface EndWarmUp {
  command: "endWarmUp";
}

export interface WorkerWindow extends WindowPlan {
  /** Open loop: sends that fall due within half a millisecond share a wake. */
  shared_wakes: boolean;
}

export interface Measured extends Window {
  event_loop_utilisation: number;
  cpu_wait_share?: number;
  /** Since the start, by index of the traffic's distinct requests; see `RequestCounts`. */
  sent_by_request: Uint32Array<ArrayBuffer>;
  undecided_by_request: Uint32Array<ArrayBuffer>;
  /** Since the start; only with a traffic whose quota binds. */
  decisions?: DecisionColumns;
}

export type MeasuredByTurns = Omit<Measured, "decisions"> & { turns: TurnFigures };

export interface WorkerReading extends LimiterReport {
  heap_used_bytes: number;
  event_loop_active_ms: number;
  event_loop_idle_ms: number;
}

export type Reply =
  | { reply: "connect" | "stop" }
  | { reply: "warmUp"; warmup: WarmupFacts }
  | { reply: "measure"; measured: Measured }
  | { reply: "turns"; measured: MeasuredByTurns[] }
  | { reply: "turn"; answers: TurnAnswers }
  | { reply: "read"; reading: WorkerReading }
  | { reply: "warmUpSlice"; slice: WarmupSlice }
  | { reply: "sample"; run: number; sample: WorkerSample }
  | { reply: "closed" }
  /** By turns: nobody has a turn until the main thread says so. */
  | { reply: "paused" }
  | { reply: "error"; message: string; exitCode?: number };
