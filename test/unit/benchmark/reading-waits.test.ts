import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { ReadingWaits } from "../../../src/benchmark/reading-waits.js";
import type { Progress } from "../../../src/contract/progress.js";

/** Long enough that it only passes where a test waits for it. */
const SHORT_S = 0.05;
const LONG_S = 60;

function waitsFor(timeoutS: number) {
  const input = new PassThrough();
  const announced: Progress[] = [];
  const waits = new ReadingWaits((progress) => announced.push(progress), input, timeoutS);
  onTestFinished(() => waits.close());
  return { input, announced, waits };
}

test("a drained moment is announced, and lasts until the line comes", async () => {
  const { input, announced, waits } = waitsFor(LONG_S);
  let isOver = false;
  const waiting = waits.at("connected").then((reading) => {
    isOver = true;
    return reading;
  });
  expect(announced).toEqual([{ event: "phase", phase: "connected" }]);
  input.write("something else\n");
  await sleep(20);
  expect(isOver).toBe(false);
  input.write("read\n");
  expect(await waiting).toBe("in time");
});

test("without the line it ends after the time-out, and says so", async () => {
  const { waits } = waitsFor(SHORT_S);
  expect(await waits.at("drained")).toBe("late");
});

test.each<[string, (input: PassThrough) => void]>([
  ["has ended", (input) => void input.end()],
  ["fails", (input) => void input.destroy(new Error("EBADF"))],
])("an input that %s makes the readings late, and nothing waits", async (_case, end) => {
  const { input, waits } = waitsFor(LONG_S);
  const first = waits.at("connected");
  end(input);
  expect(await first).toBe("late");
  expect(await waits.at("drained")).toBe("late");
});

test("lines that came before the end of the input count", async () => {
  const { input, waits } = waitsFor(LONG_S);
  input.end("read\n");
  await sleep(20);
  expect([await waits.at("connected"), await waits.at("drained")]).toEqual(["in time", "late"]);
});

test("a line that all generators are steady is no reading", async () => {
  const { input, waits } = waitsFor(SHORT_S);
  expect(waits.areAllSteady).toBe(false);
  input.write("steady\n");
  expect(await waits.at("waiting")).toBe("late");
  expect(waits.areAllSteady).toBe(true);
});
