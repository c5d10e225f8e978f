import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { StandstillWatch } from "../../../../src/benchmark/measurement/standstill.js";

const GAP_MS = 200;

async function longestGapMs(work: () => void): Promise<number> {
  const watch = new StandstillWatch();
  await sleep(30);
  work();
  return watch.stop();
}

/** Like a stop of the process: it takes no CPU time, and no timer runs. */
const standStill = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, GAP_MS);

/** @returns how long it took: longer than the CPU time on a machine that is busy with others */
function beBusy(): number {
  const began_ms = performance.now();
  const { user, system } = process.cpuUsage();
  const usedMs = () => {
    const cpuBefore = process.cpuUsage();
    return (cpuBefore.user - user + cpuBefore.system - system) / 1000;
  };
  while (usedMs() < GAP_MS);
  return performance.now() - began_ms;
}

test("a process that stands still has a gap", async () => {
  expect(await longestGapMs(standStill)).toBeGreaterThanOrEqual(GAP_MS - 1);
});

test("one whose event loop is busy has none, unless it gets less than half a CPU", async () => {
  let took_ms = 0;
  const longest_ms = await longestGapMs(() => {
    took_ms = beBusy();
  });
  expect(longest_ms < GAP_MS || took_ms > 1.8 * GAP_MS).toBe(true);
});
