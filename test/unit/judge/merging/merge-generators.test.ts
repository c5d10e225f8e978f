import { describe, expect, test } from "vitest";
import type { GeneratorOutput } from "../../../../src/contract/generator-output.js";
import { addCounts } from "../../../../src/judge/counts.js";
import { judged } from "../../../../src/judge/judged.js";
import { latencyBlock } from "../../../../src/judge/latency.js";
import { limitOf } from "../../../../src/judge/limit.js";
import { mergeGenerators } from "../../../../src/judge/merging/merge-generators.js";
import { timelineFrom } from "../../../../src/judge/merging/merge-timelines.js";
import { judgeRun } from "../../../../src/judge/rules.js";
import { definedOnly } from "../../../../src/kit/defined-only.js";
import {
  addGenerator,
  generatorOf,
  histogramOf,
  histogramWith,
  validEvidence,
} from "../../../helpers/evidence.js";

/** A valid run of two generators, of which the second is changed. */
function run(change: (second: ReturnType<typeof addGenerator>) => void) {
  const evidence = validEvidence();
  change(addGenerator(evidence));
  return evidence;
}
const reasons = (evidence: ReturnType<typeof run>) =>
  judgeRun(evidence).reasons.map(({ rule, severity, text }) => `${rule} ${severity} ${text}`);

const textMatching = (pattern: RegExp) => [expect.stringMatching(pattern)];

describe("of several generators", () => {
  test("a saturated one is named, in the verdict and as the limit", () => {
    const evidence = run(({ workers }) => {
      for (const worker of workers) worker.event_loop_utilisation = 0.95;
    });
    expect(reasons(evidence)).toEqual(
      textMatching(/^M6 suspect generator-2 .*95 % .*--generators/),
    );
    expect(limitOf(evidence)).toEqual({
      resource: "generator",
      text: "generator-2's event loop was 95 % busy",
    });
  });

  test("a slow one of a closed loop is named, with what it and the others answered", () => {
    const evidence = run(({ workers }) => {
      for (const worker of workers) worker.connections *= 2;
    });
    expect(reasons(evidence)).toEqual(textMatching(/^M6 suspect generator-2 .*100 .*200/));
  });

  test("a late one of an open loop is named; all of them late are not", () => {
    const lateness = (second_us: number, first_us: number) => {
      const evidence = run((second) => {
        second.schedule = scheduleOf(second_us);
      });
      evidence.request.load = {
        model: "open",
        rate_per_second: 2000,
        arrivals: "constant",
        connections: 10,
      };
      generatorOf(evidence).schedule = scheduleOf(first_us);
      return reasons(evidence).filter((text) => text.includes("lateness"));
    };
    expect(lateness(5000, 800)).toEqual(
      textMatching(/^M6 suspect generator-2 .*5\.00 ms.*0\.80 ms/),
    );
    expect(lateness(5000, 4000)).toEqual([]);
    expect(lateness(900, 100)).toEqual([]);
  });
});

const scheduleOf = (late_us: number) => ({
  offered: 5000,
  sent: 5000,
  late: 0,
  blocked: 0,
  dropped: 0,
  unsent: 0,
  lateness: histogramOf(5000, late_us),
  gaps: histogramOf(0),
  shared_wakes: false,
});

const SLICES = 50;
const opened_at = "2026-01-01T00:00:02.000Z";
const share = { opened_at, opened_late_ms: 0, opens_s: 1.5, sample_latencies: [] };

/** What both generators of a valid run write, of which the first reads the server. */
function outputs(
  change: (output: GeneratorOutput, index: number) => void = () => {},
): GeneratorOutput[] {
  const run = validEvidence();
  addGenerator(run);
  const { prediction: _prediction, ...evidence } = run;
  return run.generators.map((part, index) => {
    const { [part.id]: generator, "server-1": server } = run.resources;
    if (!generator) throw new Error(`no resources of ${part.id}`);
    const resources: GeneratorOutput["resources"] = {
      [part.id]: { ...generator, cpu_us_per_request: 99 },
    };
    // The first generator reads the server.
    if (index === 0 && server) resources["server-1"] = server;

    const output: GeneratorOutput = structuredClone({
      ...judged({ ...evidence, generators: [part], counts: part.counts }),
      consumers: index === 0 ? run.consumers : [],
      resources,
      slices: {
        ...run.slices,
        allowed: run.slices.allowed.map((count) => count / 2),
        limited: run.slices.limited.map((count) => count / 2),
        latency_sum_us: run.slices.latency_sum_us.map((us) => us / 2),
      },
      warmup: { ...run.warmup, requests: run.warmup.requests / 2 },
      share,
      request_counts: { sent: [1, index], undecided: [0, 1] },
    });
    change(output, index);
    return output;
  });
}

const merge = (all: readonly GeneratorOutput[], opened_after_ms = 0) =>
  mergeGenerators(
    all.map((output, index) => ({ output, opened_after_ms: index === 0 ? 0 : opened_after_ms })),
  );

describe("the outputs of several generators", () => {
  test("have the counts, latencies and verdict of the whole load", () => {
    const whole = validEvidence();
    const merged = merge(outputs(), 3.25);
    const parts = addCounts(merged.generators.map(({ counts }) => counts));
    expect(merged.counts).toEqual(parts);
    expect(merged.requests).toEqual(whole.requests);
    expect(merged.latency).toEqual(latencyBlock([generatorOf(whole).histograms]));
    expect(merged.warmup).toEqual(whole.warmup);
    expect(merged.slices).toEqual(whole.slices);
    expect(merged.generators.map(({ id, opened_after_ms }) => [id, opened_after_ms])).toEqual([
      ["generator-1", 0],
      ["generator-2", 3.25],
    ]);
    // The orchestrator reads the store.
    const { "store-1": store } = whole.resources;
    const resources = definedOnly({ ...merged.resources, "store-1": store });
    expect(judged({ ...merged, resources }).verdict.reasons).toEqual([]);
  });

  test("have the change of the one whose system clock was set", () => {
    const changes = [0.2, 5000].map((changed_ms) => ({ changed_ms, over_s: 10 }));
    const { clock_change } = merge(
      outputs((output, index) => Object.assign(output, { clock_change: changes[index] })),
    );
    expect(clock_change).toEqual(changes[1]);
  });

  test("have the CPU of each generator, by the requests of all", () => {
    const { resources, consumers } = merge(outputs());
    expect(Object.keys(resources).sort()).toEqual(["generator-1", "generator-2", "server-1"]);
    const [server] = consumers;
    const served = (server?.at_end.requests ?? 0) - (server?.at_window_open.requests ?? 0);
    for (const { cpu_us, cpu_us_per_request } of Object.values(resources))
      expect(cpu_us_per_request).toBeCloseTo(cpu_us / served, 2);
  });

  test("have percentiles of each second over the answers of both, never an average of percentiles", () => {
    const latencies = [
      [100, 100, 100],
      [100, 900, 900, 900, 900, 900, 900],
    ];
    const { samples } = merge(
      outputs((output, index) => {
        const ownLatencies = latencies[index] ?? [];
        output.samples = [
          {
            t_s: 1 + index / 1000,
            interval_s: 1,
            allowed: ownLatencies.length,
            limited: 0,
            failed: 0,
          },
        ];
        output.share = { ...share, sample_latencies: [histogramWith(ownLatencies)] };
      }),
    );
    expect(samples).toEqual([
      { t_s: 1.001, interval_s: 1, allowed: 10, limited: 0, failed: 0, p50_ms: 0.9, p99_ms: 0.9 },
    ]);
  });

  test("have the timeline of all answers: dividing them changes nothing", () => {
    const ofSlice = (slice: number) =>
      Array.from(
        { length: 200 },
        (_, n) => 1 + ((slice * 7919 + n * 104_729) % (n % 9 === 0 ? 90_000 : 1500)),
      );
    const slices = Array.from({ length: SLICES }, (_, slice) => ofSlice(slice));
    const zeros = Array.from({ length: SLICES }, () => 0);
    const timelineSlices = { timed_out: zeros, dropped: zeros, due: zeros.map(() => 100) };
    const merged = merge(
      outputs((output, index) => {
        const ownSlices = slices.map((all) => all.filter((_, n) => n % 2 === index));
        output.share = {
          ...share,
          timeline: { latencies: ownSlices.map(histogramWith), ...timelineSlices },
        };
      }),
    );
    const window = { ...share, opened_at: new Date(opened_at), openLoop: false };
    const whole = { ...timelineSlices, due: timelineSlices.due.map((count) => 2 * count) };
    const values = slices.map((values_us) => [{ values_us }]);
    expect(merged.timeline).toEqual(timelineFrom(merged.slices, whole, values, window));
  });

  test("were not steady if one of them was not", () => {
    const parts = outputs((output, index) => (output.warmup.steady = index === 0));
    const { warmup } = merge(parts);
    expect(warmup.steady).toBe(false);
  });
});
