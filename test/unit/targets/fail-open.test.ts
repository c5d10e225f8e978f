import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { asRequestLimiter, FAIL_OPEN_AFTER_MS, failOpen } from "../../../src/targets/request-limiter.js";
import { describeClient, resolveTarget } from "../../../src/targets/resolve.js";
import type { Decision } from "../../../src/targets/types.js";
import { ALLOWED, FAILED, limited } from "../../helpers/app.js";
import { targetOf } from "../../helpers/target.js";

const opening = (decide: (key: string) => Promise<Decision>) =>
  failOpen(asRequestLimiter({ standard: { consume: decide }, exhausted: { consume: decide } }));

describe("a limiter that fails open", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("keeps every decision in time", async () => {
    const limiter = opening(async (key) => (key === "a" ? ALLOWED : limited(5)));
    expect(await limiter.consume("a")).toEqual(ALLOWED);
    expect(await limiter.consume("b")).toEqual(limited(5));
    expect(limiter.consumes).toEqual({ calls: 2, allowed: 1, limited: 1, failed: 0, without_store: 0 });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("admits what has failed, and counts it apart", async () => {
    const limiter = opening(async () => FAILED);
    expect(await limiter.consume("a")).toEqual(ALLOWED);
    expect(await limiter.consume(["b", "c"])).toEqual(ALLOWED);
    expect(limiter.consumes).toEqual({ calls: 3, allowed: 3, limited: 0, failed: 0, without_store: 3 });
  });

  test("admits after a bounded wait, whatever is decided later", async () => {
    let decide: (decision: Decision) => void = () => {};
    const limiter = opening(() => new Promise((resolve) => (decide = resolve)));
    const settled = vi.fn();
    const asked = limiter.consume("a").then(settled);
    await vi.advanceTimersByTimeAsync(FAIL_OPEN_AFTER_MS - 1);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await asked;
    expect(settled).toHaveBeenCalledWith(ALLOWED);
    expect(limiter.consumes).toMatchObject({ calls: 1, allowed: 1, failed: 0, without_store: 1 });
    decide(FAILED);
    await vi.advanceTimersByTimeAsync(0);
    expect(limiter.consumes).toMatchObject({ allowed: 1, failed: 0, without_store: 1 });
  });
});

describe("+fail-open", () => {
  test.each([
    "iovalkey",
    "valkey-glide:cluster",
    "memcached",
    "ioredis+fastify-rate-limit",
    "ioredis+redis-cell",
    "envoy-grpc",
    "ioredis@throttlecrab",
  ])("is an option of %s", (text) => {
    const target = targetOf(`${text}+fail-open`, () => true);
    expect(describeClient(target).failsOpen).toBe(true);
    expect(describeClient({ ...target, options: [] })).not.toHaveProperty("failsOpen");
  });

  test.each([
    ["none", "no store that could fail"],
    ["memory", "no store that could fail"],
    ["ioredis+insurance-limiter", "its insurance limiter decides"],
  ])("is skipped for %s with the reason", (text, reason) => {
    expect(resolveTarget(`${text}+fail-open`, () => true)).toEqual({ skip: expect.stringContaining(reason) });
  });
});
