import { expect, onTestFinished, test, vi } from "vitest";
import { turnOf } from "../../../../../src/contract/turns.js";
import { TurnGiver } from "../../../../../src/orchestrator/run/rounds/turn-giver.js";
import type { Exit } from "../../../../../src/runtimes/runtime-types.js";

const TURN = {
  event: "turn",
  answers: 7,
  followed: 0,
  latency_sum_us: 70,
  took_ms: 500,
  requests: 7,
  cpu_us: 700,
} as const;
const ORDER = { lengths: { lead_in_ms: 5, slice_ms: 500 }, seconds: 2, seed: 1 };

/**
 * Generators that write down what they do. @param bad index of the one that ends, or hangs, in its
 * second turn
 */
function generators(count: number, bad?: { index: number; hangs?: boolean }) {
  const log: string[] = [];
  let giver: TurnGiver | undefined;
  const turns = Array.from({ length: count }, () => 0);
  const all = turns.map((_, index) => {
    let end: (exit: Exit) => void = () => {};
    const exited = new Promise<Exit>((resolve) => {
      end = resolve;
    });
    return {
      exited,
      async stop(): Promise<void> {
        log.push(`${index} is stopped`);
      },
      write(line: string): void {
        const turn = turnOf(line);
        log.push(`${index} ${turn ? "begins" : line}`);
        if (!turn) return;
        expect(turn.slice_ms).toBe(500);
        turns[index] = (turns[index] ?? 0) + 1;
        if (index === bad?.index && turns[index] === 2) {
          if (!bad.hangs) end({ code: 1, signal: null });
        } else
          setTimeout(() => {
            log.push(`${index} ends`);
            giver?.ended(index, TURN);
          }, 1);
      },
    };
  });
  giver = new TurnGiver(all);
  return { giver, log };
}

test("each cycle gives every generator one turn, and the next begins when the one before has ended", async () => {
  const { giver, log } = generators(3);
  const taken = await giver.give(ORDER);
  giver.endTurns();
  expect(taken).toEqual(Array(3).fill(Array(4).fill(TURN)));
  const begun = log.filter((line) => line.endsWith("begins"));
  expect(log).toEqual([
    ...begun.flatMap((line) => [line, line.replace("begins", "ends")]),
    ...[0, 1, 2].map((index) => `${index} last`),
  ]);
  const cycles = [0, 1, 2, 3].map((cycle) => begun.slice(3 * cycle, 3 * cycle + 3));
  for (const cycle of cycles) expect(new Set(cycle).size).toBe(3);
  expect(new Set(cycles.map((cycle) => cycle.join())).size).toBeGreaterThan(1);
});

test("one that ends in its turn gets no other, and the others have all of theirs", async () => {
  const { giver, log } = generators(3, { index: 1 });
  const taken = await giver.give(ORDER);
  giver.endTurns();
  expect(taken.map(({ length }) => length)).toEqual([4, 1, 4]);
  expect(log).not.toContain("1 last");
});

test("one that hangs in its turn is stopped, and the others have all of theirs", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { giver, log } = generators(3, { index: 1, hangs: true });
  const giving = giver.give(ORDER);
  await vi.advanceTimersByTimeAsync(40_000);
  const taken = await giving;
  giver.endTurns();
  expect(taken.map(({ length }) => length)).toEqual([4, 1, 4]);
  expect(log.filter((line) => line === "1 is stopped")).toHaveLength(1);
  expect(log).not.toContain("1 last");
});

test("generators that need no further turns get none, and hear of the last one", async () => {
  const { giver, log } = generators(3);
  const taken = await giver.give(ORDER, [0, 2]);
  giver.endTurns();
  expect(taken.map(({ length }) => length)).toEqual([4, 0, 4]);
  expect(log.filter((line) => line.startsWith("1"))).toEqual(["1 last"]);
});
