import { describe, expect, test } from "vitest";
import { benchmarkArguments, parseBenchmarkCsv } from "../../../src/targets/benchmarks/index.js";
import { findOperation } from "../../../src/targets/benchmarks/operations.js";

const HEADER =
  '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"';
const FIGURES = '"38022.81","0.174","0.048","0.167","0.263","0.359","2.783"';
const EXPECTED = {
  per_second: 38_022.81,
  latency: { average: 0.174, min: 0.048, p50: 0.167, p95: 0.263, p99: 0.359, max: 2.783 },
};

describe("the CSV of valkey-benchmark and redis-benchmark", () => {
  test("gives throughput and latencies as printed", () => {
    expect(parseBenchmarkCsv(`${HEADER}\n"SET",${FIGURES}\n`)).toEqual(EXPECTED);
  });

  test.each([
    ["", "it printed nothing"],
    [HEADER, "it printed a header and no figures"],
    ["Segmentation fault", 'has no header "test","rps","avg_latency_ms","min_laten…: "Segmentation fault"'],
    [`${HEADER}\n"SET","nan","0.1","0.1","0.1","0.1","0.1","0.1"`, "it printed no figures"],
    [`${HEADER}\n"SET","38022.81","0.174"`, 'it printed no figures: "\\"SET\\",\\"38022.81\\"'],
    [`${HEADER}\n"SET","0.00","0.0","0.0","0.0","0.0","0.0","0.0"`, "it printed no figures"],
  ])("that is odd is refused with its line: %j", (printed, message) => {
    expect(() => parseBenchmarkCsv(printed)).toThrow(message);
  });
});

test("a benchmark program gets address, connections, operations, keys and payload, and no pipelining", () => {
  const work = { test: { own: "set" }, connections: 50, requests: 1000, keys: 500, payloadBytes: 200 };
  expect(benchmarkArguments({ host: "127.0.0.1", port: 7000 }, work).join(" ")).toBe(
    "-h 127.0.0.1 -p 7000 -c 50 -n 1000 -r 500 -P 1 --csv -d 200 -t set",
  );
});

test("the script runs by the command with which it was prepared, on random keys", () => {
  expect(findOperation("script").test(["EVALSHA", "abc"])).toEqual({
    command: ["EVALSHA", "abc", "1", "rlflx:__rand_int__", "1", "60"],
  });
});
