import { expect, test } from "vitest";
import type { z } from "zod";
import { limitsSchema, loadSchema, workloadSchema } from "../../../src/contract/configuration.js";
import { planSchema } from "../../../src/contract/plan.js";
import { type NumberName, RANGES } from "../../../src/contract/ranges.js";
import { numberIn } from "../../../src/orchestrator/request/setting-values.js";
import { SETTINGS } from "../../../src/orchestrator/request/settings.js";

const { points, window_s, block_s, cost } = limitsSchema.shape;
const { complexity, payload_bytes } = workloadSchema.shape;
const closed = loadSchema.options[0].shape;

/** The member of a document that holds what a setting gives. */
const members: readonly (readonly [NumberName, z.ZodType])[] = [
  ["points", points],
  ["window", window_s],
  ["block", block_s],
  ["cost", cost],
  ["complexity", complexity],
  ["payload-bytes", payload_bytes],
  ["connections", closed.connections],
  ["seed", planSchema.shape.seed],
];

test.each(members)("%s: a document takes what its flag takes, and no more", (name, member) => {
  const { max } = RANGES[name];
  expect([max, max + 1].map((value) => member.safeParse(value).success)).toEqual([true, false]);
  expect(numberIn(name, name, String(max))).toBe(max);
  expect(() => numberIn(name, name, String(max + 1))).toThrow(String(max));
});

test("a variable of a single run takes what its flag takes, and no more", () => {
  const seed = SETTINGS.find(({ key }) => key === "seed")?.singleRun?.schema;
  const { max } = RANGES.seed;
  expect([max, max + 1].map((value) => seed?.safeParse(String(value)).success)).toEqual([
    true,
    false,
  ]);
});
