import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import { parseThresholds, thresholdsOf } from "../../../../src/orchestrator/request/thresholds.js";
import { expectFailure } from "../../../helpers/errors.js";
import { requestOf } from "../../../helpers/request.js";

describe("thresholds are kept in one unit for each figure:", () => {
  test.each([
    ["p99<10ms", { metric: "p99", op: "<", value: 10 }],
    ["p50 <= 0.5s", { metric: "p50", op: "<=", value: 500 }],
    ["p99.9<250us", { metric: "p99_9", op: "<", value: 0.25 }],
    ["errors<0.1%", { metric: "errors", op: "<", value: 0.001 }],
    ["throughput>=5000/s", { metric: "throughput", op: ">=", value: 5000 }],
    ["cpu<120us", { metric: "cpu", op: "<", value: 120 }],
    ["server_cores<0.3@1000/s", { metric: "server_cores", value: 0.3, at_per_second: 1000 }],
    ["store_cores<=20% @ 500", { metric: "store_cores", value: 0.2, at_per_second: 500 }],
    ["limited_share=0.1±0.01", { metric: "limited_share", op: "=", value: 0.1, tolerance: 0.01 }],
    ["limited_share=10%+-1", { metric: "limited_share", op: "=", value: 0.1, tolerance: 0.01 }],
  ])("%s", (text, expected) => {
    const [threshold] = parseThresholds("--threshold", text);
    expect(threshold).toMatchObject({
      ...expected,
      value: expect.closeTo(expected.value, 12),
      text,
    });
  });

  test("several at once", () => {
    const texts = parseThresholds("--threshold", "p99<10ms, errors<0.1%").map(({ text }) => text);
    expect(texts).toEqual(["p99<10ms", "errors<0.1%"]);
  });
});

test.each<[string, ...string[]]>([
  ["p99", "give e.g. p99<10ms"],
  ["p99<", "give e.g."],
  ["p99<-1ms", "give e.g."],
  ["p99<NaN", "give e.g."],
  ["p98<1ms", "there is no figure p98", "limited_share"],
  ["constructor<1", "there is no figure"],
  ["p99<10%", "not a unit of p99", "ms"],
  // Milliseconds or microseconds?
  ["p99<10", "ms, us"],
  ["cpu<120", "us"],
  ["errors<200%", "at most 1"],
  ["limited_share=0.1", "needs a tolerance"],
  ["p99<1ms±1", "only = takes"],
  ["$(touch x)", "give e.g."],
  ["server_cores<0.3", "server_cores<0.3@1000/s"],
  ["p99<10ms@1000/s", "only cores"],
  ["server_cores<0.3@fast", "requests a second"],
  ["server_cores<0.3@1@2", "@1000/s"],
])("%j is refused with what is valid", async (text, ...parts) => {
  await expectFailure(
    () => parseThresholds("--threshold", text),
    EXIT.usage,
    "--threshold",
    ...parts,
  );
});

test("JUnit's XML of thresholds goes to a file from the folder of the command, if there are any", () => {
  const { output } = requestOf("--threshold", "p99<10ms", "--junit", "out/junit.xml");
  expect(output.junit).toBe(resolve("out/junit.xml"));
  expect(() => requestOf("--junit", "junit.xml")).toThrow(/--junit.*--threshold/);
});

test("cores at a rate need a load curve, which alone has them", async () => {
  const threshold = { source: "--threshold", value: "p99<10ms,server_cores<0.3@1000/s" };
  expect(thresholdsOf(threshold, true)).toHaveLength(2);
  await expectFailure(() => thresholdsOf(threshold, false), EXIT.usage, "--load-curve");
});
