import { describe, expect, onTestFinished, test } from "vitest";
import type { MeasuredResult } from "../../../src/contract/result.js";
import {
  encodeRunSpec,
  type GeneratorSpec,
  type RunSpec,
  runSpec,
} from "../../../src/contract/run-spec.js";
import { expectConsistent, expectScheduleReconciled } from "../../helpers/expectations.js";
import { generate, measured } from "../../helpers/programs.js";
import { TestStore } from "../../helpers/store.js";

/** What the orchestrator asks of a generator at the limiter layer. */
function specFor(
  label: string,
  store: RunSpec["store"],
  generator: Partial<GeneratorSpec>,
  members: Partial<RunSpec> = {},
): Record<string, string> {
  const text = store.nodes.length > 0 ? `${label}@${store.id}:${store.topology}` : label;
  const spec = runSpec({
    run_nonce: "nonce-1",
    target: { text, label },
    limits: { points: 1_000_000_000, window_s: 60, block_s: 0 },
    store,
    key_prefix: "rl",
    plugins: [],
    generator: {
      layer: "limiter",
      workload: { id: "none" },
      traffic: "realistic",
      load: { model: "closed", connections: 10 },
      extent: { duration_s: 1 },
      workers: 1,
      warmup_s: 0.3,
      seed: 1,
      timeout_s: 2,
      servers: [],
      progress: "json",
      waits_for_readings: false,
      ...generator,
    },
    ...members,
  });
  return encodeRunSpec(spec);
}

const inProcess = (id: string): RunSpec["store"] => ({ id, topology: "none", nodes: [] });

async function startStore(): Promise<{ store: TestStore; spec: RunSpec["store"] }> {
  const store = await TestStore.start();
  onTestFinished(() => store.stop());
  const nodes = [{ host: "127.0.0.1", port: store.port }];
  return { store, spec: { id: "valkey", topology: "standalone", nodes } };
}

const generatorOf = ({ consumers: [only, ...others] }: MeasuredResult) => {
  if (!only || others.length > 0) throw new Error("one consumer");
  expect(only).toMatchObject({ id: "generator-1", run_nonce: "nonce-1", workloads: [] });
  expect(only.at_start.requests).toBe(0);
  expect(only.at_end.in_flight).toBe(0);
  return only;
};

describe("a limiter on a real store", () => {
  test("in an open loop: each fresh key is one key of the store, also over several workers", async () => {
    const { store, spec } = await startStore();
    const load = {
      model: "open",
      rate_per_second: 400,
      arrivals: "constant",
      connections: 20,
    } as const;
    const result = await measured(
      specFor("iovalkey", spec, { load, traffic: "mixed2", workers: 3 }),
    );
    expectConsistent(result);
    expectScheduleReconciled(result);
    expect(result.schedule?.offered).toBe(400);
    const { at_end } = generatorOf(result);
    expect(result.calls_per_request).toBe(2);
    // The warm-up ends by time: a busy machine sends less in it.
    const calls = 2 * at_end.requests;
    expect(calls).toBeGreaterThan(2 * 400);
    expect(at_end.consumes).toEqual({ calls, allowed: calls, limited: 0, failed: 0 });
    const ran = await store.scriptCalls();
    expect(ran.eval + ran.evalsha + ran.fcall).toBe(calls + 2 * 3);
    // One key for all requests, and one for each.
    expect(await store.ask((client) => client.dbsize())).toBe(1 + at_end.requests);
  });

  test.each([
    { model: "closed", connections: 5 },
    { model: "open", rate_per_second: 100, arrivals: "constant", connections: 20 },
  ] as const)("that stops answering costs time-outs, each counted once: %j", async (load) => {
    const { store, spec } = await startStore();
    const asked = { load, extent: { duration_s: 4 }, timeout_s: 1, warmup_s: 0 };
    const running = generate(specFor("ioredis", spec, asked));
    await expect.poll(() => running.stderr(), { timeout: 240_000 }).toContain('"second"');
    store.pause();
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    const result = JSON.parse(stdout) as MeasuredResult;
    expectConsistent(result);
    expect(result.counts.timed_out).toBeGreaterThan(0);
    expect(result.generators[0]?.histograms.censored.count).toBeGreaterThanOrEqual(result.timeouts);
  });

  test("that does not answer at all is an unfit environment", async () => {
    const nodes = [{ host: "127.0.0.1", port: 1 }];
    const env = specFor("ioredis", { id: "valkey", topology: "standalone", nodes }, {});
    const { code, stdout, stderr } = await generate(env).ended;
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain("127.0.0.1:1");
  });
});

describe("a target without a store", () => {
  test("none: what it costs is what the driver costs", async () => {
    const result = await measured(
      specFor("none", inProcess("none"), { extent: { requests: 20_001 } }),
    );
    expectConsistent(result);
    expect(result.counts).toMatchObject({ sent: 20_001, allowed: 20_001, followed: 0, cut: 0 });
    expect(generatorOf(result).at_end).not.toHaveProperty("consumes");
    for (const absent of ["prediction", "calls_per_request", "descriptors_per_call"]) {
      expect(result).not.toHaveProperty(absent);
    }
  });

  test("memory: the quota holds in the generator's own process", async () => {
    const limits = { points: 10, window_s: 60, block_s: 0 };
    const asked = { traffic: "fixed", warmup_s: 0, extent: { requests: 500 } };
    const result = await measured(specFor("memory", inProcess("memory"), asked, { limits }));
    expectConsistent(result);
    expect(result.counts).toMatchObject({ allowed: 10, limited: 490 });
    expect(result.prediction).toMatchObject({ basis: "limits", limited_share: 0.98 });
  });
});
