import { describe, expect, test } from "vitest";
import { plannedFrom } from "../../../../src/contract/plan.js";
import { type MeasuredResult, resultSchema } from "../../../../src/contract/result.js";
import { judgeRun } from "../../../../src/judge/rules.js";
import {
  failureDocument,
  measuredDocument,
} from "../../../../src/orchestrator/run/result-documents.js";
import { configuration, validEvidence } from "../../../helpers/evidence.js";
import { FakeRuntime } from "../../../helpers/fake-runtime.js";

const identity = {
  campaign: "20260101_000000",
  planned: plannedFrom(configuration),
  run: 2,
  runtime: new FakeRuntime(),
  caps: {},
};

/** What the generator alone knows: nothing of campaign, configuration and store. */
function generatorsOwn(): MeasuredResult {
  const {
    campaign: _c,
    configuration: _f,
    configuration_hash: _h,
    runtime: _r,
    store: _s,
    ...own
  } = validEvidence();
  return { ...own, run: 1, verdict: judgeRun(own) };
}

const { store } = validEvidence();
const seen = {
  kind: "server" as const,
  source: "pidusage",
  cpu_us: 999,
  cpu_percent: 9,
  resident_bytes_mean: 10,
  resident_bytes_max: 11,
  samples: [{ t_s: 1, cpu_percent: 9, resident_bytes: 10 }],
};

describe("the document of a measured run", () => {
  test("identifies the run and passes the schema", () => {
    const record = measuredDocument(identity, {
      result: generatorsOwn(),
      store,
      resources: {},
      notes: [],
    });
    expect(record).toMatchObject({
      campaign: "20260101_000000",
      run: 2,
      configuration,
      configuration_hash: identity.planned.hash,
      load_text: "10 connections",
      runtime: { id: "fake", embedded_store: false, caps_applied: false },
      versions: { store: "9.1.2" },
    });
    expect(resultSchema.parse(JSON.parse(JSON.stringify(record)))).toEqual(record);
  });

  test("is judged again with the store's evidence: a fault that only the store shows makes it invalid", () => {
    const spoilt = structuredClone(store);
    for (const node of spoilt.nodes) node.at_end.decisions = 1;
    const result = generatorsOwn();
    expect(result.verdict.status).toBe("valid");
    const record = measuredDocument(identity, { result, store: spoilt, resources: {}, notes: [] });
    expect(record.verdict.status).toBe("invalid");
    expect(record.verdict.reasons.map(({ rule }) => rule)).toEqual(["M8"]);
  });

  test("has the outcome by all evidence, not the one that the generator knew", () => {
    const failing = generatorsOwn();
    Object.assign(failing, { outcome: "failed", outcome_text: "old" });
    const served = measuredDocument(identity, { result: failing, store, resources: {}, notes: [] });
    expect(served.outcome).toBe("served");
    expect(served).not.toHaveProperty("outcome_text");
    const spoilt = structuredClone(store);
    for (const node of spoilt.nodes) node.at_end.decisions = 1;
    const broken = measuredDocument(identity, {
      result: failing,
      store: spoilt,
      resources: {},
      notes: [],
    });
    expect(broken).not.toHaveProperty("outcome");
    expect(broken).not.toHaveProperty("outcome_text");
  });

  test.each([
    [4, 50, 0],
    [10, 50, 1],
    [30, undefined, 1],
  ])(
    "by turns a store whose CPU time was idle use by %d %% costs %s µs a request, with %d notes",
    (percent, known, count) => {
      const role = { ...seen, kind: "store" as const, cpu_us_per_request: 25 };
      const node = { ...role, cpu_us: 1000 * (100 - percent), idle_us: 1000 * percent };
      const resources = { "store-1": node, "store-2": node };
      const result = { ...generatorsOwn(), resources: {} };
      const record = measuredDocument(identity, { result, store, resources, notes: [] });
      const costs = Object.values(record.resources).flatMap(({ kind, cpu_us_per_request: cost }) =>
        kind === "store" ? [cost] : [],
      );
      expect(costs).toEqual(Array(2).fill(known && known / 2));
      expect(record.notes.length - generatorsOwn().notes.length).toBe(count);
    },
  );

  test("keeps the exact counters that a role reported, and adds what the runtime measured", () => {
    const own = {
      kind: "server" as const,
      source: "process.cpuUsage",
      cpu_us: 1000,
      cpu_percent: 10,
      samples: [],
    };
    const result = { ...generatorsOwn(), resources: { "server-1": own } };
    const resources = { "server-1": seen, "store-1": { ...seen, kind: "store" as const } };
    const record = measuredDocument(identity, {
      result,
      store,
      resources,
      notes: ["a reading failed"],
    });
    expect(record.resources).toEqual({
      "server-1": { ...seen, ...own, samples: seen.samples },
      "store-1": resources["store-1"],
    });
    expect(record.notes).toEqual(["a reading failed"]);
    // By turns less what it used while others had the load; 20 of 1000 µs are no more than a note
    // needs.
    const byTurns = { "server-1": { ...seen, idle_us: 20 } };
    const { resources: found } = measuredDocument(identity, {
      result,
      store,
      resources: byTurns,
      notes: [],
    });
    expect(found["server-1"]).toMatchObject({ cpu_us: 980, idle_us: 20, samples: seen.samples });
  });
});

describe("the document of a run without figures", () => {
  const failure = { role: "server-1", text: "ended during the run with SIGKILL" };
  test.each(["failed", "aborted"] as const)(
    "is %s, never zeros, and names role and reason [R-generator-dies-2]",
    (status) => {
      const record = failureDocument(identity, status, new Date("2026-01-01T00:00:00Z"), failure);
      expect(resultSchema.parse(JSON.parse(JSON.stringify(record)))).toEqual(record);
      expect(record).toMatchObject({
        status,
        failure,
        run: 2,
        started_at: "2026-01-01T00:00:00.000Z",
      });
      expect(record).not.toHaveProperty("requests");
      expect(record.verdict.status).toBe("invalid");
    },
  );
});
