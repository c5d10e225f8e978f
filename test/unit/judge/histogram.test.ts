import { describe, expect, test } from "vitest";
import {
  createHistogram,
  decodeHistogram,
  encodeHistogram,
  mergeHistograms,
} from "../../../src/judge/histogram.js";
import { unsupportedPercentiles } from "../../../src/judge/latency.js";
import { seededRandom } from "../../helpers/random.js";

const histogramOf = (values: readonly number[]) => {
  const histogram = createHistogram();
  for (const value of values) histogram.recordValue(value);
  return histogram;
};

/** Latencies as they come: many short ones, a long tail, now and then a stall. Microseconds. */
function latencies(random: () => number, count: number): number[] {
  return Array.from({ length: count }, () => {
    const tail = random() < 0.01 ? 40_000 : 0;
    return Math.max(1, Math.round(200 + 300 * -Math.log(1 - random()) + tail * random()));
  });
}

function split(values: readonly number[], parts: number, random: () => number): number[][] {
  const groups: number[][] = Array.from({ length: parts }, () => []);
  // Unequal on purpose: the first worker has most, the last may have none.
  for (const value of values) groups[Math.floor(random() ** 3 * parts)]?.push(value);
  return groups;
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "percentiles of several workers are those of all values in one histogram, split %i",
  (seed) => {
    const random = seededRandom(seed);
    const values = latencies(random, 5_000);
    const groups = split(values, 1 + (seed % 5), random);
    const merged = mergeHistograms(groups.map((group) => encodeHistogram(histogramOf(group))));
    const whole = decodeHistogram(encodeHistogram(histogramOf(values)));
    expect(merged.summary).toEqual(whole.summary);
    expect(merged.mean).toBe(whole.mean);
    expect(merged.totalCount).toBe(values.length);
  },
);

test("percentiles are within 0.1 % of the exact ones, even beyond a minute", () => {
  const values = [...latencies(seededRandom(11), 20_000), 61_000_000, 599_000_000].sort(
    (a, b) => a - b,
  );
  const histogram = decodeHistogram(encodeHistogram(histogramOf(values)));
  for (const percentile of [50, 75, 90, 95, 97.5, 99, 99.9, 100]) {
    const exact = values[Math.ceil((percentile / 100) * values.length) - 1] ?? 0;
    const value = histogram.getValueAtPercentile(percentile);
    expect(Math.abs(value - exact)).toBeLessThanOrEqual(Math.max(1, exact * 0.001));
  }
});

describe("an encoded histogram", () => {
  test("decodes to the same histogram", () => {
    const values = latencies(seededRandom(5), 1_000);
    const encoded = encodeHistogram(histogramOf(values));
    expect(encoded).toMatchObject({
      unit: "us",
      encoding: "hdr-v2-compressed-base64",
      count: 1_000,
    });
    const { max, ...otherFigures } = histogramOf(values).summary;
    const back = decodeHistogram(encoded).summary;
    expect(back).toMatchObject(otherFigures);
    // The largest value comes back as the end of its bucket.
    expect(Math.abs(back.max / max - 1)).toBeLessThan(0.001);
  });

  test("is rejected if its number of values differs from its count", () => {
    const encoded = encodeHistogram(histogramOf([100, 200]));
    expect(() => decodeHistogram({ ...encoded, count: 3 })).toThrow(/has 2 values instead of 3/);
    expect(() => mergeHistograms([encoded, { ...encoded, count: 1 }])).toThrow(/instead of 1/);
  });

  test("is rejected if it is corrupted", () => {
    const encoded = encodeHistogram(histogramOf([100, 200]));
    expect(() => decodeHistogram({ ...encoded, data: "bm90IGEgaGlzdG9ncmFt" })).toThrow();
    expect(() => decodeHistogram({ ...encoded, data: encoded.data.slice(0, 20) })).toThrow();
  });
});

test.each([
  [9_999, ["p99", "p99_9"]],
  [10_000, ["p99_9"]],
  [99_999, ["p99_9"]],
  [100_000, []],
])("%i answers leave %j unsupported", (samples, names) => {
  expect(unsupportedPercentiles(samples)).toEqual(names);
});
