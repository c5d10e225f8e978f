import { describe, expect, test } from "vitest";
import { OpenLoopRecorder } from "../../../../src/benchmark/open-loop/open-loop.js";
import { sum } from "../../../../src/contract/numbers.js";
import type { EncodedHistogram } from "../../../../src/contract/result.js";
import { decodeHistogram } from "../../../../src/judge/histogram.js";

function newRecorder(): OpenLoopRecorder {
  const recorder = new OpenLoopRecorder(String);
  recorder.open(1_000);
  return recorder;
}

/** All values in whole milliseconds, in order. */
const valuesOf = (encoded: EncodedHistogram | undefined): number[] => {
  if (!encoded) return [];
  const histogram = decodeHistogram(encoded);
  return Array.from({ length: encoded.count }, (_, rank) =>
    Math.round(histogram.getValueAtPercentile((100 * (rank + 0.5)) / encoded.count) / 1000),
  );
};

const figuresOf = (recorder: OpenLoopRecorder) => recorder.figures(500, true);

describe("the recorder of an open loop", () => {
  test("takes lateness only from sends that did not wait for a connection", () => {
    const recorder = newRecorder();
    recorder.sent(1_000, 1_000.2, false);
    recorder.sent(1_010, 1_013, false);
    recorder.sent(1_020, 1_200, true);
    const { schedule } = figuresOf(recorder);
    expect(schedule).toMatchObject({ offered: 3, sent: 3, late: 1, blocked: 1, lateness: { count: 2 } });
    expect(valuesOf(schedule?.lateness)).toEqual([0, 3]);
  });

  test("counts ages from the intended send, service times from the send; what was never sent has none", () => {
    const recorder = newRecorder();
    for (const due_ms of [1_000, 1_010, 1_020]) recorder.sent(due_ms, due_ms + 30, true);
    recorder.answer("limited", 429, 1_000, 1_030, 1_050);
    recorder.lost(1_010, 1_040, 1_100);
    recorder.timedOut(1_020, 1_050, 1_150);
    recorder.dropped(1_000, 1_300);
    recorder.unsent(1_480, 1_500);
    recorder.close();
    const { counts, histograms, service_histograms, schedule } = figuresOf(recorder);
    expect(counts).toMatchObject({ sent: 3, limited: 1, connection_errors: 1, timed_out: 1, followed: 0 });
    expect(schedule).toMatchObject({ offered: 5, sent: 3, dropped: 1, unsent: 1 });
    expect(valuesOf(histograms.limited)).toEqual([50]);
    expect(valuesOf(histograms.censored)).toEqual([20, 90, 130, 300]);
    expect(valuesOf(service_histograms?.limited)).toEqual([20]);
    expect(valuesOf(service_histograms?.censored)).toEqual([60, 100]);
  });

  test("follows what was in flight at the close: in both latencies, not in the window", () => {
    const recorder = newRecorder();
    for (const due_ms of [1_000, 1_010, 1_020]) recorder.sent(due_ms, due_ms, false);
    recorder.answer("allowed", 200, 1_000, 1_000, 1_210);
    recorder.close();
    recorder.answer("allowed", 200, 1_010, 1_010, 1_900);
    recorder.timedOut(1_020, 1_020, 2_020);
    const { counts, histograms, service_histograms, slices } = figuresOf(recorder);
    expect(counts).toMatchObject({
      sent: 3,
      allowed: 1,
      followed: 2,
      after_window: { allowed: 1, timed_out: 1 },
      by_code: { "200": 1 },
    });
    for (const each of [histograms, service_histograms]) {
      expect(each?.allowed.count).toBe(2);
      expect(each?.censored.count).toBe(1);
    }
    expect(slices.allowed).toEqual([0, 0, 1, 0, 0]);
    expect(sum(slices.failed)).toBe(0);
    expect(recorder.sample(1_500)).toMatchObject({ allowed: 1, failed: 0 });
  });
});
