import { rounded } from "../contract/numbers.js";
import type { EncodedHistogram, ShareOutput } from "../contract/result.js";
import { createHistogram, encodeHistogram } from "../judge/histogram.js";
import { mergeSlices, mergeTimelineSlices } from "../judge/merging/slices.js";
import { wallTime } from "./measurement/clock.js";
import { latenciesBySlice } from "./measurement/timeline.js";
import type { RunMeasurements } from "./results.js";

export function shareOutput(
  measurements: RunMeasurements,
  latencies: readonly (readonly Uint32Array[])[],
): ShareOutput {
  const { opens_ms, opens_s, consumers, measured } = measurements;
  const timeline = timelineShare(measurements);
  return {
    opened_at: wallTime(opens_ms).toISOString(),
    opened_late_ms: rounded(Math.max(0, ...measured.map(({ opened_ms }) => opened_ms - opens_ms)), 3),
    opens_s,
    ...(consumers?.limits ? { limits: consumers.limits } : {}),
    ...(consumers?.algorithm ? { algorithm: consumers.algorithm } : {}),
    sample_latencies: latencies.map(encoded),
    ...(timeline ? { timeline } : {}),
  };
}

/** Of a run that has one. */
function timelineShare({ answers, measured }: RunMeasurements): ShareOutput["timeline"] {
  if (!answers) return undefined;
  const workers = measured.map(({ slices }, index) => ({ slices, latencies_us: answers.of(index) }));
  const { allowed } = mergeSlices(workers.map(({ slices }) => slices));
  return {
    latencies: latenciesBySlice(workers, allowed.length).map(encoded),
    ...mergeTimelineSlices(measured.map(({ timeline_slices }) => timeline_slices)),
  };
}

function encoded(parts: readonly Uint32Array[]): EncodedHistogram {
  const histogram = createHistogram();
  for (const latencies_us of parts) for (const us of latencies_us) histogram.recordValue(us);
  return encodeHistogram(histogram);
}
