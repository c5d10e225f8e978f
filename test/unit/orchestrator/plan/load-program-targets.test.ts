import { expect, test } from "vitest";
import { callsOf } from "../../../../src/orchestrator/plan/load-program-targets.js";
import { findLoadProgram } from "../../../../src/targets/load-programs/load-programs.js";
import { planFor } from "../../../helpers/request.js";

const CLIENTS = "throttlecrab-http,throttlecrab-http+wrk,ioredis@throttlecrab+redis-benchmark";
const planOf = (...flags: readonly string[]) =>
  planFor("--clients", CLIENTS, "--layer", "limiter", "--concurrency", "50", ...flags);

const skipsOf = (...flags: readonly string[]) =>
  Object.fromEntries(planOf(...flags).skips.map(({ asked, reason }) => [asked, reason]));

test("load programs stand in the plan beside the client that they replace, with the same load", () => {
  const { configurations, skips } = planOf("--traffic", "random");
  expect(skips).toEqual([]);
  const [client, ...programs] = configurations.map(({ configuration: { target, ...rest } }) => ({
    target,
    rest,
  }));
  expect(programs.map(({ target }) => target.program)).toEqual(["wrk", "redis-benchmark"]);
  for (const { rest } of programs) expect(rest).toEqual(client?.rest);
});

test.each([
  [["--layer", "server"], "wrk calls what decides itself: measure it with --layer limiter"],
  [
    ["--traffic", "variable"],
    "wrk repeats its calls, and the traffic variable has keys that are never seen again",
  ],
  [["--traffic", "mixed2"], "wrk sends one key a call, and the traffic mixed2 has several"],
  [["--generators", "2"], "wrk is the only generator of its load: leave --generators out"],
  [["--rate", "100"], "wrk runs closed loops: it has no rate"],
  [["--duration-mode", "requests:1000"], "wrk runs for a time: give another --duration-mode"],
  [["--runs", "auto"], "wrk is a control: give the number of runs instead of --runs auto"],
])("%j: what a program cannot do is skipped with the reason", (flags, reason) => {
  expect(skipsOf(...flags)["throttlecrab-http+wrk"]).toBe(reason);
});

test.each(["realistic", "sequential", "hot", "allowed"])(
  "a program that draws its own keys cannot send %s",
  (traffic) => {
    expect(skipsOf("--traffic", traffic)).toEqual({
      "ioredis@throttlecrab+redis-benchmark":
        "redis-benchmark draws its keys, each as likely as any other: give --traffic random",
    });
  },
);

test("the calls of a list are those of the traffic's stream: the same seed gives the same, by the shares of their keys", () => {
  const [, listed, drawn] = planOf("--traffic", "realistic,random").configurations.map(
    ({ configuration }) => configuration,
  );
  if (!listed || !drawn) throw new Error("too few configurations");
  const run = { nonce: "nonce", keyPrefix: "rl" };
  const keysOf = (seed: number) =>
    callsOf(findLoadProgram("wrk"), listed, seed, run).calls.map(
      (call) => (call as { key: string }).key,
    );
  const keys = keysOf(1);
  expect(keysOf(1)).toEqual(keys);
  expect(keysOf(2)).not.toEqual(keys);
  const exhausted = keys.filter((key) => key.startsWith("rl:exhausted-")).length / keys.length;
  expect(Math.abs(exhausted - 0.1)).toBeLessThan(0.01);
});
