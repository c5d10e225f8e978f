import { describe, expect, test } from "vitest";
import { type Plan, planSchema } from "../../../../src/contract/plan.js";
import { EXIT } from "../../../../src/kit/errors.js";
import { requestedVersions } from "../../../../src/orchestrator/host/versions.js";
import { makePlan, type PlanContext } from "../../../../src/orchestrator/plan/make-plan.js";
import { plannedRankings } from "../../../../src/orchestrator/plan/rankings.js";
import { expectFailure } from "../../../helpers/errors.js";
import { everything, labelsOf, planFor, requestOf } from "../../../helpers/request.js";

const labels = (plan: Plan) => [...new Set(labelsOf(plan))];

describe("web frameworks", () => {
  const flags = [
    "--clients",
    "none,ioredis@valkey",
    "--framework",
    "fastify,express",
    "--concurrency",
    "20",
  ];

  test("each target is measured with each, and the framework is installed first", () => {
    const plan = planFor(...flags);
    expect(labels(plan)).toEqual([
      "none",
      "none+express",
      "ioredis@valkey",
      "ioredis@valkey+express",
    ]);
    expect(plan.configurations.map(({ configuration }) => configuration.target.framework)).toEqual([
      undefined,
      "express",
      undefined,
      "express",
    ]);
    expect(requestedVersions(plan)).toEqual([{ name: "express", version: "5.3.0" }]);
  });

  test("they are ranked together only when asked", () => {
    const ranked = (plan: Plan) =>
      plannedRankings(plan)
        .filter(({ reference }) => reference)
        .map(({ members }) => members.map(({ configuration: { target } }) => target.label));
    expect(ranked(planFor(...flags, "--runs", "3"))).toEqual([]);
    expect(ranked(planFor(...flags, "--runs", "3", "--compare-frameworks"))).toEqual([
      ["ioredis@valkey", "ioredis@valkey+express"],
    ]);
  });

  test("where no server is, they are left out with the reason", () => {
    const plan = planFor(...flags, "--layer", "server,limiter");
    expect(plan.skips.map(({ asked }) => asked)).toEqual([
      "none+express",
      "ioredis@valkey+express",
    ]);
    expect(plan.skips[0]?.reason).toContain("--layer server");
  });

  test.each([
    ["memory+express-rate-limit", "express"],
    ["memory+nestjs-throttler", "nest"],
  ])("%s is measured in its own framework alone", async (target, own) => {
    const flags = ["--clients", target, "--points", "100"];
    await expectFailure(() => planFor(...flags), EXIT.usage, `--framework ${own}`);
    const plan = planFor(...flags, "--framework", "fastify,express,nest");
    expect(
      plan.configurations.map(({ configuration }) => configuration.target.framework),
    ).toContain(own);
    expect(labels(plan)).toHaveLength(1);
    expect(plan.skips).toHaveLength(2);
  });

  test("the memory of @nestjs/throttler takes no large quota", () =>
    expectFailure(
      () => planFor("--clients", "memory+nest+nestjs-throttler", "--points", "20001"),
      EXIT.usage,
      "--points",
    ));

  test("an unknown one is a usage error", async () => {
    await expectFailure(() => planFor("--framework", "expres"), EXIT.usage, "express");
  });
});

describe("layers and servers", () => {
  const planned = (...flags: string[]) => planFor("--concurrency", "8", "--runs", "1", ...flags);
  const entries = (plan: Plan) =>
    plan.configurations.map(({ configuration: { layer, servers, workload } }) => [
      layer,
      servers,
      workload.id,
    ]);

  test("every combination is planned; the limiter layer, without servers and workloads, once", () => {
    const plan = planned("--layer", "server,limiter", "--servers", "1,2", "--workload", "both");
    expect(entries(plan)).toEqual([
      ["server", 1, "light"],
      ["server", 1, "heavy"],
      ["server", 2, "light"],
      ["server", 2, "heavy"],
      ["limiter", 0, "none"],
    ]);
    expect(planSchema.parse(plan)).toEqual(plan);
    expect(plan.runs.map(({ file }) => file).sort()).toEqual([
      "iovalkey_heavy_8c_120s_2servers_run1.json",
      "iovalkey_heavy_8c_120s_run1.json",
      "iovalkey_light_8c_120s_2servers_run1.json",
      "iovalkey_light_8c_120s_run1.json",
      "iovalkey_limiter_8c_120s_run1.json",
    ]);
    expect(new Set(plan.configurations.map(({ hash }) => hash)).size).toBe(5);
  });

  test("generators are a part of a configuration, at every layer of ours; one is never named", () => {
    const plan = planned("--layer", "server,limiter", "--generators", "1,4");
    expect(
      plan.configurations.map(({ configuration: { layer, generators } }) => [layer, generators]),
    ).toEqual([
      ["server", undefined],
      ["server", 4],
      ["limiter", undefined],
      ["limiter", 4],
    ]);
    expect(plan.runs.map(({ file }) => file).sort()).toEqual([
      "iovalkey_light_8c_120s_4generators_run1.json",
      "iovalkey_light_8c_120s_run1.json",
      "iovalkey_limiter_8c_120s_4generators_run1.json",
      "iovalkey_limiter_8c_120s_run1.json",
    ]);
    const [alone] = planned().configurations;
    expect(plan.configurations.map(({ hash }) => hash)).toContain(alone?.hash);
  });

  test.each(["generators", "servers"])(
    "more %s than connections are bad usage that names both [R-servers-2] [R-generators-1]",
    async (roles) => {
      await expectFailure(
        () => planned(`--${roles}`, "2 9"),
        EXIT.usage,
        `--${roles} 9`,
        "--concurrency 8",
      );
    },
  );
});

describe("caps", () => {
  const caps = { store: { cpus: 2 }, server: { memory_bytes: 1024 ** 3 }, generator: {} };
  const planned = (flags: readonly string[], context: Partial<PlanContext>) =>
    makePlan(requestOf("--concurrency", "8", ...flags), {
      ...everything,
      ...context,
    }).configurations.map(({ hash, configuration }) => ({ hash, caps: configuration.caps }));

  test("are those that the runtime applies, of the kinds that are started, and part of the hash", () => {
    const [applied] = planned([], { caps });
    expect(applied?.caps).toEqual(caps);
    const [none] = planned([], {});
    expect(none?.caps).toEqual({});
    const [less] = planned([], { caps: { ...caps, store: { cpus: 1 } } });
    expect(new Set([applied, none, less].map((each) => each?.hash)).size).toBe(3);
  });

  test.each<[string, string[], string[]]>([
    ["a target without a store", ["--clients", "none"], ["server", "generator"]],
    ["the limiter layer", ["--layer", "limiter"], ["store", "generator"]],
  ])("of %s", (_what, flags, kinds) => {
    const [configuration] = planned(flags, { caps });
    expect(Object.keys(configuration?.caps ?? {}).sort()).toEqual([...kinds].sort());
  });

  test("are not those of an external store, which is not started", () => {
    const nodes = [{ host: "store.example", port: 6379 }];
    const external = { store: "valkey", version: "8.1.1", topology: "standalone", nodes };
    expect(planned([], { caps, external })[0]?.caps).not.toHaveProperty("store");
  });
});
