import { describe, expect, test } from "vitest";
import { type Plan, unitsOf } from "../../../../src/contract/plan.js";
import { fillersOf, GroupTargets } from "../../../../src/orchestrator/plan/group-fillers.js";
import { isControl } from "../../../../src/orchestrator/plan/rankings.js";
import { CLUSTERS } from "../../../../src/orchestrator/plan/turn-groups.js";
import { isCluster } from "../../../../src/targets/topologies.js";
import { planFor } from "../../../helpers/request.js";

const planOf = (clients: string, ...flags: string[]) =>
  planFor("--clients", clients, "--concurrency", "50", "--order", "turns", "--runs", "7", ...flags);

/** The sizes of the groups of each configuration, by hash. */
function sizesByHash(plan: Plan): Map<string, Set<number>> {
  const targets = new GroupTargets(plan);
  const sizes = new Map<string, Set<number>>();
  for (const unit of unitsOf(plan, plan.runs)) {
    const size = targets.withRuns(unit).length;
    for (const { configuration_hash: hash } of unit)
      sizes.set(hash, new Set([...(sizes.get(hash) ?? []), size]));
  }
  return sizes;
}

/** Five others beside the reference and its copy, which are groups of five and of four. */
const UNEQUAL = [
  "ioredis@valkey",
  "iovalkey",
  "valkey-glide",
  "node-redis@valkey",
  "iovalkey+autopipelining",
  "ioredis@valkey+autopipelining",
].join(",");

describe("fillers of groups by turns", () => {
  test.each([
    ["a ranking in groups of five and four", UNEQUAL],
    ["with a route without a limiter", `${UNEQUAL},none`],
    ["with two controls", "ioredis@valkey,iovalkey,valkey-glide,node-redis@valkey,none,memory"],
    [
      "of rankings on several stores",
      "ioredis@valkey,iovalkey,ioredis@redis,node-redis@redis,none",
    ],
    [
      "of clusters beside others",
      "ioredis@valkey:cluster,iovalkey:cluster,valkey-glide:cluster,node-redis@valkey:cluster,ioredis@valkey,iovalkey",
    ],
  ])("%s: all groups of a configuration have one size", (_, clients) => {
    for (const sizes of sizesByHash(planOf(clients)).values()) expect(sizes.size).toBe(1);
  });

  test("a short group is filled by its own members, drawn anew each round", () => {
    const { fillers = [], runs, configurations } = planOf(UNEQUAL);
    expect(fillers).toHaveLength(7);
    for (const { round, group, configuration_hash: hash } of fillers)
      expect(
        runs.some(
          (run) => run.round === round && run.group === group && run.configuration_hash === hash,
        ),
      ).toBe(true);
    expect(new Set(fillers.map((filler) => filler.configuration_hash)).size).toBeGreaterThan(1);
    const controls = configurations.filter(isControl).map(({ hash }) => hash);
    expect(fillers.filter((filler) => controls.includes(filler.configuration_hash))).toEqual([]);
  });

  test("groups of equal size need none", () => {
    expect(planOf("ioredis@valkey,iovalkey,valkey-glide").fillers).toBeUndefined();
  });

  test("a small machine gets no more clusters by fillers than a group may have", () => {
    const { configurations } = planOf(
      "ioredis@valkey:cluster,iovalkey:cluster,valkey-glide:cluster,ioredis@valkey,iovalkey",
    );
    const clusters = configurations.filter(({ configuration: { target } }) =>
      isCluster(target.topology),
    );
    const others = configurations.filter((planned) => !clusters.includes(planned));
    const [first] = clusters;
    if (!first) throw new Error("the plan has no cluster");
    const groups = [
      { round: 1, group: 1, members: clusters.slice(0, CLUSTERS) },
      { round: 1, group: 2, members: [first, ...others] },
    ];
    const filled = fillersOf(groups, 1, 2);
    const hashes = others.map(({ hash }) => hash);
    expect(filled).toHaveLength(others.length + 1 - CLUSTERS);
    for (const { configuration_hash: hash } of filled) expect(hashes).toContain(hash);
  });

  test("members that an adaptive campaign needs no more keep the size of their group", () => {
    const plan = planOf("ioredis@valkey,iovalkey,valkey-glide");
    const [unit] = unitsOf(plan, plan.runs);
    const targets = new GroupTargets(plan);
    const needed = unit?.filter(({ beside }) => beside) ?? [];
    expect(targets.withRuns(needed).toSorted()).toEqual(
      unit?.map((run) => run.configuration_hash).toSorted(),
    );
    expect(targets.fillersBeside(unit ?? [])).toEqual([]);
  });
});
