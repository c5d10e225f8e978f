import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { TestCluster } from "../../helpers/cluster.js";
import { TestServer } from "../../helpers/server.js";

const POINTS = 20;

/** One client: what every client must do in a cluster is in test/suites/client.ts. */
describe("a server on a Valkey cluster", () => {
  let cluster: TestCluster;
  let server: TestServer | undefined;

  const start = async (environment: Record<string, string> = {}) => {
    server = await TestServer.start({
      MODE: "iovalkey",
      USE_VALKEY_CLUSTER: "true",
      VALKEY_CLUSTER_NODES: cluster.addresses,
      RATE_LIMIT_POINTS: String(POINTS),
      ...environment,
    });
    return server;
  };

  beforeAll(async () => {
    cluster = await TestCluster.start();
  });
  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });
  afterAll(() => cluster?.stop());

  test("is told of it by its environment, admits exactly the points, and the counts reconcile", async () => {
    const running = await start();
    const health = await running.health();
    expect(health.target.text).toBe("iovalkey@valkey:cluster");
    const info = await cluster.nodes[0]?.ask((store) => store.info("server"));
    expect(info).toContain(`valkey_version:${health.versions.store}\r\n`);
    for (const node of cluster.primaries) await node.ask((store) => store.config("RESETSTAT"));
    const statuses = await running.statuses(10 * 2 * POINTS, (n) => `/light?userId=user-${n % 10}`);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10 * POINTS);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10 * POINTS);
    const calls = await Promise.all(cluster.primaries.map((node) => node.scriptCalls()));
    expect(calls.reduce((total, { evalsha }) => total + evalsha, 0)).toBe(10 * 2 * POINTS);
    expect((await running.usage()).consumes).toEqual({
      calls: 10 * 2 * POINTS,
      allowed: 10 * POINTS,
      limited: 10 * POINTS,
      failed: 0,
    });
    expect(await running.stop()).toMatchObject({ code: 0, stderr: "" });
  });

  test("serves 2000 connections at once without an error", async () => {
    const running = await start({ RATE_LIMIT_POINTS: "1000000" });
    const statuses = await running.statuses(2000, (n) => `/light?userId=${n % 500}`);
    expect(statuses.filter((status) => status === 200)).toHaveLength(2000);
  });
});
