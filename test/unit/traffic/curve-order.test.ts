import { expect, test } from "vitest";
import type { Load } from "../../../src/contract/configuration.js";
import { curveOrder } from "../../../src/traffic/turn-order.js";

const RATES = [100, 500, 1_000, 2_000, 4_000];
const TARGETS = ["a", "b", "c"];
const load = (rate_per_second: number): Load => ({
  model: "open",
  rate_per_second,
  arrivals: "constant",
  connections: 200,
});
const turns = TARGETS.flatMap((target) => RATES.map((rate) => ({ target, load: load(rate) })));
const orderOf = (seed: number) => curveOrder(turns, (turn) => turn.load, seed);
const rateOf = (turn: (typeof turns)[number]): number =>
  turn.load.model === "open" ? turn.load.rate_per_second : 0;

test("each target has each load once, and all targets have a load before the next one comes", () => {
  for (let seed = 0; seed < 20; seed++) {
    const order = orderOf(seed);
    expect(new Set(order)).toEqual(new Set(turns));
    expect(order).toHaveLength(turns.length);
    for (let first = 0; first < order.length; first += TARGETS.length) {
      const ofLoad = order.slice(first, first + TARGETS.length);
      expect(new Set(ofLoad.map(rateOf)).size).toBe(1);
      expect(ofLoad.map(({ target }) => target).sort()).toEqual(TARGETS);
    }
  }
});

test("loads, and the targets of each load, come in orders that are drawn anew for each round", () => {
  const orders = Array.from({ length: 40 }, (_, seed) => orderOf(seed));
  const distinct = (textOf: (order: typeof turns) => string) =>
    new Set(orders.map((order) => textOf(order))).size;
  expect(distinct((order) => order.map(rateOf).join())).toBeGreaterThan(20);
  const targets = (order: typeof turns) => order.map(({ target }) => target);
  const isAlike = (order: typeof turns) =>
    targets(order).every((target, index) => target === targets(order)[index % TARGETS.length]);
  expect(orders.filter(isAlike).length).toBeLessThan(4);
  expect(orderOf(7)).toEqual(orderOf(7));
  expect(new Set(orders.map((order) => targets(order)[0]))).toEqual(new Set(TARGETS));
});
