import { describe, expect, test } from "vitest";
import { type Plan, roundOf, unitsOf } from "../../../../src/contract/plan.js";
import { groupsOf } from "../../../../src/orchestrator/plan/groups.js";
import { makePlan } from "../../../../src/orchestrator/plan/plan.js";
import { plannedRankings } from "../../../../src/orchestrator/plan/rankings.js";
import { shuffler } from "../../../../src/traffic/shuffle.js";
import { everything, requestOf } from "../../../helpers/request.js";

const planOf = (clients: string, ...flags: string[]) =>
  makePlan(
    requestOf("--clients", clients, "--concurrency", "50", "--order", "turns", "--runs", "7", ...flags),
    everything,
  );

/** The labels of each group of each round. */
function groupsIn(plan: Plan): string[][][] {
  const labels = new Map(
    plan.configurations.map(({ hash, configuration }) => [hash, configuration.target.label]),
  );
  const rounds: string[][][] = [];
  for (const unit of unitsOf(plan, plan.runs)) {
    const round = roundOf(unit[0]) - 1;
    const group = unit.map((run) => labels.get(run.configuration_hash) ?? "");
    rounds[round] = [...(rounds[round] ?? []), group];
  }
  return rounds;
}
const sorted = (labels: readonly string[]) => [...labels].sort();

describe("groups of a round by turns", () => {
  test("up to five targets of equal load are one group, with the reference's copy and the control", () => {
    const rounds = groupsIn(planOf("ioredis@valkey,iovalkey,valkey-glide,none"));
    expect(rounds).toHaveLength(7);
    for (const groups of rounds)
      expect(groups.map(sorted)).toEqual([
        ["ioredis@valkey", "ioredis@valkey+copy", "iovalkey", "none", "valkey-glide"],
      ]);
  });

  test("of more targets each group has the reference and its copy, and each other target one run a round", () => {
    const others = [
      "iovalkey",
      "valkey-glide",
      "node-redis@valkey",
      "iovalkey+autopipelining",
      "valkey-glide+copy",
    ];
    const plan = planOf(["ioredis@valkey", ...others.slice(0, 4), "none"].join());
    const mates = new Set<string>();
    for (const groups of groupsIn(plan)) {
      const compared = groups.filter((group) => group.includes("ioredis@valkey"));
      expect(compared.length).toBeGreaterThan(1);
      for (const group of compared) {
        expect(group.length).toBeLessThanOrEqual(5);
        expect(group.filter((label) => label.startsWith("ioredis@valkey"))).toHaveLength(2);
      }
      const rest = groups.flat().filter((label) => !label.startsWith("ioredis@valkey"));
      expect(sorted(rest)).toEqual(sorted([...others.slice(0, 4), "none"]));
      mates.add(sorted(groups.find((group) => group.includes("valkey-glide")) ?? []).join());
    }
    expect(mates.size).toBeGreaterThan(1);
  });

  test("other loads are other groups, and clusters share one by three on fewer than 8 CPUs", () => {
    const plan = planOf("ioredis@valkey,iovalkey", "--workload", "light,heavy");
    for (const groups of groupsIn(plan)) expect(groups).toHaveLength(2);
    const clusters = planOf("ioredis@valkey:cluster,iovalkey:cluster,valkey-glide:cluster");
    const sizes = (cpus: number) =>
      groupsOf(plannedRankings(clusters), shuffler(1), cpus).map(({ length }) => length);
    expect(sizes(2)).toEqual([3, 3]);
    expect(sizes(8)).toEqual([4]);
  });

  test.each([
    ["iovalkey,ioredis@valkey", "--rate", "1000"],
    ["iovalkey,ioredis@valkey", "--generators", "2"],
    ["iovalkey,ioredis@valkey", "--duration-mode", "requests:1000"],
    ["iovalkey,ioredis@valkey", "--layer", "limiter"],
    ["iovalkey,ioredis@valkey", "--points", "100"],
    ["iovalkey,ioredis@valkey", "--diagnose"],
  ])("%s %s %s is interleaved, and the plan says why", (clients, ...flags) => {
    const { order, notes } = planOf(clients, ...flags);
    expect(order).toBe("interleaved");
    expect(notes.filter((note) => note.startsWith("not by turns"))).toHaveLength(1);
  });

  test("one target alone has the load alone, which needs no note", () => {
    const { order, notes } = planOf("iovalkey", "--no-copy");
    expect(order).toBe("interleaved");
    expect(notes).toEqual([]);
  });
});
