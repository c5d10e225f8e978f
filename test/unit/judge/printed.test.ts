import { expect, test } from "vitest";
import type { StoreReading } from "../../../src/contract/store.js";
import { judgePrinted, type PrintedEvidence } from "../../../src/judge/printed.js";
import { role } from "../../helpers/evidence.js";

const reading = { version: "7.0.15", uptime_s: 1, run_id: "a", evicted_keys: 0 };

const onStore = (at_start: StoreReading, at_end = at_start) => ({
  store: { nodes: [{ role: "store-1", at_start, at_end }], settings: {}, external: false },
});

const evidence = (changes: Partial<PrintedEvidence> = {}): PrintedEvidence =>
  ({
    status: "printed",
    duration: 2,
    program_s: 2.1,
    operations: { total: 20_000, per_second: 10_000 },
    calls: { before: 500, after: 20_500 },
    ...onStore(reading),
    resources: { "store-1": role("store", 60), "generator-1": role("generator", 98) },
    host_load: { cpus: 4, busy_cpu_percent: 160, foreign_cpu_percent: 1 },
    clock_change: { changed_ms: 0, over_s: 4 },
    program: { id: "redis-benchmark", version: "7.0.15", arguments: [], output: "" },
    versions: { store: "7.0.15", program: "7.0.15" },
    ...changes,
  }) as PrintedEvidence;

const rulesOf = (changes: Partial<PrintedEvidence>) =>
  judgePrinted(evidence(changes)).reasons.map(({ rule, severity }) => `${rule} ${severity}`);

test("a sound run is valid, and names the rules that need answers of our own generator", () => {
  const { status, not_applicable } = judgePrinted(evidence());
  expect(status).toBe("valid");
  expect(not_applicable.map(({ rule }) => rule)).toEqual(
    expect.arrayContaining(["M2", "M3", "M7", "M8", "M10", "M13", "M18", "M27"]),
  );
});

test.each<[string, Partial<PrintedEvidence>, string]>([
  ["throughput too low for the time", { duration: 3 }, "M1 invalid"],
  ["calls that the store did not count", { calls: { before: 0, after: 19_999 } }, "M1 invalid"],
  ["a program that ran longer than it says", { program_s: 12 }, "M1 suspect"],
  ["another process at the end", onStore(reading, { ...reading, run_id: "b" }), "M14 invalid"],
  ["evicted keys", onStore(reading, { ...reading, evicted_keys: 3 }), "M14 suspect"],
  ["no counters of a role", { resources: { "store-1": role("store", 60) } }, "M15 suspect"],
  ["a clock that was set", { clock_change: { changed_ms: 5000, over_s: 4 } }, "M36 invalid"],
  [
    "foreign load",
    { host_load: { cpus: 4, busy_cpu_percent: 200, foreign_cpu_percent: 40 } },
    "M25 suspect",
  ],
])("%s", (_, changes, expected) => {
  expect(rulesOf(changes)).toEqual([expected]);
});

test.each([
  [20_009, []],
  [20_011, ["M1 invalid"]],
  [19_999, ["M1 invalid"]],
])(
  "of a program that ends after a time the calls under way may have been counted: %i",
  (after, expected) => {
    const operations = { total: 20_000, per_second: 10_000, more_at_most: 10 };
    expect(rulesOf({ operations, calls: { before: 0, after } })).toEqual(expected);
  },
);

test("what a store does not report is not applicable, and no reason", () => {
  const bare = { version: "" };
  const { calls: _, ...rest } = evidence({ ...onStore(bare), versions: { program: "7.0.15" } });
  const { status, not_applicable } = judgePrinted(rest);
  expect(status).toBe("valid");
  expect(not_applicable.map(({ rule }) => rule)).toEqual(expect.arrayContaining(["M1", "M19"]));
});
