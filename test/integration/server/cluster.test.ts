import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { TestCluster } from "../../helpers/cluster.js";
import { TestServer } from "../../helpers/server.js";
import { until } from "../../helpers/store.js";

const POINTS = 20;
const CLIENTS = ["valkey-glide", "iovalkey", "ioredis"];

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.start();
});
afterAll(() => cluster?.stop());

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
const onPrimaries = <Answer>(ask: (node: TestCluster["primaries"][number]) => Promise<Answer>) =>
  Promise.all(cluster.primaries.map(ask));

describe.each(CLIENTS)("%s on a Valkey cluster", (client) => {
  let server: TestServer | undefined;

  const start = async (environment: Record<string, string> = {}) => {
    server = await TestServer.start({
      MODE: `${client}@valkey`,
      USE_VALKEY_CLUSTER: "true",
      VALKEY_CLUSTER_NODES: cluster.addresses,
      RATE_LIMIT_POINTS: String(POINTS),
      RATE_LIMIT_DURATION: "600",
      ...environment,
    });
    return server;
  };

  afterEach(async () => {
    await server?.stop();
    server = undefined;
    await onPrimaries((node) => node.ask((store) => store.flushall()));
  });

  test("has its script on every primary when it starts, and no key", async () => {
    expect((await (await start()).health()).target).toMatchObject({ client, topology: "cluster" });
    expect(await onPrimaries((node) => node.ask((store) => store.dbsize()))).toEqual([0, 0, 0]);
    await onPrimaries((node) => node.ask((store) => store.config("RESETSTAT")));
    // Cold connections would show here: their commands fail while they open, or carry the whole script.
    const statuses = await server?.statuses(300, (n) => `/light?userId=${n}`);
    expect(new Set(statuses)).toEqual(new Set([200]));
    for (const stats of await onPrimaries((node) => node.ask((store) => store.info("commandstats")))) {
      expect(stats).toMatch(/cmdstat_(evalsha|fcall):/);
      expect(stats).not.toMatch(/cmdstat_(eval:|script|function)/);
    }
  });

  test("admits exactly the points of each key, and the counts reconcile over the primaries", async () => {
    const running = await start();
    await onPrimaries((node) => node.ask((store) => store.config("RESETSTAT")));
    const statuses = await running.statuses(10 * 2 * POINTS, (n) => `/light?userId=user-${n % 10}`);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10 * POINTS);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10 * POINTS);
    expect((await running.usage()).in_flight).toBe(0);
    const calls = await onPrimaries((node) => node.scriptCalls());
    expect(sum(calls)).toBe(10 * 2 * POINTS);
    expect(Math.min(...calls)).toBeGreaterThan(0);
  });

  test("serves 2000 connections at once without an error", async () => {
    const running = await start({ RATE_LIMIT_POINTS: "1000000" });
    const statuses = await running.statuses(2000, (n) => `/light?userId=${n % 500}`);
    expect(statuses.filter((status) => status === 200)).toHaveLength(2000);
  });

  test("names its store's version and ends with 0", async () => {
    const running = await start();
    const info = await cluster.nodes[0]?.ask((store) => store.info("server"));
    expect(info).toContain(`valkey_version:${(await running.health()).versions.store}\r\n`);
    expect(await running.stop()).toMatchObject({ code: 0, stderr: "" });
  });
});

test("each client answers 503 while the whole cluster is gone, never 429, and does not crash", async () => {
  const servers = await Promise.all(
    CLIENTS.map((client) =>
      TestServer.start({ MODE: `${client}@valkey:cluster`, VALKEY_CLUSTER_NODES: cluster.addresses }),
    ),
  );
  await Promise.all(cluster.nodes.map((node) => node.kill()));
  for (const server of servers) {
    await until(async () => (await server.request("/light")).status === 503);
    const statuses = await server.statuses(20, (n) => `/light?userId=${n}`);
    expect(new Set(statuses)).toEqual(new Set([503]));
    expect(await server.stop()).toMatchObject({ code: 0 });
  }
});
