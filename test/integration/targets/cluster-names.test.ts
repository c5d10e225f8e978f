import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { probeReportSchema } from "../../../src/contract/store.js";
import type { StoreAccess } from "../../../src/contract/store-url.js";
import { freePort } from "../../../src/runtimes/local/ports.js";
import { clients } from "../../../src/targets/clients/index.js";
import { TestCluster } from "../../helpers/cluster.js";
import { needs } from "../../helpers/needs.js";
import { probe } from "../../helpers/nodes.js";
import { ROOT } from "../../helpers/programs.js";
import { until } from "../../helpers/store.js";

const tls = (file: string) => join(ROOT, "test/fixtures/tls", file);
const CLIENTS = ["iovalkey", "ioredis", "node-redis", "valkey-glide"];

/** What the probe says of the store at an address; it must end well. */
async function reported(actions: readonly string[], env: Readonly<Record<string, string>>) {
  const { code, stdout, stderr } = await probe(actions, { PROBE_TOPOLOGY: "cluster", ...env });
  if (code !== 0) throw new Error(`the probe ended with ${code}: ${stderr}`);
  return probeReportSchema.parse(JSON.parse(stdout));
}

/**
 * The probe finds these hosts by the URL, reads all nodes under them, and every client reaches
 * every primary.
 */
async function expectHosts(
  url: string,
  hosts: readonly string[],
  access: StoreAccess = {},
  kind = "valkey",
  more: Readonly<Record<string, string>> = {},
  ids = CLIENTS,
): Promise<void> {
  const env = { STORE_URL: url, PROBE_STORE: kind, ...more };
  const { discovered } = await reported(["discover"], env);
  const nodes = discovered?.nodes ?? [];
  expect(nodes.map(({ host }) => host)).toEqual(hosts);
  expect(discovered?.topology).toBe("cluster");
  const PROBE_NODES = nodes.map(({ host, port }) => `${host}:${port}`).join(",");
  expect((await reported(["ready", "read"], { ...env, PROBE_NODES })).readings).toHaveLength(6);
  for (const id of ids) {
    const description = clients.find((client) => client.id === id);
    const client = await description?.open({ store: kind, topology: "cluster", nodes, access });
    if (!client) throw new Error(`there is no client ${id}`);
    try {
      const keys = await client.shardKeys();
      expect(keys, id).toHaveLength(3);
      for (const key of keys)
        expect(String(await client.command?.(key, "SET", key, id)), id).toBe("OK");
    } finally {
      await client.close();
    }
  }
}

const six = (host: string): string[] => Array.from({ length: 6 }, () => host);

/** Sets it on every node, and waits until all announce what is wanted. */
async function configure(
  cluster: TestCluster,
  name: string,
  value: string,
  wanted: RegExp,
): Promise<void> {
  for (const node of cluster.nodes)
    await node.ask((store) => store.call("CONFIG", "SET", name, value));
  for (const node of cluster.nodes) {
    await until(async () => {
      const slots = await node.ask((store) => store.call("CLUSTER", "SLOTS"));
      const addresses = (slots as [number, number, ...[string | null][]][]).flatMap(
        ([, , ...nodes]) => nodes,
      );
      return addresses.length === 6 && addresses.every(([host]) => wanted.test(String(host)));
    });
  }
}

test("names that a cluster announces are kept; none, and an unknown one, is the host that was asked", async () => {
  const cluster = await TestCluster.start();
  onTestFinished(() => cluster.stop());
  const port = cluster.nodes[0]?.port;
  await configure(cluster, "cluster-preferred-endpoint-type", "hostname", /^\?$/);
  // valkey-glide refuses a cluster that announces unknown names.
  await expectHosts(
    `redis://localhost:${port}`,
    six("localhost"),
    {},
    "valkey",
    {},
    CLIENTS.slice(0, 3),
  );
  await configure(cluster, "cluster-announce-hostname", "localhost", /^localhost$/);
  await expectHosts(`redis://127.0.0.1:${port}`, six("localhost"));
  await configure(cluster, "cluster-preferred-endpoint-type", "unknown-endpoint", /^(null)?$/);
  await expectHosts(`redis://localhost:${port}`, six("localhost"));
});

test(
  "a cluster whose certificate holds for its names alone is probed and reached by every client under them",
  needs(["redis"]),
  async () => {
    const arguments_ = (port: string) => [
      "--tls-port",
      port,
      "--cluster-announce-port",
      port,
      "--tls-auth-clients",
      "no",
      "--tls-replication",
      "yes",
      "--tls-cert-file",
      tls("cert.pem"),
      "--tls-key-file",
      tls("key.pem"),
      "--tls-ca-cert-file",
      tls("ca.pem"),
      "--bind",
      "127.0.0.1",
      "127.0.0.2",
      // The certificate does not hold for this address.
      "--cluster-announce-ip",
      "127.0.0.2",
      "--cluster-announce-hostname",
      "localhost",
    ];
    const cluster = await TestCluster.start("redis", async () =>
      arguments_(String(await freePort())),
    );
    onTestFinished(() => cluster.stop());
    await configure(cluster, "cluster-preferred-endpoint-type", "hostname", /^localhost$/);
    const { nodeArguments = [] } = cluster.nodes[0] ?? {};
    const url = `rediss://localhost:${nodeArguments[nodeArguments.indexOf("--tls-port") + 1]}`;
    const access = { tls: { ca: readFileSync(tls("ca.pem"), "utf8") } };
    await expectHosts(url, six("localhost"), access, "redis", { STORE_CA: tls("ca.pem") });
  },
);
