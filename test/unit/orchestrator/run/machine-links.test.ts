import { describe, expect, test } from "vitest";
import type { PlacedKind } from "../../../../src/contract/machines.js";
import { linkOf, linksBetween } from "../../../../src/orchestrator/run/machine-links.js";

const links = (machines: Record<PlacedKind, readonly string[]>) => linksBetween((kind) => machines[kind]);

describe("the links between machines", () => {
  test("are those over which roles talk to each other, each once", () => {
    expect(links({ generator: ["a"], server: ["b"], store: ["c"] })).toEqual([
      ["a", "b"],
      ["b", "c"],
    ]);
    expect(links({ generator: ["a", "b"], server: ["b"], store: ["a"] })).toEqual([["a", "b"]]);
    expect(links({ generator: ["a"], server: ["a"], store: ["a"] })).toEqual([]);
  });

  test("grow with the machines of a kind", () => {
    const machines = Array.from({ length: 32 }, (_, index) => `g${index}`);
    expect(links({ generator: machines, server: ["s"], store: ["t"] })).toHaveLength(33);
  });
});

test("a link's round trip is that of both ends, its rates have directions, and its clock is the second one's", () => {
  const there = {
    round_trips_us: [10, 12, 14, 90],
    clock: { offset_us: 500, bound_us: 20 },
    sent_bits_per_second: 9e9,
    received_bits_per_second: 1e9,
  };
  const back = { round_trips_us: [11, 13, 15, 16], clock: { offset_us: -490, bound_us: 20 } };
  expect(linkOf(["a", "b"], there, back)).toEqual({
    between: ["a", "b"],
    round_trip_us: { p50: 13, p90: 90, count: 8 },
    bits_per_second: { there: 9e9, back: 1e9 },
    clock: { offset_us: 495, bound_us: 15.1 },
  });
});
