import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { judgeTrial } from "../../../src/orchestrator/max-rate/search.js";
import { nextTrials, type Trial } from "../../../src/orchestrator/max-rate/trials.js";
import { parseThresholds } from "../../../src/orchestrator/request/thresholds.js";
import { shuffler } from "../../../src/traffic/shuffle.js";
import { measured, ROOT } from "../../helpers/programs.js";
import { StubServer } from "../../helpers/stub-server.js";

// Beyond the capacity the line grows with every second, so that half of the answers are late, not
// only the last percent of them, which a busy machine can make late by itself.
const objectives = parseThresholds("--slo", "p50<24ms,errors<0.1%");

async function searchOn(url: string, from: number): Promise<Trial[]> {
  const settings = { from, min: 100, max: 10_000, trials_per_rate: 5 };
  const trials: Trial[] = [];
  for (
    let next = nextTrials(settings, trials);
    "rates" in next;
    next = nextTrials(settings, trials)
  )
    for (const rate_per_second of shuffler(trials.length).shuffle(next.rates)) {
      const env = {
        TARGET_URL: url,
        RATE: String(rate_per_second),
        DURATION: "0.6",
        CONNECTIONS: "200",
      };
      const { status } = judgeTrial(await measured(env), objectives);
      trials.push({ rate_per_second, bracket: next.phase === "bracket", status });
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

/** The line must be long enough that half of the answers wait for 4 ms, in 0.6 s. */
const LATE_FROM = 1.014;

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
