import { describe, expect, test } from "vitest";
import type { MeasuredResult } from "../../../src/contract/result.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();

const TRAFFIC = ["--traffic", "boundary", "--concurrency", "100"];
const SHORT = ["--rate", "5000", "--window", "1", "--duration-mode", "custom:3"];

/** The results of a short campaign. */
async function results(
  clients: string,
  ...flags: readonly string[]
): Promise<[Campaign, MeasuredResult[]]> {
  const campaign = Campaign.run(newFolder(), clients, [...TRAFFIC, ...flags]);
  const { stderr } = await campaign.ended;
  expect(campaign.measured.length, stderr).toBeGreaterThan(0);
  return [campaign, campaign.measured];
}

const held = ({ boundary }: MeasuredResult) =>
  Object.fromEntries((boundary?.promises ?? []).map((promise) => [promise.id, promise.holds]));
const ADMISSION_HOLDS = {
  burst: true,
  rate: true,
  "over-admission": true,
  "under-admission": true,
};

describe("traffic at the boundary, on real limiters", () => {
  test("fixed windows, two servers and two workers; GCRA: promises hold, and bursts are as the algorithm says", async () => {
    const two = ["--servers", "2", "--workers", "2"];
    const [_campaign, found] = await results(
      "iovalkey,ioredis@valkey+redis-gcra",
      ...SHORT,
      ...two,
    );
    expect(found).toHaveLength(2);
    for (const result of found) {
      expect(held(result)).toMatchObject(ADMISSION_HOLDS);
      expect(result.boundary).toMatchObject({ quota: 5, window_s: 1, below: { keys: 800 } });
      expect(result.boundary?.above.limited).toBeGreaterThan(result.boundary?.above.admitted ?? 0);
      expect(result.prediction).toBeUndefined();
      const { above, below, undecided } = result.boundary ?? {};
      const answers = [above, below].flatMap((group) => [
        group?.admitted ?? 0,
        group?.limited ?? 0,
      ]);
      // Every request, on whichever worker and server, is counted once. One that was due in the
      // lead-in may be sent later.
      const counted = answers.reduce((total, count) => total + count, undecided ?? 0);
      expect(counted).toBeGreaterThanOrEqual(result.counts.sent);
      expect(counted).toBeLessThanOrEqual(result.counts.sent + result.warmup.lead_in.requests);
    }
    const fixed = found.find(({ boundary }) => boundary?.algorithm === "fixed window");
    expect(fixed?.boundary?.burst.factor).toBeGreaterThan(1);
    expect(fixed?.boundary?.retry_after).toMatchObject({ resolution_ms: 1000 });
  });

  test("counters in each of two servers do not hold the quota: the outcome says so, the measurement stands", async () => {
    // Half of the rate over twice the window.
    const calm = ["--rate", "2500", "--window", "2", "--duration-mode", "custom:6"];
    const [, [result]] = await results("memory", "--servers", "2", ...calm);
    expect(result && held(result)).toMatchObject({ burst: false, "over-admission": false });
    // An answer takes so little here that a busy machine may delay requests by more (M5): then the
    // outcome is not known.
    const broken = result?.verdict.reasons.flatMap(({ rule, severity }) =>
      severity === "invalid" ? [rule] : [],
    );
    if (broken?.includes("M5")) return expect(broken).toEqual(["M5"]);
    expect(broken).toEqual([]);
    expect(result?.outcome).toBe("failed");
  });

  test("the limiter layer knows waits in milliseconds", async () => {
    const [, [result]] = await results("ioredis@valkey+redis-gcra", ...SHORT, "--layer", "limiter");
    expect(result && held(result)).toMatchObject({
      ...ADMISSION_HOLDS,
      "retry-after-admits": true,
    });
    expect(result?.boundary?.retry_after?.resolution_ms).toBe(1);
  });
});
