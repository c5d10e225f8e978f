import { expect, test } from "vitest";
import type { ClosedConnections } from "../../../src/benchmark/closed-loop.js";
import { cheapMonotonicMs } from "../../../src/benchmark/measurement/clock.js";
import type { ResponseRecorder } from "../../../src/benchmark/measurement/recorder.js";
import { TurnWindow, takeTurns } from "../../../src/benchmark/turn-window.js";
import { accountedRequests } from "../../../src/judge/counts.js";
import { sum } from "../../../src/kit/numbers.js";
import {
  lengthsFor,
  pipelineFillsMs,
  secondsOfSlices,
  spreadMs,
} from "../../../src/traffic/turn-order.js";

const NO_USE = () => ({ cpu_us: 0, loop_active_ms: 1, loop_idle_ms: 1, waited_ms: 0 });

/** Connections with one answer in the lead-in, some in the slice, and one that is followed. */
class StubConnections implements ClosedConnections {
  readonly name: string;
  readonly log: string[];
  readonly drain_ms: number;
  #recorder: ResponseRecorder | undefined;

  constructor(name: string, log: string[], drain_ms = 0) {
    this.name = name;
    this.log = log;
    this.drain_ms = drain_ms;
  }

  connected = async () => undefined;
  quotaDone = async () => undefined;
  stop = async () => undefined;

  openGate(recorder: ResponseRecorder): void {
    this.log.push(`${this.name} opens`);
    recorder.answer("allowed", 200, 1, cheapMonotonicMs());
  }

  changeRecorder(recorder: ResponseRecorder): number {
    this.#recorder = recorder;
    for (let index = 0; index < 3; index++) recorder.answer("allowed", 200, 2, cheapMonotonicMs());
    return 1;
  }

  shutGate(): number {
    this.#recorder?.close();
    return 4;
  }

  async drained(): Promise<void> {
    this.#recorder?.answer("limited", 429, 3, cheapMonotonicMs());
    await new Promise((resolve) => setTimeout(resolve, this.drain_ms));
    this.log.push(`${this.name} drained`);
  }
}

const LENGTHS = { lead_in_ms: 1, slice_ms: 100 };

test("each cycle gives every target one turn, never two at a time, in an order that is drawn anew", async () => {
  const log: string[] = [];
  const names = ["a", "b", "c"];
  const windows = names.map(
    (name) => new TurnWindow(new StubConnections(name, log), String, NO_USE),
  );
  const seconds: boolean[] = [];
  await takeTurns(
    windows,
    { lengths: LENGTHS, seconds: 0.6, seed: 1, counts: true },
    async () => {},
    async (isLast) => void seconds.push(isLast),
  );
  const opened = log.filter((line) => line.endsWith("opens"));
  expect(opened).toHaveLength(18);
  // Nobody opens before the one before is drained.
  expect(log).toEqual(opened.flatMap((line) => [line, line.replace("opens", "drained")]));
  const cycles = Array.from({ length: 6 }, (_, cycle) => opened.slice(3 * cycle, 3 * cycle + 3));
  for (const cycle of cycles)
    expect([...cycle].sort()).toEqual(names.map((name) => `${name} opens`));
  expect(new Set(cycles.map((cycle) => cycle.join())).size).toBeGreaterThan(1);
  expect(seconds).toEqual([true]);
});

test("answers that are followed count in the mean latency that sets the lengths of turns", async () => {
  const window = new TurnWindow(new StubConnections("a", []), String, NO_USE);
  for (let turn = 0; turn < 2; turn++) await window.turn(LENGTHS);
  expect(window.lastAnswers(LENGTHS)).toEqual({ answers: 3, followed: 1, latency_sum_us: 9000 });
  expect(window.window(LENGTHS).ended).toEqual({ answers: 8, latency_sum_us: 18_000 });
});

test("the slices of a target are its window: counts reconcile over turns, and no bin spans two", async () => {
  const window = new TurnWindow(new StubConnections("a", []), String, NO_USE);
  for (let turn = 0; turn < 4; turn++) await window.turn(LENGTHS);
  const { counts, slices, lead_in_requests, turns } = window.window(LENGTHS);
  expect(counts).toMatchObject({ sent: 16, allowed: 12, limited: 0, followed: 4 });
  expect(counts.after_window.limited).toBe(4);
  expect(accountedRequests(counts)).toBe(counts.sent);
  expect(lead_in_requests).toBe(4);
  expect(slices.allowed).toEqual([3, 3, 3, 3]);
  expect(sum(slices.limited)).toBe(0);
  expect(turns.turns).toBe(4);
  expect(turns.utilisation).toBe(0);
  expect(turns.counted_ms).toBeGreaterThan(390);
});

test("answers are binned by the time since their turn began, apart for lead-ins and slices", async () => {
  const lengths = { lead_in_ms: 25, slice_ms: 100 };
  const window = new TurnWindow(new StubConnections("a", []), String, NO_USE);
  for (let turn = 0; turn < 2; turn++) await window.turn(lengths);
  const { lead_in, slice } = window.window(lengths).turns.bins;
  // The answer of each lead-in comes at once, and those of each slice when it opens.
  expect(lead_in.answers[0]).toBe(2);
  expect([sum(lead_in.answers), sum(slice.answers)]).toEqual([2, 6]);
  expect(slice.answers[0]).toBe(0);
  expect(sum(lead_in.seconds)).toBeGreaterThan(0.048);
  expect(sum(slice.seconds)).toBeCloseTo(window.window(lengths).turns.counted_ms / 1000, 3);
});

/** Connections of a target at the end of whose slices the generator's process stands still. */
class StoppedConnections extends StubConnections {
  override shutGate(): number {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
    return super.shutGate();
  }
}

test("a target in whose turns the generator stood still has all of its turns, and says so", async () => {
  const log: string[] = [];
  const window = new TurnWindow(new StoppedConnections("a", log), String, NO_USE);
  const plan = { lengths: LENGTHS, seconds: 0.4, seed: 1, counts: true };
  await takeTurns(
    [window],
    plan,
    async () => {},
    async () => {},
  );
  expect(log.filter((line) => line === "a opens")).toHaveLength(4);
  expect(window.window(LENGTHS).longest_gap_ms).toBeGreaterThan(240);
});

test.each([
  ["its window gets no further turn, and the others go on", true, 2],
  ["a short warm-up goes on", false, 4],
])("a target whose overruns exceed %s", async (_, counts, turns) => {
  const log: string[] = [];
  const windows = [new StubConnections("slow", log, 250), new StubConnections("b", log)].map(
    (connections) => new TurnWindow(connections, String, NO_USE),
  );
  const plan = { lengths: LENGTHS, seconds: 0.4, seed: 1, counts };
  await takeTurns(
    windows,
    plan,
    async () => {},
    async () => {},
  );
  expect(log.filter((line) => line === "slow opens")).toHaveLength(turns);
  expect(log.filter((line) => line === "b opens")).toHaveLength(4);
});

test.each([
  [0, 5, 100],
  [2.6, 5.2, 100],
  [10, 20, 200],
  [80, 160, 1600],
  [400, 800, 5000],
])(
  "of a mean latency of %d ms lead-ins follow of %d ms and slices of %d ms",
  (slowest, lead_in_ms, slice_ms) => {
    expect(lengthsFor(slowest)).toEqual({ lead_in_ms, slice_ms });
  },
);

test("asked lengths are the shortest: a slow target still gets those that it needs", () => {
  const shortest = { lead_in_ms: 50, slice_ms: 100 };
  expect(lengthsFor(2.6, shortest)).toEqual({ lead_in_ms: 50, slice_ms: 100 });
  expect(lengthsFor(80, shortest)).toEqual({ lead_in_ms: 160, slice_ms: 1600 });
});

test("a window has eight cycles at least, and longer ones stay as planned", () => {
  expect([0, 10, 80].map((slowest) => secondsOfSlices(3, lengthsFor(slowest)))).toEqual([
    3, 3, 12.8,
  ]);
});

test("connections begin over a mean latency, at once where timers cannot tell", () => {
  expect([2.6, 10, 80].map((slowest) => spreadMs(pipelineFillsMs(slowest)))).toEqual([0, 10, 80]);
});
