import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { ReadingWaits } from "../../../src/benchmark/reading-waits.js";
import { BenchError, EXIT } from "../../../src/contract/errors.js";
import type { Progress } from "../../../src/contract/progress.js";

function waiting() {
  const input = new PassThrough();
  const announced: Progress[] = [];
  const waits = new ReadingWaits((progress) => announced.push(progress), input);
  onTestFinished(() => waits.close());
  return { input, announced, waits };
}
const ended = (moment: Promise<void>) =>
  expect(moment).rejects.toSatisfy(
    (error) => error instanceof BenchError && error.exitCode === EXIT.configurationFailed,
  );

test("a drained moment is announced, and lasts until the line comes", async () => {
  const { input, announced, waits } = waiting();
  let isOver = false;
  const moment = waits.at("connected").then(() => {
    isOver = true;
  });
  expect(announced).toEqual([{ event: "phase", phase: "connected" }]);
  input.write("something else\n");
  input.write("steady\n");
  await sleep(20);
  expect([isOver, waits.areAllSteady]).toEqual([false, true]);
  input.write("read\n");
  await moment;
});

test.each<[string, (input: PassThrough) => void]>([
  ["has ended", (input) => void input.end()],
  ["fails", (input) => void input.destroy(new Error("EBADF"))],
])("an input that %s ends the generator at this moment and at any later one", async (_case, end) => {
  const { input, waits } = waiting();
  const first = waits.at("connected");
  end(input);
  await ended(first);
  await ended(waits.at("drained"));
});

test("lines that came before the end of the input count", async () => {
  const { input, waits } = waiting();
  input.end("read\n");
  await waits.at("connected");
  await ended(waits.at("drained"));
});
