import { setTimeout as sleep } from "node:timers/promises";
import type { TurnBinsRecord, TurnLengths } from "../contract/turns.js";
import { SLICE_MS } from "../judge/merging/slices.js";
import { definedOnly } from "../kit/defined-only.js";
import { sum } from "../kit/numbers.js";
import { drawnCycles, spreadMs, type TurnOrder } from "../traffic/turn-order.js";
import type { ClosedConnections, Reopened } from "./closed-loop.js";
import type { Window } from "./load-loop.js";
import { cheapMonotonicMs } from "./measurement/clock.js";
import {
  type EndedAnswers,
  ResponseRecorder,
  SAMPLE_MS,
  type WorkerSample,
} from "./measurement/recorder.js";
import { LOOK_EVERY_MS, StandstillWatch } from "./measurement/standstill.js";
import { TurnBins } from "./measurement/turn-bins.js";

export interface TurnAnswers {
  /** Answers in the slice. */
  answers: number;
  /** Answers after the slice. */
  followed: number;
  /** Latency of all of them, because a target that is slower than a slice answers none in it. */
  latency_sum_us: number;
}

/** What a worker has used so far. The differences around a turn belong to its target. */
export interface WorkerUsage {
  cpu_us: number;
  loop_active_ms: number;
  loop_idle_ms: number;
  /** NaN where the system does not report it. */
  waited_ms: number;
}

/** What a worker has used between two readings. */
export const usedBetween = (from: WorkerUsage, to: WorkerUsage): WorkerUsage => ({
  cpu_us: to.cpu_us - from.cpu_us,
  loop_active_ms: to.loop_active_ms - from.loop_active_ms,
  loop_idle_ms: to.loop_idle_ms - from.loop_idle_ms,
  waited_ms: to.waited_ms - from.waited_ms,
});

/** A turn between the opening of its lead-in and the end of its last request. */
interface OpenTurn {
  began_ms: number;
  /** When the slice began. */
  opened_ms: number;
  usageBefore: WorkerUsage;
  usageAtOpening: WorkerUsage;
  standstill: StandstillWatch;
}

/** Joins the slices of one target into its window. A warm-up has a window of its own. */
export class TurnWindow {
  /** Connections that were closed for good, in a warm-up or in a window. */
  static readonly #left = new WeakSet<ClosedConnections>();

  readonly #connections: ClosedConnections;
  readonly #recorder: ResponseRecorder;
  /** Takes the responses of the lead-ins, which do not count. */
  readonly #ignored: ResponseRecorder;
  readonly #leadInBins: TurnBins;
  readonly #sliceBins: TurnBins;
  readonly #readUsage: () => WorkerUsage;
  #opened_ms = 0;
  #closed_ms = 0;
  #counted_ms = 0;
  #lead_in_ms = 0;
  #drained_ms = 0;
  #overrun_ms = 0;
  #sent = 0;
  #leadInRequests = 0;
  #turns = 0;
  #cpu_us = 0;
  #loop = { active_ms: 0, idle_ms: 0 };
  #waited_ms = 0;
  #longest_gap_ms = 0;
  /** The answers before the last turn. */
  #endedBefore: EndedAnswers = { answers: 0, latency_sum_us: 0 };

  /** @param bins_from_ms time since a turn began that is in no bin, see `TurnBins` */
  constructor(
    connections: ClosedConnections,
    codeText: (code: number) => string,
    readUsage: () => WorkerUsage,
    bins_from_ms = 0,
  ) {
    this.#connections = connections;
    this.#leadInBins = new TurnBins(bins_from_ms);
    this.#sliceBins = new TurnBins(bins_from_ms);
    this.#recorder = new ResponseRecorder(codeText, this.#sliceBins);
    this.#ignored = new ResponseRecorder(codeText, this.#leadInBins);
    this.#readUsage = readUsage;
  }

  /** Time that requests took beyond the slices, all turns together. */
  get overrun_ms(): number {
    return this.#overrun_ms;
  }

  /**
   * Closes the connections for good, so that they take no time of the other targets: this target
   * gets no further turn.
   */
  async leave(): Promise<void> {
    if (!this.hasLeft) await this.#connections.stop();
    TurnWindow.#left.add(this.#connections);
  }

  get hasLeft(): boolean {
    return TurnWindow.#left.has(this.#connections);
  }

  /**
   * One turn: lead-in, slice, and the requests in flight followed to their end.
   * @param spread_ms time over which the connections begin
   */
  async turn({ lead_in_ms, slice_ms }: TurnLengths, spread_ms = 0): Promise<void> {
    const turn = await this.#leadIn(lead_in_ms, spread_ms);
    this.#openSlice(turn, slice_ms);
    await sleep(slice_ms);
    this.#closeSlice(turn);
    await this.#connections.drained();
    this.#countTurn(turn, slice_ms);
  }

  async #leadIn(lead_in_ms: number, spread_ms: number): Promise<OpenTurn> {
    const usageBefore = this.#readUsage();
    const standstill = new StandstillWatch();
    this.#endedBefore = this.#recorder.ended;
    const began_ms = cheapMonotonicMs();
    this.#leadInBins.begin(began_ms);
    this.#sliceBins.begin(began_ms);
    this.#ignored.resume(began_ms, 1);
    this.#connections.openGate(this.#ignored, Number.POSITIVE_INFINITY, spread_ms);
    await sleep(lead_in_ms);

    const usageAtOpening = this.#readUsage();
    return { began_ms, opened_ms: cheapMonotonicMs(), usageBefore, usageAtOpening, standstill };
  }

  #openSlice({ opened_ms }: OpenTurn, slice_ms: number): void {
    if (this.#turns === 0) this.#opened_ms = opened_ms;
    this.#recorder.resume(opened_ms, Math.round(slice_ms / SLICE_MS));
    this.#leadInRequests += this.#connections.changeRecorder(
      this.#recorder,
      Number.POSITIVE_INFINITY,
    );
  }

  #closeSlice({ opened_ms, usageAtOpening }: OpenTurn): void {
    this.#ignored.sample(opened_ms);
    // The slice closes in one synchronous step. Requests in flight now are followed, but do not
    // count in the slice.
    this.#closed_ms = cheapMonotonicMs();
    this.#sent += this.#connections.shutGate();

    const inSlice = usedBetween(usageAtOpening, this.#readUsage());
    this.#loop.active_ms += inSlice.loop_active_ms;
    this.#loop.idle_ms += inSlice.loop_idle_ms;
    this.#waited_ms += inSlice.waited_ms;
  }

  /** Adds up what the turn took, once all of its requests have ended. */
  #countTurn(turn: OpenTurn, slice_ms: number): void {
    const gap_ms = turn.standstill.stop();
    const drained_ms = cheapMonotonicMs() - this.#closed_ms;
    const counted_ms = this.#closed_ms - turn.opened_ms;
    this.#turns++;
    this.#longest_gap_ms = Math.max(this.#longest_gap_ms, gap_ms);
    this.#lead_in_ms += turn.opened_ms - turn.began_ms;
    this.#counted_ms += counted_ms;
    this.#drained_ms += drained_ms;
    this.#leadInBins.lasted(turn.began_ms, turn.opened_ms);
    this.#sliceBins.lasted(turn.opened_ms, this.#closed_ms);

    // The time in which this process stood still is not the target's.
    const stood_still_ms = Math.max(0, gap_ms - LOOK_EVERY_MS);
    this.#overrun_ms += Math.max(0, drained_ms + counted_ms - slice_ms - stood_still_ms);
    this.#cpu_us += usedBetween(turn.usageBefore, this.#readUsage()).cpu_us;
  }

  get turns(): number {
    return this.#turns;
  }

  /** The answers of the last turn. */
  lastAnswers({ slice_ms }: TurnLengths): TurnAnswers {
    const { allowed, limited } = this.#recorder.slices(this.#turns * slice_ms);
    const first = -Math.round(slice_ms / SLICE_MS);
    const answers = sum([...allowed.slice(first), ...limited.slice(first)]);
    const { ended } = this.#recorder;
    return {
      answers,
      followed: ended.answers - this.#endedBefore.answers - answers,
      latency_sum_us: ended.latency_sum_us - this.#endedBefore.latency_sum_us,
    };
  }

  /** What was done since the last call. Only time in slices counts. */
  sample(): WorkerSample {
    return this.#recorder.sample(this.#counted_ms);
  }

  window({ slice_ms }: TurnLengths): Window & { turns: BinnedTurnFigures; longest_gap_ms: number } {
    const { active_ms, idle_ms } = this.#loop;
    const { reopened } = this.#connections;
    return {
      opened_ms: this.#opened_ms,
      closed_ms: this.#closed_ms,
      lead_in_requests: this.#leadInRequests,
      counts: this.#recorder.counts(this.#sent),
      ended: this.#recorder.ended,
      histograms: this.#recorder.histograms(),
      slices: this.#recorder.slices(this.#turns * slice_ms),
      timeline_slices: this.#recorder.timelineSlices(this.#turns * slice_ms),
      longest_gap_ms: this.#longest_gap_ms,
      turns: definedOnly({
        turns: this.#turns,
        counted_ms: this.#counted_ms,
        lead_in_ms: this.#lead_in_ms,
        drained_ms: this.#drained_ms,
        cpu_us: this.#cpu_us,
        utilisation: active_ms + idle_ms > 0 ? active_ms / (active_ms + idle_ms) : 0,
        reopened: reopened ? { ...reopened } : undefined,
        waited_ms: Number.isNaN(this.#waited_ms) ? undefined : this.#waited_ms,
        bins: { lead_in: this.#leadInBins.record, slice: this.#sliceBins.record },
      }),
    };
  }
}

/** What the turns of a target took on one worker. */
export interface TurnFigures {
  turns: number;
  /** How long all slices lasted together. */
  counted_ms: number;
  lead_in_ms: number;
  /** Time in which requests were followed after the slices. */
  drained_ms: number;
  /** CPU time of the whole process in the turns. */
  cpu_us: number;
  /** Share of the time in slices in which the event loop of the worker was busy. */
  utilisation: number;
  /** Time in slices in which the worker waited for a CPU. It is absent where it is not known. */
  waited_ms?: number;
  /** Connections that were opened again since the first lead-in of the warm-up. */
  reopened?: Reopened;
}

export interface BinnedTurnFigures extends TurnFigures {
  /** The answers by the time since the turn began, in lead-ins and in slices. */
  bins: { lead_in: TurnBinsRecord; slice: TurnBinsRecord };
}

export interface TurnsPlan extends TurnOrder {
  /**
   * Whether the turns are those of the window. Then the figures are reported, and the servers read,
   * after each second of turns of every target.
   */
  counts: boolean;
  /**
   * Whether a target whose overruns exceed its window keeps its connections, because it has turns at
   * other loads.
   */
  keeps?: boolean;
  /**
   * The time since a turn began from which answers are in bins, see `pipelineFillsMs`. It is absent
   * in a warm-up, whose latencies are not known before.
   */
  bins_from_ms?: number;
}

/** How many turns of a target make a second of slices. */
export const turnsOfASecond = ({ slice_ms }: TurnLengths): number =>
  Math.max(1, Math.round(SAMPLE_MS / slice_ms));

/**
 * Gives the load to the targets by turns, in an order drawn anew for each cycle, never to two at a
 * time. A target whose overruns together exceed its window gets no further turn.
 * @param meet resolves when all workers have come to this turn
 * @param onSecond is called after each second of turns of every target, when no target has a turn;
 *   the next turn waits for it
 */
export async function takeTurns(
  windows: readonly TurnWindow[],
  plan: TurnsPlan,
  meet: () => Promise<void>,
  onSecond: (isLast: boolean) => Promise<void>,
): Promise<void> {
  const cycles = [...drawnCycles(windows, plan)];
  for (const [index, cycle] of cycles.entries()) {
    // Each cycle is drawn for all targets, so that all workers draw the same order.
    for (const { target, ...turn } of cycle) {
      await meet();
      await turnUnlessOverrun(target, turn, plan, spreadMs(plan.bins_from_ms ?? 0));
    }
    const isLast = index === cycles.length - 1;
    if (isLast || (index + 1) % turnsOfASecond(plan.lengths) === 0) await onSecond(isLast);
  }
}

/** A target may overrun any warm-up by this, because a machine may pause for longer than it. */
const WARMUP_OVERRUN_S = 3;

/**
 * Gives a target its turn, unless its overruns together exceed the window of the plan.
 * @param spread_ms time over which the connections begin
 */
export async function turnUnlessOverrun(
  window: TurnWindow,
  turn: TurnLengths,
  { seconds, counts, keeps }: Pick<TurnsPlan, "seconds" | "counts" | "keeps">,
  spread_ms = 0,
): Promise<void> {
  const longest_overrun_s = counts ? seconds : Math.max(seconds, WARMUP_OVERRUN_S);
  if (window.overrun_ms > 1000 * longest_overrun_s) {
    if (keeps) return;
    await window.leave();
  }
  if (!window.hasLeft) await window.turn(turn, spread_ms);
}
