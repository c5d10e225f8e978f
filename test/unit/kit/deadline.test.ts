import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { within } from "../../../src/kit/deadline.js";

const standStill = (ms: number) =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test("work that is late ends with the reason", async () => {
  await expect(within(sleep(10_000, 0, { ref: false }), 5, () => "late")).rejects.toThrow("late");
});

test("what came while this process stood still is in time", async () => {
  const work = sleep(20, "answer").then((answer) => sleep(20, answer));
  const waiting = within(work, 30, () => "late");
  standStill(300);
  expect(await waiting).toBe("answer");
});
