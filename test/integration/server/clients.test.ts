import { readdirSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findClient } from "../../../src/targets/resolve.js";
import { TestServer } from "../../helpers/server.js";
import { TestStore, until } from "../../helpers/store.js";

const POINTS = 50;
const count = (statuses: readonly number[], status: number) =>
  statuses.filter((each) => each === status).length;

describe.each(["valkey-glide", "iovalkey", "ioredis"])("%s on a Valkey of one node", (client) => {
  let store: TestStore;
  let server: TestServer | undefined;

  const start = async (environment: Record<string, string> = {}) => {
    server = await TestServer.start({
      MODE: `${client}@valkey`,
      VALKEY_PORT: String(store.port),
      RATE_LIMIT_POINTS: String(POINTS),
      RATE_LIMIT_DURATION: "600",
      RUN_NONCE: "test-run",
      ...environment,
    });
    return server;
  };

  beforeAll(async () => {
    store = await TestStore.start();
  });
  afterEach(async () => {
    await server?.stop();
    server = undefined;
    await store.ask((connection) => connection.flushall());
  });
  afterAll(() => store.stop());

  test("says who it is, with the versions that run", async () => {
    const health = await (await start()).health();
    expect(health).toMatchObject({ run_nonce: "test-run", target: { client, store: "valkey" } });
    expect(health.versions.client).toMatch(/^\d+\.\d+\.\d+/);
    const info = await store.ask((connection) => connection.info("server"));
    expect(info).toContain(`valkey_version:${health.versions.store}\r\n`);
    expect(health.client_settings).toMatchObject({ protocol: "RESP2", request_timeout_ms: 5000 });
  });

  test("speaks the protocol and sets the socket as it says", async () => {
    await start();
    const list = await store.ask(async (connection) => String(await connection.client("LIST")));
    const own = list.split("\n").filter((line) => /cmd=(?!client)/.test(line));
    expect(own).toHaveLength(1);
    expect(own[0]).toContain("resp=2");
  });

  test("leaves no key in the store when it starts, and has its script loaded", async () => {
    const { target } = await (await start()).health();
    expect(target.text).toBe(`${client}@valkey:standalone`);
    expect(await store.ask((connection) => connection.dbsize())).toBe(0);
    await store.ask((connection) => connection.config("RESETSTAT"));
    await server?.request("/light?userId=first");
    const stats = await store.ask((connection) => connection.info("commandstats"));
    // Neither the full script text (EVAL) nor the loading of a function is left to the measured load.
    expect(stats).toMatch(/cmdstat_(evalsha|fcall):calls=1,/);
    expect(stats).not.toMatch(/cmdstat_(eval:|script|function)/);
  });

  test("admits exactly the points of a key among many requests at once, and the counts reconcile", async () => {
    const running = await start();
    await store.ask((connection) => connection.config("RESETSTAT"));
    const statuses = await running.statuses(400, (n) => `/light?userId=${n % 2 ? "odd" : "even"}`);
    expect(count(statuses, 200)).toBe(2 * POINTS);
    expect(count(statuses, 429)).toBe(400 - 2 * POINTS);
    const usage = await running.usage();
    expect(usage).toMatchObject({
      requests: 400,
      in_flight: 0,
      consumes: { allowed: 2 * POINTS, limited: 400 - 2 * POINTS, failed: 0 },
    });
    expect(await store.scriptCalls()).toBe(400);
  });

  test("counts each descriptor of a request", async () => {
    const running = await start();
    await store.ask((connection) => connection.config("RESETSTAT"));
    const admitted = await running.request("/light?userId=a&userId=b&userId=c");
    const denied = await running.request("/light?userId=a&userId=exhausted-b");
    expect([admitted.status, denied.status]).toEqual([200, 429]);
    expect((await running.usage()).consumes).toEqual({ allowed: 4, limited: 1, failed: 0 });
    expect(await store.scriptCalls()).toBe(5);
  });

  test("denies an exhausted key at its first consume", async () => {
    const answer = await (await start()).request("/light?userId=exhausted-1");
    expect(answer.status).toBe(429);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(500);
    expect(answer.headers["x-ratelimit-remaining"]).toBe("0");
    expect(await store.ask((connection) => connection.dbsize())).toBe(1);
  });

  test("blocks a key for the block duration once it is exceeded", async () => {
    const running = await start({ RATE_LIMIT_POINTS: "1", RATE_LIMIT_BLOCK_DURATION: "4000" });
    await running.request("/light?userId=a");
    const denied = await running.request("/light?userId=a");
    expect(denied.status).toBe(429);
    expect(Number(denied.headers["retry-after"])).toBe(4000);
  });

  test("serves 2000 connections at once without an error, all with a consume under way", async () => {
    const running = await start({ RATE_LIMIT_POINTS: "1000000" });
    const wave = () => running.statuses(2000, (n) => `/light?userId=${n % 100}`);
    expect(count(await wave(), 200)).toBe(2000);
    // The connections are open now: a store that stands still for a moment lets all their consumes pile up.
    store.pause();
    const statuses = wave();
    await until(async () => (await running.usage()).in_flight === 2000);
    store.resume();
    expect(count(await statuses, 200)).toBe(2000);
    expect((await running.usage()).consumes).toEqual({ allowed: 4000, limited: 0, failed: 0 });
  });

  test("keeps a request in flight until its consume is finished, also when its client is gone", async () => {
    const running = await start();
    store.pause();
    const gone = new AbortController();
    const request = running.request("/light?userId=a", gone.signal);
    await until(async () => (await running.usage()).in_flight === 1);
    gone.abort();
    await expect(request).rejects.toThrow("aborted");
    expect((await running.usage()).in_flight).toBe(1);
    store.resume();
    await until(async () => (await running.usage()).in_flight === 0);
    expect((await running.usage()).consumes).toEqual({ allowed: 1, limited: 0, failed: 0 });
  });

  test("answers 503 while the store hangs, and works again once it answers", async () => {
    const running = await start();
    store.pause();
    try {
      expect((await running.request("/light?userId=a")).status).toBe(503);
    } finally {
      store.resume();
    }
    await until(async () => (await running.request("/light?userId=b")).status === 200);
    expect((await running.usage()).consumes?.failed).toBeGreaterThanOrEqual(1);
  });

  test("answers 503 when the store died, and after its restart what the client declares", async () => {
    const running = await start();
    await store.kill();
    const statuses = await running.statuses(50, (n) => `/light?userId=${n}`);
    expect(count(statuses, 503)).toBe(50);
    expect((await running.request("/healthz")).status).toBe(503);
    await store.run();
    await until(async () => (await running.request("/healthz")).status === 200);
    if (findClient(client).survivesStoreRestart) {
      await until(async () => (await running.request("/light?userId=a")).status === 200);
    } else {
      expect((await running.request("/light?userId=a")).status).toBe(503);
    }
    expect((await running.stop()).code).toBe(0);
  });

  test("ends with 0 on SIGTERM and leaves no socket behind", async () => {
    const running = await start();
    await running.request("/light");
    const { pid } = running.process;
    expect(await running.stop()).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync("/tmp").filter((name) => name.startsWith(`glide-socket-${pid}-`))).toEqual([]);
    await until(async () => /connected_clients:1\r/.test(await store.ask((each) => each.info("clients"))));
  });
});
