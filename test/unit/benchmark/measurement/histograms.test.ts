import { expect, test } from "vitest";
import { MicrosecondHistogram } from "../../../../src/benchmark/measurement/histograms.js";
import { createHistogram, decodeHistogram, encodeHistogram } from "../../../../src/judge/histogram.js";

test("a tally gives the histogram of all its values, short and long", () => {
  const values = [0, 1, 470, 470, 2_047, 2_048, 2_049, 65_535, 65_536, 65_537, 9_000_000, 120_000_000];
  const tally = new MicrosecondHistogram();
  const histogram = createHistogram();
  for (const us of values) {
    tally.record(us);
    histogram.recordValue(us);
  }
  const [tallied, recorded] = [tally.encoded(), encodeHistogram(histogram)].map((encoded) => {
    const decoded = decodeHistogram(encoded);
    return values.map((_, rank) => decoded.getValueAtPercentile((100 * (rank + 1)) / values.length));
  });
  expect(tallied).toEqual(recorded);
  expect(tally.encoded().count).toBe(values.length);
});

test("an empty tally gives an empty histogram", () => {
  expect(new MicrosecondHistogram().encoded()).toEqual(encodeHistogram(createHistogram()));
});
