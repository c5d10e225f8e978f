import { describe, expect, test } from "vitest";
import { type Plan, roundOf, unitsOf } from "../../../../src/contract/plan.js";
import {
  isControl,
  type Planned,
  plannedRankings,
} from "../../../../src/orchestrator/plan/rankings.js";
import { groupsOf } from "../../../../src/orchestrator/plan/turn-groups.js";
import { isCopy } from "../../../../src/targets/options.js";
import { isCluster } from "../../../../src/targets/topologies.js";
import { shuffler } from "../../../../src/traffic/shuffle.js";
import { planFor } from "../../../helpers/request.js";

const planOf = (clients: string, ...flags: string[]) =>
  planFor("--clients", clients, "--concurrency", "50", "--order", "turns", "--runs", "7", ...flags);

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

  test.each([
    [
      "one ranking, more targets than a group",
      "ioredis@valkey,iovalkey,valkey-glide,node-redis@valkey,none",
    ],
    ["with two controls", "ioredis@valkey,iovalkey,valkey-glide,node-redis@valkey,none,memory"],
    ["two rankings", "ioredis@valkey,iovalkey,valkey-glide,ioredis@redis,node-redis@redis,none"],
    ["stores", "ioredis@valkey,ioredis@redis"],
    ["controls alone", "none,memory"],
    ["clusters", "ioredis@valkey:cluster,iovalkey:cluster,valkey-glide:cluster,none"],
  ])("of %s both sides of every comparison share a group in every round", (_, clients) => {
    const plan = planOf(clients, "--duration-mode", "custom:5");
    const rankings = plannedRankings(plan);
    const controls = plan.configurations.filter(isControl);
    const [largest] = rankings.toSorted((a, b) => b.members.length - a.members.length);
    const partner = largest?.reference;
    for (let seed = 1; seed <= 50; seed++) {
      const groups = groupsOf(rankings, shuffler(seed), 2);
      const share = (one: Planned, other: Planned) =>
        groups.some((group) => group.includes(one) && group.includes(other));
      for (const group of groups) {
        expect(group.length).toBeLessThanOrEqual(5);
        expect(new Set(group).size).toBe(group.length);
        const clusters = group.filter(({ configuration }) =>
          isCluster(configuration.target.topology),
        );
        expect(clusters.length).toBeLessThanOrEqual(3);
      }
      for (const control of controls) {
        // The same in every round.
        if (partner) expect(share(partner, control)).toBe(true);
      }
      for (const { members, reference } of rankings) {
        for (const member of members) {
          if (reference) expect(share(member, reference)).toBe(true);
          const copy = members.find(({ configuration }) => isCopy(configuration.target));
          const ownGroups = groups.filter((group) => group.includes(member));
          // A reference may stand beside controls once more.
          const isBesideControls = (group: readonly Planned[]) =>
            member === partner && group.every((each) => each === partner || isControl(each));
          if (copy)
            for (const group of ownGroups)
              if (!isBesideControls(group)) expect(group).toContain(copy);
        }
        // What is no reference, copy or control has one run a round.
        const others = members.filter(
          (each) => each !== reference && !isCopy(each.configuration.target) && !isControl(each),
        );
        for (const each of others)
          expect(groups.filter((group) => group.includes(each))).toHaveLength(1);
      }
    }
  });

  test.each([
    ["ranked together", ["--compare-frameworks"]],
    ["each for itself", []],
  ])(
    "of frameworks %s each row has its framework's control beside it, and each control the usual one",
    (_, flags) => {
      const rounds = groupsIn(
        planOf("ioredis@valkey,iovalkey,none", "--framework", "fastify,express,nest", ...flags),
      );
      const share = (groups: readonly string[][], ...labels: string[]) =>
        groups.some((group) => labels.every((label) => group.includes(label)));
      for (const groups of rounds)
        for (const framework of ["express", "nest"]) {
          expect(share(groups, "none", `none+${framework}`)).toBe(true);
          for (const client of ["ioredis@valkey", "iovalkey"])
            expect(share(groups, `${client}+${framework}`, `none+${framework}`)).toBe(true);
        }
      expect(rounds.flat().every((group) => group.length <= 5)).toBe(true);
    },
  );

  test("who shares a group is drawn anew each round, and the same for the same seed", () => {
    const clients =
      "ioredis@valkey,iovalkey,valkey-glide,node-redis@valkey,iovalkey+autopipelining,none";
    const rounds = groupsIn(planOf(clients));
    const mates = rounds.map((groups) =>
      sorted(groups.find((group) => group.includes("valkey-glide")) ?? []).join(),
    );
    expect(new Set(mates).size).toBeGreaterThan(1);
    expect(groupsIn(planOf(clients))).toEqual(rounds);
  });

  test.each([
    ["ioredis@redis", "ioredis"],
    ["ioredis@valkey+same-script", "ioredis@valkey+same-script"],
  ])("%s stands beside the same client where both rankings fit", (asked, partner) => {
    const others = "iovalkey,node-redis@redis+tuned,ioredis@valkey+tuned,iovalkey+tuned";
    const plan = planOf(`ioredis@valkey,${asked},${others}`, "--no-copy");
    for (const groups of groupsIn(plan))
      expect(groups.find((group) => group.includes("ioredis@valkey"))).toContain(partner);
  });

  test("a group has one load", () => {
    const plan = planOf("ioredis@valkey,iovalkey,none", "--workload", "light,heavy");
    const workloads = new Map(
      plan.configurations.map(({ hash, configuration }) => [hash, configuration.workload.id]),
    );
    for (const unit of unitsOf(plan, plan.runs))
      expect(new Set(unit.map((run) => workloads.get(run.configuration_hash))).size).toBe(1);
  });

  test.each([
    ["iovalkey,ioredis@valkey", "--rate", "1000"],
    ["iovalkey,ioredis@valkey", "--generators", "2"],
    ["iovalkey,ioredis@valkey", "--duration-mode", "requests:1000"],
    ["iovalkey,ioredis@valkey", "--points", "100"],
    ["iovalkey,ioredis@valkey", "--diagnose"],
  ])("%s %s %s is interleaved, and the plan says why", (clients, ...flags) => {
    const { order, notes } = planOf(clients, ...flags);
    expect(order).toBe("interleaved");
    expect(notes.filter((note) => note.startsWith("not by turns"))).toHaveLength(1);
  });

  test("a store that already runs serves the targets of a group by turns", () => {
    const flags = ["--store-url", "redis://127.0.0.1:6379"];
    const { order, notes } = planOf("ioredis@redis,node-redis@redis", ...flags);
    expect(order).toBe("turns");
    expect(notes.filter((note) => note.startsWith("not by turns"))).toEqual([]);
  });

  test("at the limiter layer targets go by turns, and the plan says how well pairs agree there", () => {
    const { order, notes } = planOf("iovalkey,ioredis@valkey", "--layer", "limiter");
    expect(order).toBe("turns");
    expect(notes.filter((note) => note.startsWith("limiter layer"))).toHaveLength(1);
  });

  test("one target alone has the load alone, which needs no note", () => {
    const { order, notes } = planOf("iovalkey", "--no-copy");
    expect(order).toBe("interleaved");
    expect(notes).toEqual([]);
  });
});
