import { expect, test } from "vitest";
import { mergeBins, TurnBins } from "../../../../src/benchmark/measurement/turn-bins.js";

test("answers and time are in the bin of the time since their own turn began", () => {
  const bins = new TurnBins(0);
  for (const began_ms of [1000, 7000]) {
    bins.begin(began_ms);
    // A bin has its lower edge, and not its upper one.
    for (const since_ms of [0, 19.9, 20, 99, 100, 1000, 2500]) bins.add(300, began_ms + since_ms);
    bins.lasted(began_ms + 10, began_ms + 2600);
  }
  expect(bins.record).toEqual({
    answers: [4, 4, 2, 0, 0, 4],
    latency_sum_us: [1200, 1200, 600, 0, 0, 1200],
    seconds: [0.02, 0.16, 0.2, 0.6, 1, 3.2],
  });
});

test("the time in which the pipeline fills is in no bin, neither its answers nor its seconds", () => {
  const bins = new TurnBins(30);
  bins.begin(0);
  for (const since_ms of [5, 29, 30, 90]) bins.add(100, since_ms);
  bins.lasted(0, 100);
  expect(bins.record.answers).toEqual([0, 2, 0, 0, 0, 0]);
  expect(bins.record.seconds).toEqual([0, 0.07, 0, 0, 0, 0]);
});

test("workers that shared turns add up their answers, in the same time", () => {
  const workers = [1, 3].map((answers) => {
    const bins = new TurnBins(0);
    bins.begin(0);
    for (let index = 0; index < answers; index++) bins.add(100, 50);
    bins.lasted(0, 100);
    return bins.record;
  });
  expect(mergeBins(workers)).toEqual({
    answers: [0, 4, 0, 0, 0, 0],
    latency_sum_us: [0, 400, 0, 0, 0, 0],
    seconds: [0.02, 0.08, 0, 0, 0, 0],
  });
});
