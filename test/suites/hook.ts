import { expect, test } from "vitest";
import { readConfig } from "../../src/server/config/index.js";
import { ownLibraries } from "../../src/targets/libraries.js";
import { asRequestLimiter } from "../../src/targets/request-limiter.js";
import { findClient, findLimiter } from "../../src/targets/resolve.js";
import { served } from "../helpers/app.js";
import { pairOf } from "../helpers/limiter-pair.js";
import { targetOf } from "../helpers/target.js";

const POINTS = 3;

/**
 * What a limiter does that decides in a hook of its framework.
 * @param id of the limiter
 * @param libraries that it and its framework are loaded from
 */
export function hookContract(MODE: string, id: string, libraries = ownLibraries): void {
  const library = findLimiter(id);

  /**
   * The app behind the library's own hook, over its store in memory or over a handle of ioredis's
   * kind.
   */
  async function hookedApp(answer?: () => Error) {
    const { spec } = readConfig({ MODE, RUN_NONCE: "nonce-1" });
    const target = targetOf(spec.target.text);
    const memory = findClient("memory");
    const client = await memory.open({ store: "memory", topology: "none", nodes: [] });
    const handle = {
      defineCommand: (name: string) =>
        Object.assign(handle, {
          [name]: (...args: readonly unknown[]) =>
            (args.at(-1) as (error: Error | null, result?: unknown) => void)(
              isOpen ? null : (answer?.() ?? null),
              [1, 1],
            ),
        }),
      call: async (command: string) => {
        const error = isOpen ? undefined : answer?.();
        if (error) throw error;
        return { SCRIPT: "sha", EVALSHA: [1, 60_000], eval: [1, 60_000, 0, 0] }[command];
      },
      del: async () => 1,
    };
    let isOpen = true;
    const description = answer ? findClient("ioredis") : memory;
    const limits = { points: POINTS, window_s: 60, block_s: 0 };
    const opened = answer ? { ...client, handle, shardKeys: async () => ["a"] } : client;
    const created = pairOf(await library.create(opened, description, limits, "rl", libraries));
    isOpen = false;
    return served(
      {
        spec,
        target,
        client: { settings: {}, storeVersion: async () => undefined },
        limiter: asRequestLimiter(created),
        framework: { version: "5.0.0" },
      },
      libraries.fromFolder,
    );
  }

  test("the library's own hook decides, with its own answers, and every decision is counted once", async () => {
    const { get, usage } = await hookedApp();
    const codes = [];
    const left = [];
    for (let n = 0; n < POINTS + 1; n++) {
      const { statusCode, headers } = await get("/light?userId=a");
      codes.push(statusCode);
      // Not all libraries say it in a denial.
      if (statusCode === 200) left.push(headers["x-ratelimit-remaining"]);
    }
    expect(codes).toEqual([200, 200, 200, 429]);
    const denied = await get("/heavy?userId=a");
    expect(left).toEqual(["2", "1", "0"]);
    expect(Number(denied.headers["retry-after"])).toBeGreaterThan(0);
    expect((await get("/light?userId=exhausted-1")).statusCode).toBe(429);
    expect((await get("/light?userId=")).statusCode).toBe(400);
    expect(await usage()).toMatchObject({
      requests: POINTS + 4,
      in_flight: 0,
      consumes: { calls: POINTS + 3, allowed: POINTS, limited: 3, failed: 0 },
    });
  });

  test("the keys of a request with several are all decided on", async () => {
    const { get, usage } = await hookedApp();
    expect((await get("/light?userId=a&userId=b")).statusCode).toBe(200);
    expect((await get("/light?userId=b&userId=exhausted-1")).statusCode).toBe(429);
    expect(await usage()).toMatchObject({
      in_flight: 0,
      consumes: { calls: 4, allowed: 3, limited: 1, failed: 0 },
    });
  });

  test("a store that fails is no denial", async () => {
    const { get, usage } = await hookedApp(() => new Error("the store hung up"));
    expect((await get("/light?userId=a")).statusCode).toBe(503);
    expect(await usage()).toMatchObject({
      in_flight: 0,
      consumes: { calls: 1, allowed: 0, limited: 0, failed: 1 },
    });
  });
}
