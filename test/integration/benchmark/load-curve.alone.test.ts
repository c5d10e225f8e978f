import { expect, onTestFinished, test } from "vitest";
import type { Load } from "../../../src/contract/configuration.js";
import { decodeGeneratorEnv } from "../../../src/contract/generator-env.js";
import {
  type GeneratorSpec,
  groupSpec,
  type RunSpec,
  runSpec,
} from "../../../src/contract/run-spec.js";
import { CURVE_LEAD_IN_MS, LAST_TURN_LINE, turnLine } from "../../../src/contract/turns.js";
import { sum } from "../../../src/kit/numbers.js";
import { expectConsistent, expectScheduleReconciled } from "../../helpers/expectations.js";
import { generateGroup, resultOf, type WaitingPhase } from "../../helpers/generator-group.js";
import { TestServer } from "../../helpers/server.js";
import { StubServer } from "../../helpers/stub-server.js";

/** Shorter than the slices of a campaign, so that the test is cheap. */
const LENGTHS = { lead_in_ms: CURVE_LEAD_IN_MS, slice_ms: 400 };
const CLOSED: Load = { model: "closed", connections: 4 };
const openLoad = (rate_per_second: number): Load => ({
  model: "open",
  rate_per_second,
  arrivals: "constant",
  connections: 20,
});
const rateOf = (load: Load): number => (load.model === "open" ? load.rate_per_second : 0);

const common = {
  warmup_s: 0.3,
  waits_for_readings: true,
  progress: "json",
} satisfies Partial<GeneratorSpec>;

/** The runs of the servers at all loads. */
const runsOf = (servers: readonly { url: string }[], loads: readonly Load[]) =>
  servers.flatMap(({ url }) =>
    loads.map((load): RunSpec => {
      const { generator, ...spec } = decodeGeneratorEnv({
        TARGET_URL: url,
        DURATION: "0.4",
        TIMEOUT: "2",
      });
      return { ...spec, generator: { ...generator, ...common, load } };
    }),
  );

const curve = (runs: RunSpec[], given?: true) =>
  groupSpec({
    runs,
    turns: { seed: 3, curve: true, lengths: LENGTHS, ...(given ? { given } : {}) },
  });

/** The runs of the turns in their order. Each turn must begin and end before the next one begins. */
function turnsIn(phases: readonly WaitingPhase[]): (number | undefined)[] {
  const begun = phases.filter(({ phase }) => phase === "turn begins").map(({ run }) => run);
  expect(phases).toEqual([
    { phase: "connected" },
    { phase: "drained" },
    ...begun.flatMap((run) => [
      { phase: "turn begins", run },
      { phase: "turn ended", run },
    ]),
    { phase: "finished" },
  ]);
  return begun;
}

test("every run of a load curve has one turn at its load, and latency counts from the intended send", async () => {
  const DELAY_MS = 60;
  const stubs = [await StubServer.start(), await StubServer.start({ delay_ms: DELAY_MS })];
  const loads = [openLoad(100), openLoad(250), CLOSED];
  const runs = runsOf(stubs, loads);
  const counted: number[][] = [];
  const { code, phases, seconds, outputs } = await generateGroup(curve(runs), {
    // What a stub has been asked at the two moments of each turn.
    onDrained: async ({ run }) => {
      const stub = stubs[Math.floor((run ?? Number.NaN) / loads.length)];
      if (run === undefined || !stub) return;
      counted[run] = [...(counted[run] ?? []), (await stub.counts()).asked];
    },
  });
  expect(code).toBe(0);

  // The targets are compared at a load before the next load comes.
  const order = turnsIn(phases);
  expect([...order].sort()).toEqual([0, 1, 2, 3, 4, 5]);
  const loadsInOrder = order.map((run = -1) => run % loads.length);
  expect(loadsInOrder.filter((load, index) => load !== loadsInOrder[index - 1])).toHaveLength(3);
  expect(new Set(seconds)).toEqual(new Set(order));

  const results = outputs.map(resultOf);
  expect(results).toHaveLength(runs.length);
  for (const [run, result] of results.entries()) {
    const { counts, warmup, schedule, turns, latency, duration, request } = result;
    const rate = rateOf(request.load);
    expect(request.load).toEqual(runs[run]?.generator?.load);
    expect(turns).toMatchObject({ curve: true, group: 2, turns: 1, ...LENGTHS });
    const [before = Number.NaN, after] = counted[run] ?? [];
    expect(after).toBe(before + warmup.lead_in.requests + counts.sent);
    const isSlow = run >= loads.length;
    if (isSlow) expect(latency?.p50).toBeGreaterThan(DELAY_MS - 2);
    if (rate === 0) {
      expectConsistent(result);
      expect({ schedule, backlog: turns?.backlog }).toEqual({});
      continue;
    }
    expectScheduleReconciled(result);
    expect(duration).toBeCloseTo(LENGTHS.slice_ms / 1000, 6);
    expect(schedule?.offered).toBe((rate * LENGTHS.slice_ms) / 1000);
    expect(schedule?.sent).toBe(schedule?.offered);
    expect(warmup.lead_in).toEqual({
      took_s: CURVE_LEAD_IN_MS / 1000,
      requests: (rate * CURVE_LEAD_IN_MS) / 1000,
    });
    if (isSlow) expect(turns?.backlog?.at_open).toBeGreaterThan(0);
    expect(turns?.backlog?.at_shut).toBe(counts.followed);
  }

  // A target is warmed up once, over connections that all of its runs share.
  for (const [target, stub] of stubs.entries()) {
    const ofTarget = results.slice(target * loads.length, (target + 1) * loads.length);
    const requests = ofTarget.map(({ warmup }) => warmup.requests - warmup.lead_in.requests);
    expect(new Set(requests).size).toBe(1);
    const inTurns = sum(
      ofTarget.map(({ warmup, counts }) => warmup.lead_in.requests + counts.sent),
    );
    const { asked, connections } = await stub.counts();
    expect({ asked, connections }).toEqual({
      asked: (requests[0] ?? 0) + inTurns,
      connections: 24,
    });
    const sent = outputs.slice(target * loads.length, (target + 1) * loads.length).map((output) => {
      return "failed" in output ? 0 : sum(output.request_counts?.sent ?? []);
    });
    expect(sent).toEqual(loads.map(() => asked));
  }
});

test("a target that is far too slow for a rate is overloaded, although each request has a free connection", async () => {
  const stub = await StubServer.start({ slots: 1, slot_ms: 30 });
  const load: Load = { ...openLoad(100), connections: 60 } as Load;
  const { outputs } = await generateGroup(curve(runsOf([stub], [load])));
  const { schedule, turns, outcome, verdict } = resultOf(outputs[0]);
  expect(schedule?.unsent).toBe(0);
  const { at_open = 0, at_shut = 0 } = turns?.backlog ?? {};
  expect(at_shut).toBeGreaterThan(2 * at_open);
  expect(outcome).toBe("overloaded");
  expect(verdict.reasons.map(({ rule }) => rule)).toContain("M5");
});

test("the counters of a server of ours are of one turn, and its warm-up uses the connections of its open loops", async () => {
  const server = await TestServer.start({ MODE: "memory", RATE_LIMIT_POINTS: "1000000000" });
  onTestFinished(async () => void (await server.stop()));
  const { outputs } = await generateGroup(curve(runsOf([server], [openLoad(100), openLoad(200)])));
  const results = outputs.map(resultOf);
  expect(results).toHaveLength(2);
  for (const { counts, warmup, consumers, verdict } of results) {
    const [only] = consumers;
    expect(only?.at_start).toEqual(only?.at_window_open);
    expect((only?.at_end.requests ?? 0) - (only?.at_start.requests ?? 0)).toBe(
      counts.sent + warmup.lead_in.requests,
    );
    expect(only?.consumes?.calls).toBe(counts.sent + warmup.lead_in.requests);
    expect(verdict.reasons.filter(({ rule }) => ["M8", "M16", "M10"].includes(rule))).toEqual([]);
  }
});

test("where each target has a generator of its own, the input names the run of each turn", async () => {
  const store = { id: "memory", topology: "none", nodes: [] };
  const loads = [CLOSED, openLoad(100), openLoad(200)];
  const runs = loads.map((load) =>
    runSpec({
      run_nonce: "nonce-1",
      target: { text: "memory", label: "memory" },
      limits: { points: 1_000_000_000, window_s: 60, block_s: 0 },
      store,
      key_prefix: "rl",
      plugins: [],
      generator: {
        ...common,
        layer: "limiter",
        workload: { id: "none" },
        traffic: "realistic",
        load,
        extent: { duration_s: 0.4 },
        workers: 1,
        seed: 1,
        timeout_s: 2,
        servers: [],
      },
    }),
  );
  const given = [2, 0, 1];
  const left = [...given];
  const giveNext = (write: (line: string) => void) => {
    const run = left.shift();
    write(run === undefined ? LAST_TURN_LINE : turnLine({ ...LENGTHS, run }));
  };
  let isWarm = false;
  const { code, phases, outputs } = await generateGroup(curve(runs, true), {
    onDrained: ({ phase }, write) => {
      if (phase === "connected") setTimeout(write, 0, turnLine({ lead_in_ms: 5, slice_ms: 100 }));
      if (phase === "drained") setTimeout(giveNext, 0, write);
    },
    onProgress: ({ event }, write) => {
      if (event !== "turn") return;
      if (isWarm) giveNext(write);
      else write(LAST_TURN_LINE);
      isWarm = true;
    },
  });
  expect(code).toBe(0);
  expect(turnsIn(phases)).toEqual(given);
  for (const [run, result] of outputs.map(resultOf).entries()) {
    const { counts, warmup, consumers, schedule } = result;
    expectConsistent(result);
    expect(schedule?.offered ?? 0).toBe((rateOf(loads[run] ?? CLOSED) * LENGTHS.slice_ms) / 1000);
    expect(consumers[0]?.consumes?.calls).toBe(counts.sent + warmup.lead_in.requests);
  }
});

test("runs of a target that cannot share their connections are refused by name", async () => {
  const stub = await StubServer.start();
  const other: Load = { ...openLoad(200), connections: 30 };
  const { code, stderr } = await generateGroup(curve(runsOf([stub], [openLoad(100), other])));
  expect(code).toBe(2);
  expect(stderr).toContain("generator.load.connections");
});
