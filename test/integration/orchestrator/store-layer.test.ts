import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { PrintedResult } from "../../../src/contract/result.js";
import { Campaign } from "../../helpers/campaign.js";
import { fakeredisProgram } from "../../helpers/fakeredis.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { needs } from "../../helpers/needs.js";

const newFolder = temporaryFolders();

function runStores(home: string, flags: readonly string[]): Campaign {
  const output = ["--output", join(home, "results root")];
  const short = [
    "--duration-mode",
    "custom:1",
    "--warmup",
    "0",
    "--cooldown",
    "0",
    "--runtime",
    "local",
  ];
  return Campaign.command(home, [
    "run",
    "--layer",
    "store",
    "--seed",
    "1",
    ...short,
    ...flags,
    ...output,
  ]);
}

const printedOf = (campaign: Campaign): PrintedResult[] =>
  [...campaign.results.values()].map((result) => {
    if (result.status !== "printed") throw new Error(`${result.status}, not printed`);
    return result;
  });

describe("the store layer on real stores", needs(["redis", "valkey", "redis-benchmark"]), () => {
  test("measures every operation on both stores, and counts its calls exactly", async () => {
    const flags = [
      "--stores",
      "valkey,redis",
      "--reference",
      "redis",
      "--payload-bytes",
      "100,200",
    ];
    const campaign = runStores(newFolder(), [...flags, "--concurrency", "10", "--runs", "1"]);
    expect([0, 5]).toContain((await campaign.ended).code);
    const results = printedOf(campaign);
    // set and get at two sizes, incr and script once: six works on two stores.
    expect(results).toHaveLength(12);
    for (const {
      calls,
      operations,
      memory,
      store_cpu_us_per_operation: cpu,
      latency,
      operation,
    } of results) {
      expect(calls && calls.after - calls.before).toBe(operations.total);
      expect(memory?.bytes_per_key).toBeGreaterThan(operation.payload_bytes ?? 30);
      expect(cpu).toBeGreaterThan(0);
      expect(latency.min).toBeLessThanOrEqual(latency.p50);
      expect(latency.p50).toBeLessThanOrEqual(latency.p95);
      expect(latency.p99).toBeLessThanOrEqual(latency.max);
    }
    const bytes = (payload: number) =>
      results.find(({ operation }) => operation.payload_bytes === payload)?.memory?.bytes_per_key ??
      0;
    expect(bytes(200) - bytes(100)).toBeGreaterThan(90);
    expect(campaign.report("store-operations.csv").trim().split("\n")).toHaveLength(13);
  });

  test("a store that dies in the middle fails only that run, and is named; an interruption leaves nothing behind", async () => {
    const flags = [
      "--stores",
      "redis",
      "--operations",
      "incr",
      "--concurrency",
      "5",
      "--runs",
      "2",
    ];
    const campaign = runStores(newFolder(), [...flags, "--duration-mode", "custom:30"]);
    await campaign.waitForLog("  measure");
    // An earlier store was asked what it lacks, and has ended.
    const store = (await campaign.runningProcesses()).find(({ role }) => role === "store-1");
    process.kill(store?.pid ?? 0, "SIGKILL");
    await campaign.waitForLog("  measure", 2);
    await campaign.interrupted();
    const died = { status: "failed", failure: { role: "store-1" } };
    expect([...campaign.results.values()]).toMatchObject([died, { status: "aborted" }]);
  });
});

test(
  "a server from a registry without EVAL is measured by its program alone and compared with the reference; the script is skipped",
  needs(["redis", "redis-benchmark", "fakeredis"]),
  async () => {
    const home = newFolder();
    const stores = ["--stores", "redis,third", "--reference", "redis"];
    const flags = [...stores, "--program", `third=${fakeredisProgram(home)}`];
    const work = ["--operations", "incr,script", "--concurrency", "5", "--runs", "1"];
    const campaign = runStores(home, [...flags, ...work]);
    expect([0, 5]).toContain((await campaign.ended).code);
    const third = printedOf(campaign).filter(
      ({ configuration }) => configuration?.target.store === "third",
    );
    expect(third.map(({ operation }) => operation.id)).toEqual(["incr"]);
    for (const { calls, operations, verdict } of third) {
      expect(calls).toBeUndefined();
      expect(operations.per_second).toBeGreaterThan(0);
      expect(verdict.not_applicable.map(({ rule }) => rule)).toContain("M1");
    }
  },
);

test.each([
  [["--stores", "redis,dragonfly"], "--program dragonfly=PATH"],
  [["--stores", "redis", "--reference", "valkey"], "--reference"],
])("%j ends with 2 and one line", async (flags, named) => {
  const { code, stderr } = await runStores(newFolder(), flags).ended;
  expect(stderr).toContain(named);
  expect(stderr.trim().split("\n")).toHaveLength(1);
  expect(code).toBe(2);
});

test(
  "a dry run starts nothing and lists the works",
  needs(["redis", "redis-benchmark"]),
  async () => {
    const flags = [
      "--stores",
      "redis",
      "--payload-bytes",
      "100,200",
      "--concurrency",
      "50 10",
      "--dry-run",
    ];
    const { code, stdout } = await runStores(newFolder(), flags).ended;
    expect(stdout).toContain("36 runs");
    expect(code).toBe(0);
  },
);
