import { expect, test } from "vitest";
import { ownLibraries } from "../../../src/targets/libraries.js";
import { fastifyRateLimit } from "../../../src/targets/limiters/fastify-rate-limit.js";
import { findClient } from "../../../src/targets/resolve.js";
import { pairOf } from "../../helpers/limiter-pair.js";

const LIMITS = { points: 3, window_s: 60, block_s: 0 };
const memory = findClient("memory");

async function inMemory() {
  const client = await memory.open({ store: "memory", topology: "none", nodes: [] });
  const created = await fastifyRateLimit.create(client, memory, LIMITS, "rl", ownLibraries);
  return pairOf(created);
}

test("an exhausted key is denied at its first consume, and reports the same limit as other keys", async () => {
  const { exhausted } = await inMemory();
  expect(await exhausted.consume("fresh")).toMatchObject({
    outcome: "limited",
    limit: 3,
    remaining: 0,
  });
});

test("more keys than the library's default capacity are counted in memory", async () => {
  const { standard } = await inMemory();
  for (let round = 0; round < LIMITS.points; round++) {
    for (let index = 0; index < 6_000; index++) await standard.consume(`user-${index}`);
  }
  expect((await standard.consume("user-0")).outcome).toBe("limited");
});

test("a cost other than one is a failure that says so, and counts nothing", async () => {
  const { standard } = await inMemory();
  expect(await standard.consume("a", 2)).toMatchObject({
    outcome: "failed",
    error: new Error("@fastify/rate-limit counts requests: a cost of 2 is not possible"),
  });
  const outcomes = [];
  for (let index = 0; index < 4; index++) outcomes.push((await standard.consume("a", 1)).outcome);
  expect(outcomes).toEqual(["allowed", "allowed", "allowed", "limited"]);
});
