import { describe, expect, test } from "vitest";
import {
  AnswerLog,
  timelineOf,
  type WorkerTimeline,
} from "../../../../src/benchmark/measurement/timeline.js";
import { OpenLoopRecorder } from "../../../../src/benchmark/open-loop/open-loop.js";

const opened = { opens_s: 1.5, opened_at: new Date("2026-01-01T00:00:00Z"), openLoop: true };

/** One worker's window that opened at 0 ms. */
function workerOf(length_ms: number, load: (recorder: OpenLoopRecorder) => void): WorkerTimeline {
  const recorder = new OpenLoopRecorder(String);
  recorder.open(0);
  load(recorder);
  const log = new AnswerLog(1);
  // Samples cut the answers wherever a second ends.
  log.add(0, recorder.sample(length_ms).latencies_us);
  log.add(0, recorder.sample(length_ms).latencies_us);
  return { ...recorder.figures(length_ms, true), latencies_us: log.of(0) };
}

describe("the timeline of a window", () => {
  test("counts each request when it ends, and those without an answer when they are given up", () => {
    const { timeline_slices, ...worker } = workerOf(400, (recorder) => {
      for (const due_ms of [10, 20, 30, 40, 50]) recorder.sent(due_ms, due_ms, false);
      recorder.answer("allowed", 200, 10, 10, 15);
      recorder.answer("failed", 500, 20, 20, 25);
      recorder.lost(30, 30, 120);
      recorder.answer("limited", 429, 40, 40, 240);
      recorder.timedOut(50, 50, 350);
      recorder.dropped(60, 360);
    });
    expect(timelineOf([{ ...worker, timeline_slices }], opened)).toMatchObject({
      opens_s: 1.5,
      allowed: [1, 0, 0, 0],
      limited: [0, 0, 1, 0],
      failed: [1, 1, 0, 0],
      timed_out: [0, 0, 0, 2],
      p50_us: [5_000, null, 200_000, null].map((us) => us && expect.closeTo(us, -3)),
      backlog: [4, 3, 2, 0],
    });
  });

  test("has what is due and was never sent in its backlog, and what is in flight when it closes", () => {
    const worker = workerOf(300, (recorder) => {
      recorder.sent(110, 110, false);
      recorder.unsent(150, 300);
      recorder.unsent(250, 300);
    });
    expect(timelineOf([worker], opened).backlog).toEqual([0, 2, 3]);
  });

  test("merges the latencies of all workers exactly, slice by slice", () => {
    const all: number[][] = [];
    let state = 1;
    const next = (below: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    const load = (recorder: OpenLoopRecorder) => {
      for (let at_ms = 0; at_ms < 200; at_ms += 0.5) {
        const us = 100 + next(1_900);
        recorder.sent(at_ms - us / 1000, at_ms - us / 1000, false);
        recorder.answer("allowed", 200, at_ms - us / 1000, at_ms, at_ms);
        const slice = Math.floor(at_ms / 100);
        all[slice] = [...(all[slice] ?? []), us];
      }
    };
    const { p99_us } = timelineOf(
      [workerOf(200, load), workerOf(200, load), workerOf(200, () => {})],
      opened,
    );
    const exact = all.map((values) => values.toSorted((a, b) => a - b)[Math.ceil(0.99 * values.length) - 1]);
    expect(p99_us).toEqual(exact);
  });

  test("has the p99 of the second that begins with a slice, and of three to ten seconds before it", () => {
    const worker = workerOf(12_000, (recorder) => {
      for (let slice = 0; slice < 120; slice++) {
        const at_ms = 100 * slice + 50;
        const latency_ms = slice === 5 || slice === 6 ? 20 : slice === 115 ? 40 : 1;
        recorder.sent(at_ms - latency_ms, at_ms - latency_ms, false);
        recorder.answer("allowed", 200, at_ms - latency_ms, at_ms, at_ms);
      }
    });
    const { p99_second_us: second, p99_before_us: before } = timelineOf([worker], opened);
    const near = (ms: number) => expect.closeTo(1000 * ms, -2);
    expect([second[0], second[6], second[7]]).toEqual([near(20), near(20), near(1)]);
    expect([second[110], second[111]]).toEqual([near(40), null]);
    expect([before[29], before[30], before[105], before[106]]).toEqual([null, near(20), near(20), near(1)]);
  });
});
