import { describe, expect, test } from "vitest";
import { parseRespLoadCsv, respLoadArguments } from "../../../src/targets/load-programs/index.js";
import type { LoadWork } from "../../../src/targets/load-programs/load-program.js";
import { findLoadProgram } from "../../../src/targets/load-programs/load-programs.js";
import { findOperation } from "../../../src/targets/load-programs/operations.js";
import { describeClient, findLimiter, resolveTarget } from "../../../src/targets/resolve.js";
import { targetOf } from "../../helpers/target.js";

const HEADER =
  '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"';
const FIGURES = '"38022.81","0.174","0.048","0.167","0.263","0.359","2.783"';
const EXPECTED = {
  per_second: 38_022.81,
  latency: { average: 0.174, min: 0.048, p50: 0.167, p95: 0.263, p99: 0.359, max: 2.783 },
};

describe("the CSV of valkey-benchmark and redis-benchmark", () => {
  test("gives throughput and latencies as printed", () => {
    expect(parseRespLoadCsv(`${HEADER}\n"SET",${FIGURES}\n`)).toEqual(EXPECTED);
  });

  test.each([
    ["", "it printed nothing"],
    [HEADER, "it printed a header and no figures"],
    [
      "Segmentation fault",
      'has no header "test","rps","avg_latency_ms","min_laten…: "Segmentation fault"',
    ],
    [`${HEADER}\n"SET","nan","0.1","0.1","0.1","0.1","0.1","0.1"`, "it printed no figures"],
    [`${HEADER}\n"SET","38022.81","0.174"`, 'it printed no figures: "\\"SET\\",\\"38022.81\\"'],
    [`${HEADER}\n"SET","0.00","0.0","0.0","0.0","0.0","0.0","0.0"`, "it printed no figures"],
  ])("that is odd is refused with its line: %j", (printed, message) => {
    expect(() => parseRespLoadCsv(printed)).toThrow(message);
  });
});

test("a load program gets address, connections, operations, keys and payload, and no pipelining", () => {
  const work = {
    test: { own: "set" },
    connections: 50,
    requests: 1000,
    keys: 500,
    payloadBytes: 200,
  };
  expect(respLoadArguments({ host: "127.0.0.1", port: 7000 }, work).join(" ")).toBe(
    "-h 127.0.0.1 -p 7000 -c 50 -n 1000 -r 500 -P 1 --csv -d 200 -t set",
  );
});

test("the script runs by the command with which it was prepared, on random keys", () => {
  expect(findOperation("script").test(["EVALSHA", "abc"])).toEqual({
    command: ["EVALSHA", "abc", "1", "rlflx:__rand_int__", "1", "60"],
  });
});

const LIMITS = { points: 100, window_s: 60, block_s: 0 };
const place = { host: "127.0.0.1", port: 7000, ports: { http: 7001, grpc: 7002 } };

/** What a target's program is asked to do with these keys. */
function workOf(text: string, ...keys: string[]): LoadWork {
  const target = targetOf(text);
  const { native } = describeClient(target);
  const { callOf } = findLimiter(target.limiter);
  if (!native || !callOf) throw new Error(`${text} cannot be called`);
  const run = { nonce: "0123456789abcdef", keyPrefix: "rl" };
  const calls = keys.map((key) => callOf(key, LIMITS, run));
  return { protocol: native, place, calls, keys: 10, connections: 50 };
}

describe("wrk", () => {
  const wrk = findLoadProgram("wrk");

  test("posts what the client posts, to the port for HTTP, on one thread", () => {
    const work = workOf("throttlecrab-http+wrk", "ada", "exhausted-1");
    expect(wrk.arguments(work, 5, "/files").join(" ")).toBe(
      "-t 1 -c 50 -d 5s --timeout 10s -s /files/calls.lua http://127.0.0.1:7001/throttle -- /files/calls",
    );
    const [first, second] = (wrk.files(work).calls ?? "")
      .split("\n")
      .map((line) => JSON.parse(line || "null"));
    expect(first).toEqual({
      key: "rl:ada",
      max_burst: 100,
      count_per_period: 100,
      period: 60,
      quantity: 1,
    });
    // More than the burst at once is denied.
    expect(second).toMatchObject({ key: "rl:exhausted-1", quantity: 101 });
  });

  test("asks Envoy with the run's domain and the descriptor that has no quota for an exhausted key", () => {
    const { calls } = workOf("envoy-http@redis+wrk", "ada", "exhausted-1");
    expect(calls).toEqual([
      { domain: "bench-01234567", descriptors: [{ entries: [{ key: "user", value: "ada" }] }] },
      {
        domain: "bench-01234567",
        descriptors: [{ entries: [{ key: "exhausted", value: "exhausted-1" }] }],
      },
    ]);
  });

  const line = (changes: object = {}) =>
    JSON.stringify({
      calls: 20_000,
      duration: 2_000_000,
      refused: 7,
      connect: 0,
      read: 0,
      write: 0,
      timeout: 0,
      average: 500.5,
      min: 40,
      p50: 450,
      p95: 900,
      p99: 1200,
      max: 5000,
      ...changes,
    });

  test("prints figures in µs as its last line", () => {
    expect(wrk.figuresIn(`Running 2s test\n  10 errors\n${line()}\n`)).toEqual({
      calls: 20_000,
      per_second: 10_000,
      refused: 7,
      failures: "",
      latency: { average: 0.5005, min: 0.04, p50: 0.45, p95: 0.9, p99: 1.2, max: 5 },
    });
  });

  test.each([
    ["", "it printed nothing"],
    ["unable to connect to 127.0.0.1:1 Connection refused", "it printed no figures"],
    ['{"calls": 1}', "it printed no figures: duration"],
    [line({ duration: 0 }), "it printed no figures: duration"],
  ])("that prints %j is refused", (printed, message) => {
    expect(() => wrk.figuresIn(printed)).toThrow(message);
  });
});

describe("ghz", () => {
  const ghz = findLoadProgram("ghz");

  test("gets the method, its messages, and the calls", () => {
    const work = workOf("throttlecrab-grpc+ghz", "ada");
    const commandLine = ghz.arguments(work, 5, "/files").join(" ");
    expect(commandLine).toContain(
      "--proto /files/calls.proto --call throttlecrab.RateLimiter.Throttle",
    );
    expect(commandLine).toContain("--concurrency 50 --connections 10 --duration 5s");
    expect(commandLine).toMatch(/--format json 127\.0\.0\.1:7002$/);
    const files = ghz.files(work);
    expect(JSON.parse(files.calls ?? "")).toEqual(work.calls);
    expect(files["calls.proto"]).toContain(
      "service RateLimiter {\n  rpc Throttle(ThrottleRequest) returns (ThrottleResponse);\n}",
    );
    const envoy = ghz.files(workOf("envoy-grpc@redis+ghz", "ada"))["calls.proto"];
    expect(envoy).toContain("enum Code {\n  UNKNOWN = 0;");
    expect(envoy).toContain("  repeated Descriptor descriptors = 2;");
  });

  const printed = (changes: object = {}) =>
    JSON.stringify({
      count: 10_000,
      total: 2_000_000_000,
      average: 400_000,
      fastest: 90_000,
      slowest: 9_000_000,
      statusCodeDistribution: { OK: 10_000 },
      latencyDistribution: [50, 95, 99].map((percentage) => ({
        percentage,
        latency: percentage * 10_000,
      })),
      ...changes,
    });

  test("prints figures in nanoseconds", () => {
    expect(ghz.figuresIn(printed())).toEqual({
      calls: 10_000,
      per_second: 5_000,
      refused: 0,
      failures: "",
      latency: { average: 0.4, min: 0.09, p50: 0.5, p95: 0.95, p99: 0.99, max: 9 },
    });
  });
});

test("redis-benchmark sends the command of a client of ThrottleCrab with keys that it draws", () => {
  const program = findLoadProgram("redis-benchmark");
  const work = workOf("ioredis@throttlecrab+redis-benchmark", "user-__rand_int__");
  const words = program.arguments(work, 1_000, "");
  expect(words.join(" ")).toBe(
    "-h 127.0.0.1 -p 7000 -c 50 -n 1000 -r 10 -P 1 --csv THROTTLE rl:user-__rand_int__ 100 100 60 1",
  );
});

describe("a target with a load program", () => {
  test.each([
    ["ioredis+wrk", "+wrk"],
    ["throttlecrab-http+ghz", "+ghz"],
    ["ioredis@redis+redis-benchmark", "+redis-benchmark"],
    ["ioredis@throttlecrab+redis-benchmark+valkey-benchmark", "valkey-benchmark"],
  ])("%s is skipped with the reason", (text, reason) => {
    expect(resolveTarget(text)).toMatchObject({ skip: expect.stringContaining(reason) });
  });

  test("whose program is missing is skipped with the remedy", () => {
    const available = (id: string) => (id === "wrk" ? "no wrk was found on this machine" : true);
    expect(resolveTarget("throttlecrab-http+wrk", available)).toEqual({
      skip: expect.stringContaining("--program wrk=PATH"),
    });
  });
});
