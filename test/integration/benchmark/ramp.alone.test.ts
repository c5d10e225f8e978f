import { describe, expect, test } from "vitest";
import type { MeasuredResult } from "../../../src/contract/result.js";
import { measured } from "../../helpers/programs.js";
import { StubServer } from "../../helpers/stub-server.js";

/**
 * Longer than the shortest automatic warm-up: one that always took 3 s would end inside the ramp.
 */
const RAMP_S = 3.5;

async function measure(warmup: string): Promise<MeasuredResult> {
  const stub = await StubServer.start({ delay_ms: 8, jitter: 0.5, ramp_from: 3, ramp_s: RAMP_S });
  return measured({ TARGET_URL: stub.url, DURATION: "3.2", WARMUP: warmup, CONNECTIONS: "40" });
}

describe("a server that takes three times as long at first (M26)", () => {
  test("a warm-up of given length is exact, and the ramp in the window is told", async () => {
    const { request, warmup, verdict } = await measure("0.3");
    expect(request.warmup_s).toBe(0.3);
    expect(warmup.steady).toBeUndefined();
    expect(warmup.took_s).toBeLessThan(RAMP_S);
    expect(verdict.reasons).toContainEqual(
      expect.objectContaining({ rule: "M26", severity: "suspect" }),
    );
  });

  test("`auto` outlasts the ramp, ends once it is steady, and the window is not flagged", async () => {
    const { request, warmup, verdict } = await measure("auto");
    expect(request.warmup_s).toBe("auto");
    expect(warmup.took_s - warmup.lead_in.took_s).toBeGreaterThan(RAMP_S);
    expect(warmup.steady).toBe(true);
    expect(warmup.requests).toBeGreaterThan(0);
    expect(verdict.reasons.map(({ rule }) => rule)).not.toContain("M26");
  });
});
