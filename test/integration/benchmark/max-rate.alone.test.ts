import { beforeAll, expect, test } from "vitest";
import { missReason } from "../../../src/orchestrator/max-rate/objective.js";
import { findMaxRate } from "../../../src/orchestrator/max-rate/search.js";
import { parseThresholds } from "../../../src/orchestrator/request/thresholds.js";
import { build, measured } from "../../helpers/programs.js";
import { StubServer } from "../../helpers/stub-server.js";

beforeAll(build);

test("the highest rate of a server of 20 slots of 20 ms is 1000/s, within 5 %", async () => {
  const stub = await StubServer.start({ slots: 20, slot_ms: 20 });
  const objectives = parseThresholds("--slo", "p50<50ms,errors<0.1%");
  // Beyond the capacity the line grows with every second, so that half of the answers are late, not only the last
  // percent of them, which a busy machine can make late by itself.
  const range = { from: 900, min: 100, max: 10_000, resolution: 0.05 };
  const found = await findMaxRate(range, async (rate, kind) => {
    const result = await measured({
      TARGET_URL: stub.url,
      RATE: String(rate),
      DURATION: kind === "probe" ? "2" : "3",
      CONNECTIONS: "200",
    });
    const reason = missReason(result, objectives);
    return { isMet: reason === "", reason };
  });
  const told = JSON.stringify(found.trials);
  expect(found.confirmed_per_second, told).toBeGreaterThan(950);
  expect(found.confirmed_per_second, told).toBeLessThan(1050);
  expect(found.missed_per_second, told).toBeGreaterThan(950);
});
