import type { GeneratorRunSpec } from "../../contract/generator-env.js";
import type { GeneratorSpec } from "../../contract/run-spec.js";
import type { TurnLengths } from "../../contract/turns.js";
import type { LimiterReport } from "../drivers/driver.js";
import type { Window, WindowPlan } from "../load-loop.js";
import type { DecisionColumns } from "../measurement/decision-log.js";
import type { WorkerSample } from "../measurement/recorder.js";
import type { BinnedTurnFigures, TurnAnswers, TurnFigures, TurnsPlan } from "../turn-window.js";
import type { WarmupLoad } from "../warmup.js";

/** The number of a worker among those of all generators, from 0, and how many they are. */
type WorkerPlace = { index: number; of: number };

/**
 * The first workers of all generators come first, then the second ones. So larger shares fall on
 * many generators, and an open loop's sends take turns between generators.
 * @param worker its index in its generator
 */
export function placeOfWorker(
  { share: { index, of } = { index: 0, of: 1 }, workers }: Pick<GeneratorSpec, "share" | "workers">,
  worker: number,
): WorkerPlace {
  return { index: worker * of + index, of: workers * of };
}

export const shareOf = (total: number, { index, of }: WorkerPlace): number =>
  Math.floor(total / of) + (index < total % of ? 1 : 0);

export const sharesBefore = (total: number, { index, of }: WorkerPlace): number =>
  index * Math.floor(total / of) + Math.min(index, total % of);

/**
 * Where the workers of a generator wait for each other before each turn, and for the main thread
 * between turns.
 */
export interface MeetingPlace {
  /**
   * How many workers have come to a turn so far, in all turns, and how often the main thread has
   * let them go on.
   */
  meeting: Int32Array<SharedArrayBuffer>;
  workers: number;
}

const COME = 0;
const RESUMED = 1;

export const meetingPlace = (workers: number): MeetingPlace => ({
  meeting: new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)),
  workers,
});

/** Wakes all workers that wait in `resumed`. */
export function resume({ meeting }: MeetingPlace): void {
  Atomics.add(meeting, RESUMED, 1);
  Atomics.notify(meeting, RESUMED);
}

async function reached(
  meeting: MeetingPlace["meeting"],
  index: number,
  needed: number,
): Promise<void> {
  for (
    let count = Atomics.load(meeting, index);
    count < needed;
    count = Atomics.load(meeting, index)
  )
    await Atomics.waitAsync(meeting, index, count).value;
}

export function meetingOf({ meeting, workers }: MeetingPlace) {
  let come = Math.floor(Atomics.load(meeting, COME) / workers) * workers;
  let pauses = Atomics.load(meeting, RESUMED);
  return {
    /**
     * Resolves once all workers have called it as often, so that no two targets have a turn at the
     * same time.
     */
    async meet(): Promise<void> {
      come += workers;
      if (Atomics.add(meeting, COME, 1) + 1 === come) Atomics.notify(meeting, COME);
      await reached(meeting, COME, come);
    },
    /** Resolves when the main thread has let all go on once more. */
    resumed: (): Promise<void> => reached(meeting, RESUMED, ++pauses),
  };
}

export interface WorkerAssignment extends WorkerPlace, MeetingPlace {
  targets: readonly [TargetAssignment, ...TargetAssignment[]];
}

/** The runs of one target. It has several at different loads in a load curve. */
export type RunsOf<Run> = readonly [Run, ...Run[]];
export type TargetAssignment = RunsOf<RunAssignment>;

export interface RunAssignment {
  spec: GeneratorRunSpec;
  /** The number of this worker's first connection, counted over all workers of all generators. */
  firstConnection: number;
  connections: number;
}

/**
 * A message to a worker. Commands are sent one at a time, and the worker answers each with a reply
 * of the same name.
 */
export type Command =
  | { command: "connect" }
  /** An open loop can be warmed up as a closed one. */
  | { command: "warmUp"; target: number; seconds: number; asClosed: boolean }
  | ({ command: "measure" } & WorkerWindow)
  | ({ command: "turns" } & TurnsOfTargets)
  /** Gives a run of a load curve its turn. */
  | ({ command: "curveTurn" } & CurveTurn)
  /** Gives the only target its next turn. The first turn opens the window. */
  | { command: "turn"; turn: TurnLengths; plan: TurnsWindow }
  | { command: "endTurns" }
  | { command: "read" }
  | { command: "stop" };

export interface TurnsOfTargets extends TurnsPlan {
  /** The indexes of the targets that get turns. All do where it is absent. */
  targets?: readonly number[];
}

/** The turn of a run of a load curve. */
export interface CurveTurn extends TurnLengths {
  target: number;
  /** The index among the runs of the target. */
  run: number;
  /** When the slice of an open loop begins, in monotonic milliseconds. */
  opens_ms: number;
  /** The time over which the connections of a closed loop begin. */
  spread_ms: number;
  /** Whether sends of an open loop that fall due within half a millisecond share a wake. */
  shared_wakes: boolean;
}

/** A window whose turns are given from outside. */
export type TurnsWindow = Pick<TurnsPlan, "seconds" | "counts" | "keeps" | "bins_from_ms">;

export interface WorkerWindow extends WindowPlan {
  /** Whether sends of an open loop that fall due within half a millisecond share a wake. */
  shared_wakes: boolean;
}

export interface Measured extends Window {
  event_loop_utilisation: number;
  cpu_wait_share?: number;
  /**
   * The longest gap that `StandstillWatch` saw from the lead-in to the last answer, or in turns.
   */
  longest_gap_ms: number;
  /** Counts since the start by index of the traffic's distinct requests; see `RequestCounter`. */
  sent_by_request: Uint32Array<ArrayBuffer>;
  undecided_by_request: Uint32Array<ArrayBuffer>;
  /** All decisions since the start. They are present only with a traffic whose quota binds. */
  decisions?: DecisionColumns;
}

/** A turn that the main thread gave, with what it took besides its answers. */
export interface TurnOfWorker extends TurnAnswers {
  /** From the opening of its slice until its last request had ended. */
  took_ms: number;
  /** Requests in its lead-in and slice, and the CPU time of the whole process for them. */
  requests: number;
  cpu_us: number;
}

/** What a worker measured in one turn of a load curve, or in several turns. */
export type MeasuredTurn = Omit<Measured, "decisions"> & { turns: TurnFigures };
export type MeasuredByTurns = MeasuredTurn & { turns: BinnedTurnFigures };

export interface WorkerReading extends LimiterReport {
  heap_used_bytes: number;
  event_loop_active_ms: number;
  event_loop_idle_ms: number;
}

export type Reply =
  | { reply: "connect" | "stop" }
  | { reply: "warmUp"; warmup: WarmupLoad }
  | { reply: "measure"; measured: Measured }
  | { reply: "turns"; measured: MeasuredByTurns[] }
  | { reply: "curveTurn"; measured: MeasuredTurn }
  | { reply: "turn"; turn: TurnOfWorker }
  | { reply: "read"; reading: WorkerReading }
  | { reply: "sample"; target: number; sample: WorkerSample }
  | { reply: "closed" }
  /** When targets take turns, no target has a turn until the main thread says so. */
  | { reply: "paused" }
  | { reply: "error"; message: string; exitCode?: number };
