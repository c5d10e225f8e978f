import { describe, expect, test } from "vitest";
import { MicrosecondHistogram } from "../../../../src/benchmark/measurement/histograms.js";
import { ResponseRecorder, SliceRecorder } from "../../../../src/benchmark/measurement/recorder.js";
import { SampleMerger } from "../../../../src/benchmark/measurement/samples.js";
import {
  createHistogram,
  decodeHistogram,
  encodeHistogram,
} from "../../../../src/judge/histogram.js";
import { latencyBlock } from "../../../../src/judge/latency.js";
import { mergeSlices } from "../../../../src/judge/merging/slices.js";
import { sum } from "../../../../src/kit/numbers.js";

test("the encoded histogram contains all values, short and long", () => {
  const values = [
    0, 1, 470, 470, 2_047, 2_048, 2_049, 65_535, 65_536, 65_537, 9_000_000, 120_000_000,
  ];
  const measured = new MicrosecondHistogram();
  const histogram = createHistogram();
  for (const us of values) {
    measured.record(us);
    histogram.recordValue(us);
  }
  const [encodedValues, recorded] = [measured.encoded(), encodeHistogram(histogram)].map(
    (encoded) => {
      const decoded = decodeHistogram(encoded);
      return values.map((_, rank) =>
        decoded.getValueAtPercentile((100 * (rank + 1)) / values.length),
      );
    },
  );
  expect(encodedValues).toEqual(recorded);
  expect(measured.encoded().count).toBe(values.length);
});

describe("the slices of a window", () => {
  test("begin with the window; the last one also takes what came at the very close", () => {
    const slices = new SliceRecorder(5_000);
    for (const now_ms of [5_000, 5_099.9, 5_100, 5_299, 5_300.4, 5_401])
      slices.record("allowed", 10, now_ms);
    expect(slices.of(300)).toEqual({
      width_ms: 100,
      allowed: [2, 1, 3],
      limited: [0, 0, 0],
      failed: [0, 0, 0],
      latency_sum_us: [20, 10, 30],
    });
  });

  test.each([
    [300, 3],
    // Two times of the clock whose difference is not exact.
    [1_048_276.2199993924 + 300 - 1_048_276.2199993924, 3],
    [301, 4],
    [0.4, 1],
    [30_000, 300],
  ])("of %d ms are %i", (length_ms, count) => {
    expect(new SliceRecorder(0).of(length_ms).allowed).toHaveLength(count);
  });

  test("of several workers add up by index", () => {
    const [one, other] = [new SliceRecorder(0), new SliceRecorder(1)];
    one.record("allowed", 10, 50);
    other.record("allowed", 20, 60);
    other.record("failed", 0, 160);
    expect(mergeSlices([one.of(100), other.of(200)])).toEqual({
      width_ms: 100,
      allowed: [2, 0],
      limited: [0, 0],
      failed: [0, 1],
      latency_sum_us: [30, 0],
    });
  });
});

const newRecorder = () => new ResponseRecorder((code) => `code-${code}`);

const none = { allowed: 0, limited: 0, failed_answers: 0, connection_errors: 0, timed_out: 0 };

describe("the recorder of a window", () => {
  const record = () => {
    const recorder = newRecorder();
    recorder.open(0);
    recorder.answer("allowed", 200, 0.47, 20);
    recorder.answer("allowed", 200, 1.5, 30);
    recorder.answer("limited", 429, 2, 130);
    recorder.answer("failed", 503, 9_000, 140);
    return recorder;
  };

  test("counts each answer once, by outcome and by the text of its code", () => {
    expect(record().counts(4)).toEqual({
      ...none,
      sent: 4,
      allowed: 2,
      limited: 1,
      failed_answers: 1,
      followed: 0,
      after_window: none,
      cut: 0,
      by_code: { "code-200": 2, "code-429": 1, "code-503": 1 },
    });
  });

  test("excludes failures from the latency of each second", () => {
    const recorder = record();
    recorder.lost(3, 150);
    recorder.timedOut(4, 150);
    const sample = recorder.sample(1_000);
    expect(sample).toMatchObject({ at_ms: 1_000, allowed: 2, limited: 1, failed: 3 });
    expect([...sample.latencies_us]).toEqual([470, 1_500, 2_000]);
    const nothing = { allowed: 0, limited: 0, failed: 0, latencies_us: { length: 0 } };
    expect(recorder.sample(2_000)).toMatchObject(nothing);
  });

  test("keeps the age of each request without an answer, also of one that was never sent", () => {
    const recorder = record();
    recorder.lost(3, 150);
    recorder.timedOut(2_000, 150);
    recorder.notSent(1_200);
    const { censored } = recorder.histograms();
    expect(censored.count).toBe(3);
    const ages = decodeHistogram(censored);
    const age_ms = (percentile: number) => Math.floor(ages.getValueAtPercentile(percentile) / 1000);
    expect([0, 50, 100].map(age_ms)).toEqual([3, 1_200, 2_000]);
    expect(recorder.counts(6)).toMatchObject({ connection_errors: 1, timed_out: 1 });
  });

  test("counts each 100 ms, failures without a latency", () => {
    const recorder = record();
    recorder.lost(3, 150);
    recorder.timedOut(2_000, 250);
    expect(recorder.slices(300)).toEqual({
      width_ms: 100,
      allowed: [2, 0, 0],
      limited: [0, 1, 0],
      failed: [0, 2, 1],
      latency_sum_us: [1_970, 2_000, 0],
    });
  });

  test("records an answer within less than a microsecond as 1 µs", () => {
    const recorder = newRecorder();
    recorder.answer("allowed", 200, 0.0002, 0);
    expect(latencyBlock([recorder.histograms()])).toMatchObject({ min: 0.001 });
  });
});

describe("requests that are followed after the close of the window", () => {
  const follow = () => {
    const recorder = newRecorder();
    recorder.open(0);
    recorder.answer("allowed", 200, 1, 10);
    recorder.close();
    recorder.answer("allowed", 200, 300, 310);
    recorder.answer("limited", 429, 400, 410);
    recorder.answer("failed", 503, 500, 510);
    recorder.lost(600, 610);
    recorder.timedOut(700, 710);
    return recorder;
  };

  test("are counted apart, by how they ended", () => {
    expect(follow().counts(6)).toEqual({
      ...none,
      sent: 6,
      allowed: 1,
      followed: 5,
      after_window: {
        allowed: 1,
        limited: 1,
        failed_answers: 1,
        connection_errors: 1,
        timed_out: 1,
      },
      cut: 0,
      by_code: { "code-200": 1 },
    });
  });

  test("are in the latencies", () => {
    const { allowed, limited, failed, censored } = follow().histograms();
    expect([allowed.count, limited.count, failed.count, censored.count]).toEqual([2, 1, 1, 2]);
    expect(decodeHistogram(allowed).maxValue).toBeGreaterThanOrEqual(300_000);
  });

  test("are in no second and in no slice", () => {
    const recorder = follow();
    expect(recorder.sample(100)).toMatchObject({ allowed: 1, limited: 0, failed: 0 });
    const { allowed, limited, failed, latency_sum_us } = recorder.slices(1_000);
    expect([allowed, limited, failed, latency_sum_us].map((slices) => sum(slices))).toEqual([
      1, 0, 0, 1_000,
    ]);
  });
});

/** What a worker saw in the second that ended then. */
const second = (at_s: number, count: number, ms = 1) => {
  const recorder = newRecorder();
  for (let answer = 0; answer < count; answer++) recorder.answer("allowed", 200, ms, 0);
  return recorder.sample(at_s * 1000);
};

describe("the samples of several workers", () => {
  test("become one row per interval when each worker has reported; percentiles are over all answers", () => {
    const sheet = new SampleMerger(2);
    expect(sheet.add(0, second(1, 99, 1), 0)).toBeUndefined();
    expect(sheet.add(0, second(2, 10, 1), 0)).toBeUndefined();
    const row = { t_s: 1.002, allowed: 101, p50_ms: 1, p99_ms: 50.001 };
    expect(sheet.add(1, second(1.002, 2, 50.001), 0)).toMatchObject(row);
    expect(sheet.add(1, second(2, 10, 1), 0)).toMatchObject({
      t_s: 2,
      interval_s: 0.998,
      allowed: 20,
    });
    expect(sheet.rows([], 0)).toHaveLength(2);
  });

  test("contain every answer, even if one worker reported more often than another", () => {
    const sheet = new SampleMerger(2);
    for (const sample of [second(1, 10), second(2, 10), second(2.5, 5)]) sheet.add(0, sample, 0);
    for (const sample of [second(1, 10), second(2.5, 15)]) sheet.add(1, sample, 0);
    const rows = sheet.rows([], 0);
    expect(rows.reduce((sum, { allowed }) => sum + allowed, 0)).toBe(50);
    expect(rows.reduce((sum, { interval_s }) => sum + interval_s, 0)).toBeCloseTo(2.5, 3);
    expect(rows.at(-1)?.t_s).toBe(2.5);
  });

  test("have the nearest reading of the server, if there is one", () => {
    const sheet = new SampleMerger(1);
    for (const at_s of [1, 2]) sheet.add(0, second(at_s, 1), 0);
    const reading = {
      at_ms: 2_010,
      cpu_percent: 51.26,
      event_loop_utilisation: 0.5,
      heap_used_bytes: 7,
      resident_bytes: 8,
    };
    const [first, last] = sheet.rows([reading], 0);
    expect(first).not.toHaveProperty("server_cpu_percent");
    expect(last).toMatchObject({ server_cpu_percent: 51.3, server_heap_used_bytes: 7 });
  });
});
