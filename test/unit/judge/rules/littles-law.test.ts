import { expect, test } from "vitest";
import { encodeHistogram, mergeHistograms } from "../../../../src/judge/histogram.js";
import { latencyBlock } from "../../../../src/judge/latency.js";
import { judgeRun } from "../../../../src/judge/rules.js";
import {
  configuration,
  generatorOf,
  histogramOf,
  limiterLayerEvidence,
  serverOf,
  validEvidence,
} from "../../../helpers/evidence.js";

test("at the limiter layer Little's law has no subject where the limiter is in the client's own process", () => {
  const run = limiterLayerEvidence();
  const memory = { ...configuration.target, store: "memory" };
  run.configuration = { ...configuration, layer: "limiter", target: memory };
  serverOf(run).target = memory.text;
  if (run.latency) run.latency.average = 0.001;
  expect(judgeRun(run)).toMatchObject({
    status: "valid",
    not_applicable: [{ rule: "M6" }, { rule: "M7" }, {}, {}],
  });
});

test("Little's law holds where followed requests took long: their time lies beyond the window", () => {
  const run = validEvidence();
  const { histograms } = generatorOf(run);
  // The five that were followed were answered 10 s later.
  histograms.allowed = encodeHistogram(mergeHistograms([histogramOf(9_000), histogramOf(4, 10e6)]));
  histograms.limited = encodeHistogram(mergeHistograms([histogramOf(1_000), histogramOf(1, 10e6)]));
  const latency = latencyBlock([histograms]);
  if (!latency) throw new Error("a latency");
  run.latency = latency;
  expect(latency.average).toBeGreaterThan(9);
  expect(judgeRun(run)).toMatchObject({ status: "valid", reasons: [] });
});
