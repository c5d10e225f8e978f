import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { outcomeOfStatus } from "../../../src/benchmark/drivers/http/requests.js";
import { secondEvent } from "../../../src/benchmark/generator-run.js";
import { ResponseRecorder } from "../../../src/benchmark/measurement/recorder.js";
import { SampleMerger } from "../../../src/benchmark/measurement/samples.js";
import { secondText } from "../../../src/benchmark/progress-output.js";
import { ReadingWaits } from "../../../src/benchmark/reading-waits.js";
import { type Progress, progressSchema } from "../../../src/contract/progress.js";
import { BenchError, EXIT } from "../../../src/kit/errors.js";

const server = {
  at_ms: 1000,
  cpu_percent: 96.04,
  event_loop_utilisation: 0.78,
  heap_used_bytes: 1,
  resident_bytes: 1,
};

/** The second of a window in which each worker was so busy and had these answers. */
function second(busy: readonly number[], statuses: readonly number[], seen?: typeof server) {
  const sheet = new SampleMerger(busy.length);
  const whole = busy.map((event_loop_utilisation, worker) => {
    const recorder = new ResponseRecorder(String);
    for (const status of statuses) recorder.answer(outcomeOfStatus(status), status, 2, 500);
    return sheet.add(worker, { ...recorder.sample(1000), event_loop_utilisation }, 0);
  });
  const sample = whole.at(-1);
  if (!sample) throw new Error("a whole interval");
  const progress = progressSchema.parse(JSON.parse(JSON.stringify(secondEvent(sample, seen))));
  if (progress.event !== "second") throw new Error("a second");
  return progress;
}

describe("a second of the load generator's progress", () => {
  test("has rates, shares, latency, the busiest worker and the server", () => {
    expect(second([0.4, 0.7], [200, 200, 200, 429], server)).toEqual({
      event: "second",
      t_s: 1,
      requests_per_second: 8,
      limited_share: 0.25,
      p99_ms: expect.closeTo(2, 1),
      generator_event_loop_utilisation: 0.7,
      server_event_loop_utilisation: 0.78,
      server_cpu_percent: 96,
    });
  });

  test("without answers has no share and no latency, instead of zeros", () => {
    const silent = second([0.1], []);
    const idle = {
      event: "second",
      t_s: 1,
      requests_per_second: 0,
      generator_event_loop_utilisation: 0.1,
    };
    expect(silent).toEqual(idle);
    expect(secondText(silent)).toBe("1 s: 0 requests/s, generator 10 % busy");
  });
});

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
  expect(waits.timesSteady).toBe(0);
  input.write("steady\n");
  await sleep(20);
  expect([isOver, waits.timesSteady]).toEqual([false, 1]);
  input.write("read\n");
  await moment;
});

test.each<[string, (input: PassThrough) => void]>([
  ["has ended", (input) => void input.end()],
  ["fails", (input) => void input.destroy(new Error("EBADF"))],
])(
  "an input that %s ends the generator at this moment and at any later one",
  async (_case, end) => {
    const { input, waits } = waiting();
    const first = waits.at("connected");
    end(input);
    await ended(first);
    await ended(waits.at("drained"));
  },
);

test("lines that came before the end of the input count", async () => {
  const { input, waits } = waiting();
  input.end("read\n");
  await waits.at("connected");
  await ended(waits.at("drained"));
});
