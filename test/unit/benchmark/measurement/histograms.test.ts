import { expect, test } from "vitest";
import { MicrosecondHistogram } from "../../../../src/benchmark/measurement/histograms.js";
import { createHistogram, decodeHistogram, encodeHistogram } from "../../../../src/judge/histogram.js";

test("the encoded histogram contains all values, short and long", () => {
  const values = [0, 1, 470, 470, 2_047, 2_048, 2_049, 65_535, 65_536, 65_537, 9_000_000, 120_000_000];
  const measured = new MicrosecondHistogram();
  const histogram = createHistogram();
  for (const us of values) {
    measured.record(us);
    histogram.recordValue(us);
  }
  const [encodedValues, recorded] = [measured.encoded(), encodeHistogram(histogram)].map((encoded) => {
    const decoded = decodeHistogram(encoded);
    return values.map((_, rank) => decoded.getValueAtPercentile((100 * (rank + 1)) / values.length));
  });
  expect(encodedValues).toEqual(recorded);
  expect(measured.encoded().count).toBe(values.length);
});
