import { describe, expect, test } from "vitest";
import type { ConsumerEvidence } from "../../../../src/contract/consumer-evidence.js";
import type { RoleResources } from "../../../../src/contract/role-resources.js";
import { judgeRun } from "../../../../src/judge/rules.js";
import { serverOf, type ValidRun, validEvidence } from "../../../helpers/evidence.js";

describe("several servers", () => {
  /** The valid run, whose consumes two servers shared. */
  function twoServers(): ValidRun {
    const run = validEvidence();
    const second = { ...structuredClone(serverOf(run)), id: "server-2" };
    run.resources["server-2"] = structuredClone(run.resources["server-1"] as RoleResources);
    for (const usage of [second.at_window_open, second.at_end]) {
      usage.requests = 0;
      usage.consumes = { calls: 0, allowed: 0, limited: 0, failed: 0 };
    }
    run.consumers.push(second);
    return run;
  }

  test("count together", () => {
    const run = twoServers();
    const [first, second] = run.consumers.map(({ at_end }) => at_end);
    if (!first?.consumes || !second?.consumes) throw new Error("two servers");
    first.requests -= 300;
    second.requests += 300;
    first.consumes.allowed -= 300;
    second.consumes.allowed += 300;
    expect(judgeRun(run)).toMatchObject({ status: "valid", not_applicable: [] });
    second.consumes.allowed--;
    expect(judgeRun(run).reasons).toMatchObject([
      { rule: "M8", text: /^server-1, server-2 decided/ },
    ]);
  });

  test.each<[string, string, (server: ConsumerEvidence) => void]>([
    ["M12", "server-2", (server) => (server.target = "ioredis@valkey:standalone")],
    ["M13", "server-2", (server) => (server.at_start.requests = 1)],
    ["M14", "server-2", (server) => (server.at_end.uptime_s = 0.5)],
  ])("%s names the one at fault", (rule, text, spoil) => {
    const run = twoServers();
    spoil(run.consumers[1] as ConsumerEvidence);
    expect(judgeRun(run).reasons).toMatchObject([{ rule, text: expect.stringContaining(text) }]);
  });
});
