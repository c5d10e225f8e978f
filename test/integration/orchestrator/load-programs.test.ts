import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PrintedResult } from "../../../src/contract/result.js";
import { Campaign } from "../../helpers/campaign.js";
import { decidingProgram } from "../../helpers/deciding-server.js";
import { envoyProgram } from "../../helpers/envoy.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { needs } from "../../helpers/needs.js";

const newFolder = temporaryFolders();

const FLAGS = [
  "--layer",
  "limiter",
  "--concurrency",
  "10",
  "--duration-mode",
  "custom:1",
  "--warmup",
  "0.2",
];

/** A campaign that ended well and left nothing. */
async function measured(clients: string, flags: readonly string[]): Promise<Campaign> {
  const campaign = Campaign.run(newFolder(), clients, [...FLAGS, ...flags]);
  await campaign.ends();
  return campaign;
}

const printedOf = (campaign: Campaign): PrintedResult[] =>
  [...campaign.results.values()].flatMap((result) => (result.status === "printed" ? [result] : []));

/**
 * The service or store counted the program's calls, and at most those that were under way besides.
 */
function expectCounted({ calls, operations, verdict, configuration }: PrintedResult): void {
  const more = (calls?.after ?? 0) - (calls?.before ?? 0) - operations.total;
  expect(more, configuration?.target.label).toBeGreaterThanOrEqual(0);
  expect(more, configuration?.target.label).toBeLessThanOrEqual(operations.more_at_most ?? 0);
  expect(verdict.reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
}

test(
  "load programs on ThrottleCrab make the client's calls, each of which it counts, and are controls of the report",
  needs(["throttlecrab", "wrk", "redis-benchmark"]),
  async () => {
    const clients = "throttlecrab-http,throttlecrab-http+wrk,ioredis@throttlecrab+redis-benchmark";
    const program = ["--program", `throttlecrab=${decidingProgram("throttlecrab")}`];
    const campaign = await measured(clients, [...program, "--traffic", "random"]);
    const printed = printedOf(campaign);
    expect(printed.map(({ program: { id } }) => id).sort()).toEqual(["redis-benchmark", "wrk"]);
    for (const result of printed) {
      expectCounted(result);
      expect(result.program.version).toMatch(/^\d+\.\d+/);
      expect(result.store_cpu_us_per_operation).toBeGreaterThan(0);
      expect(result.latency.min).toBeLessThanOrEqual(result.latency.p50);
      expect(result.latency.p99).toBeLessThanOrEqual(result.latency.max);
    }
    const report = join(campaign.folder, "report");
    expect(readFileSync(join(report, "load-programs.csv"), "utf8").trim().split("\n")).toHaveLength(
      3,
    );
    // Never ranked: the only row is the client.
    expect(readFileSync(join(report, "summary.csv"), "utf8").trim().split("\n")).toHaveLength(2);
  },
);

test(
  "load programs on Envoy's service meet the traffic's share of denials, and are measured with the service's CPU",
  needs(["envoy-ratelimit", "redis", "wrk"]),
  async () => {
    const program = ["--program", `envoy-ratelimit=${envoyProgram()}`];
    const campaign = await measured("envoy-http@redis+wrk", [...program, "--traffic", "realistic"]);
    const [result] = printedOf(campaign);
    if (!result) throw new Error("no result");
    expectCounted(result);
    const { at_start, at_end } = result.service ?? {};
    const limited = (at_end?.limited ?? 0) - (at_start?.limited ?? 0);
    expect(Math.abs(limited / result.operations.total - 0.1)).toBeLessThan(0.02);
    expect(result.resources["service-1"]?.cpu_us_per_request).toBeGreaterThan(0);
    expect(result.versions.limiter).toMatch(/^[0-9a-f.]{5,12}$/);
  },
);
