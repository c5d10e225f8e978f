import { expect, test } from "vitest";
import { compute } from "../../../src/server/routes/workloads.js";

test("the work grows linearly with complexity", () => {
  const one = compute(1, 7).steps;
  expect(one).toBeGreaterThan(10_000);
  for (const complexity of [2, 3, 10]) expect(compute(complexity, 7).steps).toBe(complexity * one);
});

test("the same seed gives the same result, another seed or complexity another one", () => {
  expect(compute(3, 42)).toEqual(compute(3, 42));
  const results = [compute(3, 42), compute(3, 43), compute(4, 42), compute(3, 0), compute(3, 2 ** 32 - 1)];
  expect(new Set(results.map(({ result }) => result)).size).toBe(results.length);
});
