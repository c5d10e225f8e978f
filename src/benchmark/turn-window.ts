import { setTimeout as sleep } from "node:timers/promises";
import type { TurnLengths } from "../contract/turns.js";
import { SLICE_MS } from "../judge/merging/slices.js";
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

export interface TurnAnswers {
  /** In the slice. */
  answers: number;
  /** After it. */
  followed: number;
  /** Of both: a target that is slower than a slice answers none in it. */
  latency_sum_us: number;
}

/** What a worker has used so far; the differences around a turn are the target's. */
export interface Usage {
  cpu_us: number;
  loop_active_ms: number;
  loop_idle_ms: number;
  /** NaN where the system does not report it. */
  waited_ms: number;
}

const difference = (from: Usage, to: Usage): Usage => ({
  cpu_us: to.cpu_us - from.cpu_us,
  loop_active_ms: to.loop_active_ms - from.loop_active_ms,
  loop_idle_ms: to.loop_idle_ms - from.loop_idle_ms,
  waited_ms: to.waited_ms - from.waited_ms,
});

/** Targets whose connections were closed, in the warm-up or in the window. */
const left = new WeakSet<ClosedConnections>();

export class TurnWindow {
  readonly #connections: ClosedConnections;
  readonly #recorder: ResponseRecorder;
  /** Of the lead-ins; what it records is discarded. */
  readonly #ignored: ResponseRecorder;
  readonly #readUsage: () => Usage;
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
  /** Before the last turn. */
  #endedBefore: EndedAnswers = { answers: 0, latency_sum_us: 0 };

  constructor(
    connections: ClosedConnections,
    codeText: (code: number) => string,
    readUsage: () => Usage,
  ) {
    this.#connections = connections;
    this.#recorder = new ResponseRecorder(codeText);
    this.#ignored = new ResponseRecorder(codeText);
    this.#readUsage = readUsage;
  }

  /** Time that its requests took beyond its slices, in all. */
  get overrun_ms(): number {
    return this.#overrun_ms;
  }

  /**
   * It gets no further turn: its connections are closed, so that they take no time of the others.
   */
  async leave(): Promise<void> {
    if (!this.hasLeft) await this.#connections.stop();
    left.add(this.#connections);
  }

  get hasLeft(): boolean {
    return left.has(this.#connections);
  }

  /**
   * One turn: lead-in, slice, and what is in flight followed to its end.
   * @param spread_ms over which its connections begin
   */
  async turn({ lead_in_ms, slice_ms }: TurnLengths, spread_ms = 0): Promise<void> {
    const before = this.#readUsage();
    const standstill = new StandstillWatch();
    this.#endedBefore = this.#recorder.ended;
    const began_ms = cheapMonotonicMs();
    this.#ignored.resume(began_ms, 1);
    this.#connections.openGate(this.#ignored, Number.POSITIVE_INFINITY, spread_ms);
    await sleep(lead_in_ms);
    const opened = this.#readUsage();
    const opened_ms = cheapMonotonicMs();
    if (this.#turns === 0) this.#opened_ms = opened_ms;
    this.#recorder.resume(opened_ms, Math.round(slice_ms / SLICE_MS));
    this.#leadInRequests += this.#connections.changeRecorder(
      this.#recorder,
      Number.POSITIVE_INFINITY,
    );
    await sleep(slice_ms);
    this.#ignored.sample(opened_ms);
    // One synchronous step: requests in flight now are followed, but do not count in the slice.
    this.#closed_ms = cheapMonotonicMs();
    this.#sent += this.#connections.shutGate();
    const inSlice = difference(opened, this.#readUsage());
    await this.#connections.drained();
    const gap_ms = standstill.stop();
    this.#longest_gap_ms = Math.max(this.#longest_gap_ms, gap_ms);
    const drained_ms = cheapMonotonicMs() - this.#closed_ms;
    const taken = this.#closed_ms - opened_ms;
    this.#turns++;
    this.#lead_in_ms += opened_ms - began_ms;
    this.#counted_ms += taken;
    this.#drained_ms += drained_ms;
    // The time in which this process stood still is not the target's.
    const stood_still_ms = Math.max(0, gap_ms - LOOK_EVERY_MS);
    this.#overrun_ms += Math.max(0, drained_ms + taken - slice_ms - stood_still_ms);
    this.#cpu_us += difference(before, this.#readUsage()).cpu_us;
    this.#loop.active_ms += inSlice.loop_active_ms;
    this.#loop.idle_ms += inSlice.loop_idle_ms;
    this.#waited_ms += inSlice.waited_ms;
  }

  get turns(): number {
    return this.#turns;
  }

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

  /** What it did since the last call; times are those of its own slices. */
  sample(): WorkerSample {
    return this.#recorder.sample(this.#counted_ms);
  }

  window({ slice_ms }: TurnLengths): Window & { turns: TurnFigures; longest_gap_ms: number } {
    const { active_ms, idle_ms } = this.#loop;
    const { reopened } = this.#connections;
    return {
      opened_ms: this.#opened_ms,
      closed_ms: this.#closed_ms,
      lead_in_requests: this.#leadInRequests,
      counts: this.#recorder.counts(this.#sent),
      histograms: this.#recorder.histograms(),
      slices: this.#recorder.slices(this.#turns * slice_ms),
      timeline_slices: this.#recorder.timelineSlices(this.#turns * slice_ms),
      longest_gap_ms: this.#longest_gap_ms,
      turns: {
        turns: this.#turns,
        ended: this.#recorder.ended,
        counted_ms: this.#counted_ms,
        lead_in_ms: this.#lead_in_ms,
        drained_ms: this.#drained_ms,
        cpu_us: this.#cpu_us,
        utilisation: active_ms + idle_ms > 0 ? active_ms / (active_ms + idle_ms) : 0,
        ...(reopened ? { reopened: { ...reopened } } : {}),
        ...(Number.isNaN(this.#waited_ms) ? {} : { waited_ms: this.#waited_ms }),
      },
    };
  }
}

export interface TurnFigures {
  turns: number;
  ended: EndedAnswers;
  /** In its slices. */
  counted_ms: number;
  lead_in_ms: number;
  drained_ms: number;
  /** Of the whole process, in its turns. */
  cpu_us: number;
  /** Of the worker's event loop, in its slices. */
  utilisation: number;
  waited_ms?: number;
  /** Connections, since the first lead-in of the warm-up. */
  reopened?: Reopened;
}

export interface TurnsPlan extends TurnOrder {
  /**
   * Not in the warm-up: after each second of own turns the figures are reported, and the servers
   * are read.
   */
  counts: boolean;
}

export const turnsOfASecond = ({ slice_ms }: TurnLengths): number =>
  Math.max(1, Math.round(SAMPLE_MS / slice_ms));

/**
 * Gives the load to the targets by turns, in an order drawn anew for each cycle, never to two at a
 * time. A target whose overruns together exceed its window gets no further turn.
 * @param meet resolves when all workers have come to this turn
 * @param onSecond called after each second of own turns, when nobody has a turn; the next one waits
 *   for it
 */
export async function takeTurns(
  windows: readonly TurnWindow[],
  plan: TurnsPlan,
  meet: () => Promise<void>,
  onSecond: (isLast: boolean) => Promise<void>,
): Promise<void> {
  const cycles = [...drawnCycles(windows, plan)];
  for (const [index, cycle] of cycles.entries()) {
    // Drawn for all, so that all workers draw the same.
    for (const { target, ...turn } of cycle) {
      await meet();
      await turnUnlessOverrun(target, turn, plan);
    }
    const isLast = index === cycles.length - 1;
    if (isLast || (index + 1) % turnsOfASecond(plan.lengths) === 0) await onSecond(isLast);
  }
}

/** So much may a target overrun any warm-up, which may be shorter than a pause of the machine. */
const WARMUP_OVERRUN_S = 3;

/** @param plan that of its window: its overruns may be as long as that */
export async function turnUnlessOverrun(
  window: TurnWindow,
  turn: TurnLengths,
  { seconds, counts, lengths }: Pick<TurnsPlan, "seconds" | "counts"> & Partial<TurnOrder>,
): Promise<void> {
  const most_s = counts ? seconds : Math.max(seconds, WARMUP_OVERRUN_S);
  if (window.overrun_ms > 1000 * most_s) await window.leave();
  if (!window.hasLeft) await window.turn(turn, lengths && spreadMs(lengths));
}
