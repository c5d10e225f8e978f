import { describe, expect, test } from "vitest";
import { EXIT } from "../../../src/contract/errors.js";
import { findProfile, findWorkload } from "../../../src/traffic/lookup.js";
import { profiles } from "../../../src/traffic/profiles.js";
import { AliasTable, createStreams } from "../../../src/traffic/streams.js";
import type { RequestStream } from "../../../src/traffic/types.js";
import { expectFailure } from "../../helpers/errors.js";

const realistic = findProfile("realistic");

const population = realistic.population();
const table = new AliasTable(population.shares);
const draw = (stream: RequestStream | undefined, count: number): number[] =>
  Array.from({ length: count }, () => stream?.next() ?? Number.NaN);

describe.each(profiles)("the profile $id", (profile) => {
  const { requests, shares } = profile.population();
  test("has one share for each request; the shares add up to 1", () => {
    expect(shares).toHaveLength(requests.length);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
    expect(Math.min(...shares)).toBeGreaterThan(0);
  });

  test("has distinct requests with keys that the server accepts", () => {
    const keys = requests.map((descriptors) => descriptors.join(" "));
    expect(new Set(keys).size).toBe(keys.length);
    expect(requests.flat().every((key) => /^[a-z]+-\d+$/.test(key))).toBe(true);
  });
});

describe("the requests of a connection", () => {
  test("are the same for the same seed, and others for another", () => {
    const [first, again] = [7, 7].map((seed) => draw(createStreams(table, seed, 0, 1)[0], 500));
    expect(first).toEqual(again);
    expect(draw(createStreams(table, 8, 0, 1)[0], 500)).not.toEqual(first);
  });

  test.each([[[10]], [[4, 6]], [[1, 2, 3, 4]], [[5, 1, 1, 1, 1, 1]]])(
    "do not depend on how 10 connections are spread over workers: %j",
    (split) => {
      const alone = createStreams(table, 42, 0, 10).map((stream) => draw(stream, 50));
      let first = 0;
      const spread = split.flatMap((count) => {
        const streams = createStreams(table, 42, first, count);
        first += count;
        return streams.map((stream) => draw(stream, 50));
      });
      expect(spread).toEqual(alone);
    },
  );

  test("differ from those of all other connections", () => {
    const sequences = createStreams(table, 1, 0, 200).map((stream) => draw(stream, 20).join());
    expect(new Set(sequences).size).toBe(200);
  });
});

test("over many requests keys follow Zipf's law: rank 1 is used 10^0.99 times as often as rank 10", () => {
  const DRAWS = 200_000;
  const counts = new Float64Array(population.requests.length);
  for (const stream of createStreams(table, 3, 0, 20)) {
    for (const index of draw(stream, DRAWS / 20)) counts[index] = (counts[index] ?? 0) + 1;
  }
  const { shares } = population;
  expect((shares[0] ?? 0) / (shares[9] ?? 1)).toBeCloseTo(10 ** 0.99, 9);
  const ratio = (counts[0] ?? 0) / (counts[9] ?? 1);
  expect(ratio).toBeGreaterThan(8);
  expect(ratio).toBeLessThan(12);
  const hottest = counts.slice(0, 900).reduce((sum, count) => sum + count, 0);
  expect(hottest / DRAWS).toBeGreaterThan(0.6);
});

test("unknown traffic and workloads are usage errors that list the valid names", async () => {
  await expectFailure(() => findProfile("real"), EXIT.usage, '"real"', "realistic, fixed, allowed, denied");
  await expectFailure(() => findWorkload("x".repeat(300)), EXIT.usage, "light, heavy");
});
