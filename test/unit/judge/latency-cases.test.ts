import { expect, test } from "vitest";
import { createHistogram, encodeHistogram } from "../../../src/judge/histogram.js";
import { latencyBlock, latencyCurve } from "../../../src/judge/latency.js";
import { seededRandom } from "../../helpers/random.js";

/** Microseconds and how often they occur. */
type Counts = readonly (readonly [us: number, count: number])[];

function encoded(counts: Counts) {
  const histogram = createHistogram();
  for (const [us, count] of counts) histogram.recordValueWithCount(us, count);
  return encodeHistogram(histogram);
}

/**
 * Counts from 1 to 3000 on a logarithmic scale; latencies up to a minute, or 10 µs apart, so that
 * bounds can agree.
 */
function randomCounts(random: () => number, size: number, near: boolean): Counts {
  return Array.from({ length: size }, () => [
    near ? 1_000 + 10 * Math.floor(24 * random()) : 1 + Math.floor(59_999_999 ** random()),
    1 + Math.floor(3_000 ** random()),
  ]);
}

/** A line of JSON: answers, requests without one, and what is known of them. */
function caseLine(seed: number): string {
  const random = seededRandom(seed);
  const near = seed % 3 === 0;
  const answered = randomCounts(random, 1 + Math.floor(24 * random()), near);
  const unanswered = seed % 5 === 0 ? [] : randomCounts(random, 1 + Math.floor(4 * random()), near);
  const parts = [
    {
      allowed: encoded(answered),
      limited: encoded([]),
      failed: encoded([]),
      censored: encoded(unanswered),
    },
  ];
  const [latency, curve] = [latencyBlock(parts), latencyCurve(parts)];
  return JSON.stringify({ answered, unanswered, latency, curve });
}

// test/report/statistics/test_latency_cases.py reads the file. After a change of the rule, delete
// it and run this.
test("the report computes the same percentiles and bounds from these histograms", async () => {
  const lines = Array.from({ length: 60 }, (_, seed) => caseLine(seed));
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("../../fixtures/latency-cases.jsonl");
});
