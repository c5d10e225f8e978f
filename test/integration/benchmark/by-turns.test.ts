import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { AUTO_WARMUP } from "../../../src/contract/configuration.js";
import { decodeGeneratorEnv } from "../../../src/contract/generator-env.js";
import { groupSpec } from "../../../src/contract/run-spec.js";
import { MIN_CYCLES, type TurnsSpec } from "../../../src/contract/turns.js";
import { sum } from "../../../src/kit/numbers.js";
import { expectConsistent } from "../../helpers/expectations.js";
import { generateGroup } from "../../helpers/generator-group.js";
import { StubServer } from "../../helpers/stub-server.js";

const specFor = ({ url }: StubServer, warmup: string) => {
  const env = { TARGET_URL: url, DURATION: "0.6", WARMUP: warmup, CONNECTIONS: "4", TIMEOUT: "1" };
  const { generator, ...spec } = decodeGeneratorEnv(env);
  return {
    ...spec,
    generator: { ...generator, waits_for_readings: true, progress: "json" as const },
  };
};

/** @param onDrained what is done at each drained moment, before the generator may go on */
const generateByTurns = (
  stubs: readonly StubServer[],
  onDrained: (phase: string) => Promise<void> = async () => {},
  warmup = "0.3",
  turns: TurnsSpec = { seed: 1 },
) =>
  generateGroup(groupSpec({ runs: stubs.map((stub) => specFor(stub, warmup)), turns }), {
    onDrained: ({ phase }) => onDrained(phase),
  });

test("every target of a group has its result, its counts reconcile, and the server received nothing else", async () => {
  const stubs = [
    await StubServer.start({ delay_us: 200 }),
    await StubServer.start({ delay_us: 400 }),
  ];
  // Idle for longer than the time-out of a request: no connection is closed or opened for that.
  const idle = async (phase: string) => {
    if (phase !== "finished") await sleep(1_200);
  };
  const { code, outputs, seconds } = await generateByTurns(stubs, idle);
  expect(code).toBe(0);
  expect(outputs).toHaveLength(2);
  expect(new Set(seconds)).toEqual(new Set([0, 1]));
  for (const [index, output] of outputs.entries()) {
    if ("failed" in output) throw new Error(output.failed);
    const { request_counts: _, ...result } = output;
    expectConsistent(result);
    expect(result.turns?.group).toBe(2);
    expect(result.turns?.turns).toBeGreaterThanOrEqual(MIN_CYCLES);
    expect(result.turns?.reopened).toEqual({ all: 0, without_cause: 0 });
    const { asked, connections } = (await stubs[index]?.counts()) ?? {};
    expect({ asked, connections }).toEqual({
      asked: result.warmup.requests + result.counts.sent,
      connections: 4,
    });
  }
});

test("a long turn follows the warm-up, between two drained moments, and its requests count as warm-up", async () => {
  const stub = await StubServer.start({ delay_us: 1_000 });
  const phases: string[] = [];
  const announced = async (phase: string) => void phases.push(phase);
  const { outputs } = await generateByTurns([stub], announced, "0.3", { seed: 1, long: true });
  // Between turns the counters are read once a second.
  const others = phases.filter((phase) => phase !== "between turns");
  expect(others).toEqual(["connected", "before long turns", "drained", "finished"]);
  const [output] = outputs;
  if (!output || "failed" in output) throw new Error("the target has no result");

  const { long, since_began } = output.turns ?? {};
  expect(long?.turns).toBe(1);
  expect(long?.loaded_s).toBeGreaterThan(2.9);
  // No slice of a long turn begins before half a second, and no short turn lasts as long.
  expect(long?.slice.seconds.slice(0, 4)).toEqual([0, 0, 0, 0]);
  expect(sum(long?.slice.answers ?? [])).toBeGreaterThan(0);
  expect(since_began?.slice.seconds.slice(4)).toEqual([0, 0]);
  expect(output.warmup.requests).toBeGreaterThan(long?.requests ?? Number.POSITIVE_INFINITY);
  const { asked } = await stub.counts();
  expect(asked).toBe(output.warmup.requests + output.counts.sent);
});

test("an automatic warm-up goes on until the target is steady, and is part of what the server received", async () => {
  const stubs = [await StubServer.start({ delay_us: 20 })];
  const { outputs } = await generateByTurns(stubs, undefined, "auto");
  for (const [index, output] of outputs.entries()) {
    if ("failed" in output) throw new Error(output.failed);
    const { warmup, counts } = output;
    expect(warmup.steady).toBeTypeOf("boolean");
    const { requests } = warmup;
    // The requests that are followed belong to the longest warm-up, too.
    if (requests < AUTO_WARMUP.min_requests)
      expect(warmup.took_s).toBeGreaterThan(0.8 * AUTO_WARMUP.max_s);
    expect((await stubs[index]?.counts())?.asked).toBe(warmup.requests + counts.sent);
  }
});

test("a target that dies in the round, and one that answers nothing in the warm-up and says so, fail alone", async () => {
  const dying = await StubServer.start({ delay_us: 200 });
  const stubs = [
    await StubServer.start({ delay_us: 200 }),
    dying,
    await StubServer.start({ hang: 1 }),
  ];
  const killed = async (phase: string) => {
    if (phase === "drained") await dying.kill();
  };
  const { code, outputs } = await generateByTurns(stubs, killed, "1");
  expect(code).toBe(0);
  const [good, dead, silent] = outputs;
  if (!good || "failed" in good) throw new Error("the first target has no result");
  expect(good.turns?.turns).toBeGreaterThanOrEqual(MIN_CYCLES);
  expect(good).toMatchObject({ status: "measured", totalErrors: 0 });
  // A stub has no counters: what it did not answer is in its own result.
  if (dead && "counts" in dead) expect(dead.counts.allowed).toBe(0);
  expect(silent).toMatchObject({ failed: expect.any(String) });
});
