import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { TestServer } from "../../helpers/server.js";
import { TestStore, until } from "../../helpers/store.js";
import { glideSockets } from "../../suites/open-target.js";

const POINTS = 50;
const count = (statuses: readonly number[], status: number) =>
  statuses.filter((candidate) => candidate === status).length;

/**
 * What every client must do is in test/suites/client.ts; here is what the server makes of one of
 * them.
 */
const CLIENT = "iovalkey";

describe("a server on a Valkey of one node", () => {
  let store: TestStore;

  const start = (environment: Record<string, string> = {}) =>
    TestServer.start({
      MODE: `${CLIENT}@valkey`,
      VALKEY_PORT: String(store.port),
      RATE_LIMIT_POINTS: String(POINTS),
      RATE_LIMIT_DURATION: "600",
      RUN_NONCE: "test-run",
      ...environment,
    });

  beforeAll(async () => {
    store = await TestStore.start();
  });
  afterAll(() => store.stop());

  // One that leaves sockets in /tmp, and one that does not.
  test.each(["valkey-glide", CLIENT])(
    "with %s says who it is, which script decides, and what it was built of",
    async (id) => {
      const running = await start({ MODE: `${id}@valkey+same-script` });
      onTestFinished(() => void running.stop());
      const health = await running.health();
      expect(health.target.text).toBe(`${id}@valkey:standalone+same-script`);
      expect(health).toMatchObject({
        run_nonce: "test-run",
        limits: { points: POINTS, window_s: 600 },
      });
      expect(health.versions.client).toMatch(/^\d+\.\d+\.\d+/);
      const info = await store.ask((connection) => connection.info("server"));
      expect(info).toContain(`valkey_version:${health.versions.store}\r\n`);
      expect(health.client_settings).toMatchObject({ protocol: "RESP2", request_timeout_ms: 5000 });
      const sha1 = health.limiter_script?.name_or_sha1 ?? "";
      expect(await store.ask((connection) => connection.script("EXISTS", sha1))).toEqual([1]);
      const { pid } = running.process;
      expect(await running.stop()).toMatchObject({ code: 0, stderr: "" });
      expect(glideSockets(pid ?? 0)).toEqual([]);
    },
  );

  test("answers what a client declares that does not survive a restart of the store: 503", async () => {
    const running = await start({ MODE: "valkey-glide" });
    onTestFinished(() => void running.stop());
    await store.kill();
    await store.run();
    await until(async () => (await running.request("/healthz")).status === 200);
    expect((await running.request("/light?userId=a")).status).toBe(503);
  });

  describe("that runs", () => {
    let running: TestServer;
    beforeAll(async () => {
      running = await start({ RATE_LIMIT_POINTS: "1000000" });
    });
    afterAll(() => running?.stop());

    const consumed = async () => (await running.usage()).consumes;
    const noneRefused = (calls: number) => ({ calls, allowed: calls, limited: 0, failed: 0 });

    test("keeps a request in flight until its consume is finished, also when its client is gone", async () => {
      store.pause();
      const gone = new AbortController();
      const request = running.request("/light?userId=a", gone.signal);
      await until(async () => (await running.usage()).in_flight === 1);
      gone.abort();
      await expect(request).rejects.toThrow("aborted");
      expect((await running.usage()).in_flight).toBe(1);
      store.resume();
      await until(async () => (await running.usage()).in_flight === 0);
      expect(await consumed()).toEqual(noneRefused(1));
    });

    test("serves 2000 connections at once without an error, all with a consume under way", async () => {
      const before = (await consumed())?.calls ?? 0;
      const wave = () => running.statuses(2000, (n) => `/light?userId=${n % 100}`);
      expect(count(await wave(), 200)).toBe(2000);
      // The connections are open now: a store that stands still for a moment lets all their
      // consumes pile up.
      store.pause();
      const statuses = wave();
      await until(async () => (await running.usage()).in_flight === 2000);
      store.resume();
      expect(count(await statuses, 200)).toBe(2000);
      expect(await consumed()).toEqual(noneRefused(before + 4000));
    });

    test("answers 503 when the store died, never 429, and works again once it is back", async () => {
      await store.kill();
      const statuses = await running.statuses(50, (n) => `/light?userId=${n}`);
      expect(count(statuses, 503)).toBe(50);
      expect((await running.request("/healthz")).status).toBe(503);
      await store.run();
      await until(async () => (await running.request("/healthz")).status === 200);
      await until(async () => (await running.request("/light?userId=a")).status === 200);
      expect((await running.stop()).code).toBe(0);
    });
  });
});
