import { RateLimiterRedis } from "rate-limiter-flexible";
import { expect, test, vi } from "vitest";
import { type GlideClasses, glideAsIoredis } from "../../../src/targets/clients/valkey-glide.js";

/** A script of the library's kind: it must be given back. */
class FakeScript {
  static readonly live = new Set<FakeScript>();
  readonly code: string;
  constructor(code: string) {
    this.code = code;
    FakeScript.live.add(this);
  }
  getHash(): string {
    return "";
  }
  release(): void {
    FakeScript.live.delete(this);
  }
}

/** A glide client that notes what it is asked, and a limiter over it. */
function fake(answers: { script?: unknown; exec?: unknown[] | null } = {}) {
  const written: unknown[][] = [];
  const note =
    (name: string) =>
    (...words: unknown[]) => {
      written.push([name, ...words.filter((word) => word !== undefined)]);
    };
  const batch = { set: note("set"), incrBy: note("incrBy"), get: note("get"), pttl: note("pttl") };
  const client = {
    invokeScript: vi.fn(async () => answers.script ?? [1, 60_000]),
    del: vi.fn(async () => 1),
    exec: vi.fn(async () => (answers.exec === undefined ? ["OK", 60_000] : answers.exec)),
  };
  const classes = { Script: FakeScript, batch: () => batch } as unknown as GlideClasses;
  const shim = glideAsIoredis(client as unknown as Parameters<typeof glideAsIoredis>[0], classes);
  const limiter = (points: number, blockDuration = 0) =>
    new RateLimiterRedis({
      storeClient: shim,
      points,
      duration: 60,
      blockDuration,
      keyPrefix: "rl",
    });
  return { client, shim, written, limiter };
}

test("a block, a read, a delete and a key without expiry keep the order of the class", async () => {
  const { client, limiter, written } = fake({ script: [2, 60_000] });
  await expect(limiter(1, 4_000).consume("ada")).rejects.toMatchObject({ msBeforeNext: 4_000_000 });
  expect(written).toEqual([
    ["set", "rl:ada", "2", { expiry: { type: "EX", count: 4_000 } }],
    ["pttl", "rl:ada"],
  ]);
  expect(client.exec).toHaveBeenCalledExactlyOnceWith(expect.anything(), true);
  await limiter(1).delete("ada");
  expect(client.del).toHaveBeenCalledExactlyOnceWith(["rl:ada"]);
});

test("a transaction that was not executed is an error, not an answer", async () => {
  const { limiter } = fake({ script: [2, 60_000], exec: null });
  await expect(limiter(1, 10).consume("ada")).rejects.toThrow("not executed");
});

test("every script is released, even one that was defined twice", () => {
  const { shim, limiter } = fake();
  FakeScript.live.clear();
  limiter(1);
  limiter(0);
  expect(FakeScript.live.size).toBe(1);
  shim.release();
  expect(FakeScript.live.size).toBe(0);
});
