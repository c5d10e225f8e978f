import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { EXIT } from "../../../src/contract/errors.js";
import { Campaign } from "../../helpers/campaign.js";
import { expectConsistent, expectReconciled, expectScheduleReconciled } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { build } from "../../helpers/programs.js";

beforeAll(build);
const newFolder = temporaryFolders();

/** A campaign that ended well, with each result reconciled by the test's own arithmetic. */
async function measured(clients: string, flags: readonly string[]): Promise<Campaign> {
  const campaign = Campaign.run(newFolder(), clients, flags);
  const { code, stderr } = await campaign.ended;
  expect(code, stderr).toBe(0);
  for (const result of campaign.measured) {
    expect(result.verdict.reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
    expectConsistent(result);
    expectReconciled(result);
  }
  expect(await campaign.leftovers()).toEqual([]);
  return campaign;
}

const idsOf = (count: number) => Array.from({ length: count }, (_, index) => `generator-${index + 1}`);

describe("several generators", () => {
  test("of a closed loop: connections are divided, and every count adds up to the store's", async () => {
    const { measured: results } = await measured("iovalkey", [
      "--generators",
      "1,2,4",
      "--concurrency",
      "9",
      "--warmup",
      "auto",
    ]);
    expect(results).toHaveLength(3);
    for (const {
      configuration,
      generators,
      resources,
      consumers,
      admissions,
      warmup,
      ...result
    } of results) {
      const count = configuration?.generators ?? 1;
      expect(generators.map(({ id }) => id)).toEqual(idsOf(count));
      const connections = generators.flatMap(({ workers }) => workers.map((worker) => worker.connections));
      expect(connections.reduce((total, each) => total + each, 0)).toBe(9);
      expect(Math.max(...connections) - Math.min(...connections)).toBeLessThanOrEqual(1);
      for (const id of idsOf(count)) expect(resources[id]?.cpu_us).toBeGreaterThan(0);
      // The first one alone reads the server, and the whole load is in its counters.
      expect(consumers.map(({ id }) => id)).toEqual(["server-1"]);
      if (admissions?.status !== "counted") throw new Error(admissions?.reason);
      expect([admissions.below, admissions.above]).toEqual([0, 0]);
      expect([admissions.points.least, admissions.points.most]).toEqual([
        admissions.points.counted,
        admissions.points.counted,
      ]);
      expect(warmup.steady).toBeDefined();
      expect(result.prediction?.limited_share).toBe(0.1);
      expect(result.samples[0]?.server_resident_bytes).toBeGreaterThan(0);
    }
  });

  test("of an open loop keep its schedule together, and have one timeline around a fault", async () => {
    const campaign = Campaign.run(newFolder(), "iovalkey", [
      ...["--generators", "2", "--workers", "2", "--rate", "400"],
      ...["--duration-mode", "custom:5", "--fault", "store-pause@1s+0.5s"],
    ]);
    const { stderr } = await campaign.ended;
    const [result] = campaign.measured;
    if (!result?.timeline) throw new Error(`no result with a timeline: ${stderr}`);
    expectScheduleReconciled(result);
    expect(result.generators.map(({ schedule }) => schedule?.offered)).toEqual([1000, 1000]);
    const { allowed, limited, p99_us } = result.timeline;
    const answered = allowed.map((count, slice) => count + (limited[slice] ?? 0));
    expect(answered.reduce((total, count) => total + count, 0)).toBe(result.requests.total);
    // What was due when the pause began waited for its end.
    expect(Math.max(...p99_us.map((us) => us ?? 0))).toBeGreaterThan(400_000);
    expect(result.fault_figures).toBeDefined();
  });

  test("at the limiter layer are clients of their own", async () => {
    const { measured: results } = await measured("ioredis@valkey", [
      "--layer",
      "limiter",
      "--generators",
      "2",
    ]);
    const [result] = results;
    expect(result?.consumers.map(({ id }) => id)).toEqual(idsOf(2));
    expect(result?.calls_per_request).toBe(1);
    const requests = result?.consumers.map(
      ({ at_window_open, at_end }) => at_end.requests - at_window_open.requests,
    );
    expect(Math.min(...(requests ?? []))).toBeGreaterThan(0);
  });

  test("fewer connections than generators are bad usage, and nothing is started", async () => {
    const campaign = Campaign.run(newFolder(), "iovalkey", ["--generators", "4", "--concurrency", "3"]);
    const { code, stderr } = await campaign.ended;
    expect(code).toBe(EXIT.usage);
    expect(stderr).toContain("--generators 4 is more than --concurrency 3");
  });
});

/** A limiter that answers after a fixed time. */
const SLOW_MS = 100;
const SLOW = `
const consumes = { calls: 0, allowed: 0, limited: 0, failed: 0 };
const option = "fixed-time";
export default {
  limiters: [
    {
      id: option,
      create: async () => ({
        version: "1.0.0",
        consumes,
        async consume(asked) {
          consumes.calls++;
          await new Promise((resolve) => setTimeout(resolve, ${SLOW_MS}));
          consumes.allowed += [asked].flat().length;
          return { outcome: "allowed" };
        },
      }),
    },
  ],
  options: [
    {
      id: option,
      summary: "answers after ${SLOW_MS} ms",
      apply: ({ flexible, sameScript, ...client }) => ({ ...client, limiter: option }),
    },
  ],
};
`;

test("percentiles of a known latency are the same however many generators measure it", async () => {
  const plugin = join(newFolder(), "fixed-time.js");
  writeFileSync(plugin, SLOW);
  const campaign = Campaign.run(newFolder(), "ioredis@valkey+fixed-time", [
    ...["--plugin", plugin, "--generators", "1,2,4", "--concurrency", "40", "--traffic", "allowed"],
  ]);
  await campaign.ended;
  const results = campaign.measured;
  expect(results).toHaveLength(3);
  for (const result of results) {
    expectConsistent(result);
    expect(result.latency?.p50).toBeGreaterThan(0.95 * SLOW_MS);
    expect(result.latency?.p50).toBeLessThan(1.2 * SLOW_MS);
    expect(result.latency?.min).toBeGreaterThan(0.95 * SLOW_MS);
  }
});
