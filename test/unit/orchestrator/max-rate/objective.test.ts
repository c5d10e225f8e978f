import { expect, test } from "vitest";
import type { MeasuredResult } from "../../../../src/contract/result.js";
import { judgeTrial } from "../../../../src/orchestrator/max-rate/objective.js";
import { parseThresholds } from "../../../../src/orchestrator/request/thresholds.js";
import { validEvidence } from "../../../helpers/evidence.js";

const missReason = (...trial: Parameters<typeof judgeTrial>): string => judgeTrial(...trial).reason;

const objectives = parseThresholds("--slo", "errors<1%");

/** A run of an open loop that sent so many of a thousand requests. */
function run(sent: number, more: Partial<MeasuredResult> = {}): MeasuredResult {
  const schedule = { offered: 1_000, sent } as NonNullable<MeasuredResult["schedule"]>;
  const verdict = { status: "valid" as const, reasons: [], not_applicable: [] };
  return { ...validEvidence(), verdict, schedule, ...more };
}

test("a rate is kept when its schedule was sent and every objective is met", () => {
  expect(missReason(run(1_000), objectives)).toBe("");
  expect(missReason(run(995), objectives)).toBe("");
});

test("a rate is not kept when a hundredth of it was not sent, whatever the figures", () => {
  expect(missReason(run(985), objectives)).toBe("985 of 1000 requests were sent");
  expect(missReason({ ...run(0), schedule: undefined } as never, objectives)).toContain("0 of 0");
});

test("an objective that is missed is named with its figure; one without a figure is missed", () => {
  const counts = { ...validEvidence().counts, sent: 100, failed_answers: 3 };
  expect(missReason(run(1_000, { counts }), objectives)).toBe("errors<1%: 0.03");
  const cpu = parseThresholds("--slo", "cpu<50us");
  expect(missReason(run(1_000, { resources: {} }), cpu)).toBe("cpu<50us: no figure");
  const [server] = Object.values(validEvidence().resources).filter(({ kind }) => kind === "server");
  if (!server) throw new Error("the evidence has no server");
  const resources = {
    "server-1": { ...server, cpu_us_per_request: 30 },
    "server-2": { ...server, cpu_us_per_request: 31 },
  };
  expect(missReason(run(1_000, { resources }), cpu)).toBe("cpu<50us: 61");
  // At the limiter layer the load generator is the client.
  const request = { ...validEvidence().request, layer: "limiter" as const };
  const client = { "generator-1": { ...server, kind: "generator" as const, cpu_us_per_request: 70 } };
  expect(missReason(run(1_000, { resources: client, request }), cpu)).toBe("cpu<50us: 70");
  expect(missReason(run(985, { request }), objectives)).toBe("985 of 1000 decisions were sent");
});

test("a percentile that failures could move does not meet an objective, whatever its bounds", () => {
  const p99 = parseThresholds("--slo", "p99<10ms");
  const { latency } = validEvidence();
  if (!latency) throw new Error("latency");
  const unknown = (low: number, high: number | null) =>
    run(1_000, { latency: { ...latency, p99: null, bounds: { p99: { low, high } } } });
  expect(missReason(unknown(30.123, null), p99)).toBe("p99<10ms: > 30.12");
  expect(missReason(unknown(8, 9), p99)).toBe("p99<10ms: > 8");
});

test.each(["overloaded", "failed"] as const)("a run that the target spoiled keeps no rate: %s", (outcome) => {
  expect(missReason(run(1_000, { outcome, outcome_text: "why" }), [])).toBe(`${outcome}: why`);
  expect(missReason(run(1_000, { outcome: "served" }), [])).toBe("");
});

test("a run whose measurement is broken says nothing, unless objectives replace the rule that it broke", () => {
  const broken = (rule: string) =>
    run(1_000, {
      verdict: {
        status: "invalid",
        reasons: [{ rule, severity: "invalid", text: "why" }],
        not_applicable: [],
      },
    });
  expect(judgeTrial(broken("M8"), objectives)).toEqual({ status: "void", reason: "M8 why" });
  expect(judgeTrial(broken("M5"), objectives)).toEqual({ status: "kept", reason: "" });
  expect(judgeTrial(run(985), objectives).status).toBe("missed");
});
