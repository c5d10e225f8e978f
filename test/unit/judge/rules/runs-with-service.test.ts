import { describe, expect, test } from "vitest";
import { limitOf } from "../../../../src/judge/limit.js";
import { judgeRun } from "../../../../src/judge/rules.js";
import {
  CONSUMES,
  configuration,
  limiterLayerEvidence,
  role,
  serverOf,
  storeOf,
  type ValidRun,
  validEvidence,
} from "../../../helpers/evidence.js";

/** What a service counted before and of the consumes of the valid evidence. */
const COUNTED = { decisions: 20 + CONSUMES, allowed: 10 + CONSUMES - 1_201, limited: 10 + 1_201 };

type Service = NonNullable<ValidRun["service"]>;
type Run = Omit<ValidRun, "service"> & { service: Service };

const target = {
  ...configuration.target,
  text: "envoy-grpc@valkey:standalone",
  label: "envoy-grpc@valkey",
  client: "envoy-grpc",
  limiter: "envoy-ratelimit",
  decided_by: "service" as const,
  service: "envoy-ratelimit",
};

/** A run with a service to which no rule objects. */
function validRun(): Run {
  const plain = validEvidence();
  const server = serverOf(plain);
  server.target = target.text;
  delete server.limiter_script;
  server.client_settings = { protocol: "gRPC" };
  Object.assign(storeOf(plain).at_end, { decisions: CONSUMES, script_calls: {} });
  return {
    ...plain,
    configuration: { ...configuration, target },
    resources: { ...plain.resources, "service-1": role("service", 50) },
    service: {
      id: "envoy-ratelimit",
      role: "service-1",
      at_start: { run_id: "1", decisions: 20, allowed: 10, limited: 10 },
      at_end: { run_id: "1", ...COUNTED },
      settings: {},
    },
  };
}

const findings = (run: Run) =>
  judgeRun(run).reasons.map(({ rule, severity, text }) => `${rule} ${severity}: ${text}`);

describe("the rules of a run with a service", () => {
  test("object to nothing that is in order", () => {
    expect(judgeRun(validRun())).toMatchObject({ status: "valid", reasons: [] });
  });

  test.each<[string, (run: Run) => void, string]>([
    ["a decision that it did not count", ({ service }) => service.at_end.decisions--, "M8 invalid"],
    ["one that nobody got", ({ service }) => service.at_end.decisions++, "M8 invalid"],
    [
      "denials that were got as admissions",
      ({ service: { at_end } }) =>
        Object.assign(at_end, {
          allowed: (at_end.allowed ?? 0) - 1,
          limited: (at_end.limited ?? 0) + 1,
        }),
      "M8 invalid",
    ],
    [
      "too few decisions in the store",
      (run) => (storeOf(run).at_end.decisions = CONSUMES - 1),
      "M8 invalid",
    ],
    ["another process at the end", ({ service }) => (service.at_end.run_id = "2"), "M14 invalid"],
    ["no CPU counters", (run) => delete run.resources["service-1"], "M15 suspect"],
  ])("object to %s", (_name, spoil, expected) => {
    const run = validRun();
    spoil(run);
    const objections = findings(run);
    expect(objections).toHaveLength(1);
    expect(objections[0]).toContain(expected);
  });

  test("count the descriptors of a call, and its failures as unknown", () => {
    const run = validRun();
    const { consumes } = serverOf(run).at_end;
    if (!consumes) throw new Error("counts");
    // Half as many calls, each of two descriptors; one of them failed.
    Object.assign(consumes, { calls: CONSUMES / 2, allowed: consumes.allowed - 2, failed: 2 });
    expect(findings(run).filter((text) => text.startsWith("M8"))).toEqual([]);
    run.service.at_end.decisions -= 3;
    expect(findings(run).filter((text) => text.startsWith("M8"))).toHaveLength(1);
  });

  test("know that it counts the points of a request", () => {
    const run = validRun();
    run.configuration = { ...configuration, target, limits: { ...configuration.limits, cost: 5 } };
    run.service.at_end.decisions = 20 + 5 * CONSUMES;
    expect(findings(run)).toEqual([]);
  });

  test("do not compare with the store where some decisions do not reach it", () => {
    const run = validRun();
    run.configuration = { ...configuration, target: { ...target, decides_locally: true } };
    storeOf(run).at_end.decisions = 5;
    expect(findings(run)).toEqual([]);
    expect(judgeRun(run).not_applicable).toContainEqual(expect.objectContaining({ rule: "M8" }));
  });
});

describe("what limited a run with a service", () => {
  const busy = (loop: number, run: Run = validRun()): Run => {
    const { at_window_open, at_end } = serverOf(run);
    at_end.event_loop_active_ms = at_window_open.event_loop_active_ms + loop * 1000 * run.duration;
    return run;
  };

  test("is the service, measured at its cap or the CPUs of the machine", () => {
    const run = busy(0.5);
    run.resources["service-1"] = role("service", 380);
    expect(limitOf(run)).toEqual({
      resource: "service CPU",
      text: expect.stringMatching(/service-1 .*95 %/),
    });
    run.resources["service-1"] = role("service", 195, { caps: { cpus: 2 } });
    expect(limitOf(run)).toEqual({
      resource: "service CPU",
      text: expect.stringMatching(/service-1 .*98 %/),
    });
  });

  test("is the client where the Node program is busy, at both layers; then nothing is claimed about the service", () => {
    expect(limitOf(busy(0.97)).resource).toBe("client");
    const run = {
      ...limiterLayerEvidence(),
      configuration: { ...configuration, layer: "limiter" as const, target },
    };
    for (const { workers } of run.generators)
      for (const worker of workers) worker.event_loop_utilisation = 0.96;
    expect(limitOf(run).resource).toBe("client");
  });
});
