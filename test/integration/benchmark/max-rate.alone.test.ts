import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { decodeGeneratorEnv } from "../../../src/contract/generator-env.js";
import type { MeasuredResult } from "../../../src/contract/result.js";
import { groupSpec, type RunSpec } from "../../../src/contract/run-spec.js";
import { CURVE_LEAD_IN_MS } from "../../../src/contract/turns.js";
import { judgeTrial } from "../../../src/orchestrator/max-rate/search.js";
import { nextTrials, type Trial } from "../../../src/orchestrator/max-rate/trials.js";
import { parseThresholds } from "../../../src/orchestrator/request/thresholds.js";
import { generateGroup, resultOf } from "../../helpers/generator-group.js";
import { ROOT } from "../../helpers/programs.js";
import { StubServer } from "../../helpers/stub-server.js";

// Beyond the capacity the line grows with every second, so that half of the answers are late, not
// only the last percent of them, which a busy machine can make late by itself.
const objectives = parseThresholds("--slo", "p50<24ms,errors<0.1%");

const TURN = { lead_in_ms: CURVE_LEAD_IN_MS, slice_ms: 400 };

/** The results of one load after the other, in random order, by one generator. */
async function measuredAt(
  url: string,
  rates: readonly number[],
  seed: number,
): Promise<MeasuredResult[]> {
  const runs = rates.map((rate): RunSpec => {
    const env = { TARGET_URL: url, RATE: String(rate), DURATION: "0.4", CONNECTIONS: "200" };
    const { generator, ...spec } = decodeGeneratorEnv(env);
    return { ...spec, generator: { ...generator, waits_for_readings: true, progress: "json" } };
  });
  const spec = groupSpec({ runs, turns: { seed, curve: true, lengths: TURN } });
  const { outputs, stderr } = await generateGroup(spec);
  expect(outputs, stderr).toHaveLength(rates.length);
  return outputs.map(resultOf);
}

async function searchOn(url: string, from: number): Promise<Trial[]> {
  const settings = { from, min: 100, max: 10_000, trials_per_rate: 5 };
  const trials: Trial[] = [];
  for (
    let next = nextTrials(settings, trials);
    "rates" in next;
    next = nextTrials(settings, trials)
  ) {
    const results = await measuredAt(url, next.rates, trials.length);
    for (const [index, rate_per_second] of next.rates.entries()) {
      const { status } = judgeTrial(results[index] as MeasuredResult, objectives);
      trials.push({ rate_per_second, bracket: next.phase === "bracket", status });
    }
  }
  return trials;
}

const estimateSchema = z.object({ estimate: z.number(), low: z.number(), high: z.number() });

/** What the report makes of the trials. */
function estimateOf(trials: readonly Trial[]): z.infer<typeof estimateSchema> {
  const counted = trials.filter(({ bracket, status }) => !bracket && status !== "void");
  const asked = counted.map(({ rate_per_second, status }) => ({
    rate_per_second,
    kept: status === "kept",
  }));
  const { stdout, stderr } = spawnSync(
    join(ROOT, ".venv/bin/python"),
    [join(ROOT, "report"), "statistics"],
    {
      input: JSON.stringify({ question: "max_rate", trials: asked }),
      encoding: "utf8",
    },
  );
  expect(stderr).toBe("");
  return estimateSchema.parse(JSON.parse(stdout));
}

/** The line must be long enough that half of the answers wait for 4 ms, 0.4 s after the turn began. */
const LATE_FROM = 1.01;

// An interval of 95 %: one run in twenty is a false alarm, and with both repeats one in 8,000.
test("a server of 20 slots of 20 ms keeps 1000/s: that lies in the interval", async () => {
  const stub = await StubServer.start({ slots: 20, slot_ms: 20 });
  const trials = await searchOn(stub.url, 900);
  const { low, high } = estimateOf(trials);
  const trialsText = JSON.stringify({
    low,
    high,
    trials: trials.filter(({ bracket }) => !bracket),
  });
  expect(low, trialsText).toBeLessThanOrEqual(1000 * LATE_FROM);
  expect(high, trialsText).toBeGreaterThanOrEqual(1000);
  // An interval that says nothing would hold it, too.
  expect(high / low, trialsText).toBeLessThan(2);
});
