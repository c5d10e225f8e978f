import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ProbeRequest, SERVE } from "../../../../src/contract/probe-env.js";
import { type ProbeReport, probeReportSchema } from "../../../../src/contract/store.js";
import { freePort } from "../../../../src/runtimes/local/ports.js";
import { LineClient } from "../../../../src/runtimes/part-output.js";
import type { Decision } from "../../../../src/targets/target-types.js";
import { needs } from "../../../helpers/needs.js";
import { clusterNodes, placesOf, probe, standaloneNode } from "../../../helpers/nodes.js";
import { ROOT } from "../../../helpers/programs.js";
import { TestStore, until } from "../../../helpers/store.js";
import { targetOf } from "../../../helpers/target.js";
import { countOutcomes, withOpenTargets } from "../../../suites/open-target.js";

/**
 * A probe waits so long for what never comes: a busy machine must have asked each node by then, or
 * it tells another reason.
 */
const WAIT_S = "3";

/** What the probe reports; it must end well. */
async function reported(
  actions: readonly string[],
  env: Record<string, string>,
): Promise<ProbeReport> {
  const { code, stdout, stderr } = await probe(actions, env);
  if (code !== 0) throw new Error(`the probe ended with ${code}: ${stderr}`);
  return probeReportSchema.parse(JSON.parse(stdout));
}

/** Of the first node. */
const cpuUs = ({ readings: [first] = [] }: ProbeReport) =>
  (first?.cpu_user_us ?? 0) + (first?.cpu_system_us ?? 0);

const decisions = ({ readings = [] }: ProbeReport) =>
  readings.reduce((sum, reading) => sum + (reading.decisions ?? Number.NaN), 0);
const keys = ({ readings = [] }: ProbeReport) =>
  readings.map((reading) => reading.keys ?? Number.NaN);

describe("a standalone store", () => {
  test("is emptied and its statistics reset; what happens then is counted exactly [R-keys-2]", async () => {
    const node = await standaloneNode();
    const env = { PROBE_NODES: placesOf([node]) };
    await node.ask(async (store) => {
      await store.set("left", "over");
      await store.eval("return 1", 0);
    });
    const clean = await reported(["ready", "reset", "read", "settings"], env);
    expect(clean.flushed).toBe(true);
    expect([keys(clean), decisions(clean)]).toEqual([[0], 0]);
    const asked = {
      maxmemory: "1073741824",
      "maxmemory-policy": "volatile-lru",
      save: "",
      appendonly: "no",
    };
    expect(clean.settings).toMatchObject(asked);
    await node.ask(async (store) => {
      await store.evalsha("0".repeat(40), 0).catch(() => undefined);
      for (let n = 0; n < 7; n++)
        await store.eval("return redis.call('SET', KEYS[1], '1')", 1, `k${n}`);
    });
    const after = await reported(["read"], env);
    expect([keys(after), decisions(after)]).toEqual([[7], 7]);
    expect(after.readings?.[0]?.script_calls?.evalsha).toEqual({ calls: 1, failed: 1 });
    expect(after.readings?.[0]?.run_id).toBe(clean.readings?.[0]?.run_id);
    expect(after.readings?.[0]?.version).toMatch(/^\d+\.\d+\.\d+/);
  });

  test.each([
    ["CONFIG is unknown", '--rename-command CONFIG ""'],
    [
      "dangerous commands are not allowed",
      "--user default on nopass ~* &* +@all -@dangerous +info",
    ],
    [
      "only what is needed is allowed",
      "--user default on nopass ~* &* -@all +info +ping +eval +evalsha +script +set +flushall",
    ],
  ])("where %s is read without what is only recorded", async (_what, flags) => {
    const node = await TestStore.start(flags.split(" ").map((word) => word.replace('""', "")));
    onTestFinished(() => node.stop());
    await node.ask((store) => store.eval("return 1", 0));
    const actions = ["discover", "ready", "read", "settings", "modules", "diagnose"];
    const { discovered, readings, settings } = await reported(actions, {
      PROBE_NODES: placesOf([node]),
    });
    expect(discovered).toMatchObject({ store: "valkey", topology: "standalone" });
    expect(discovered?.memory).toEqual({ max_bytes: 0, policy: "noeviction" });
    expect(readings).toMatchObject([{ decisions: 1 }]);
    expect(settings).toEqual({});
  });

  test("of another kind than was said is refused, naming both [R-other-store-2]", async () => {
    const node = await standaloneNode();
    const { code, stderr } = await probe(["read"], {
      PROBE_NODES: placesOf([node]),
      PROBE_STORE: "redis",
    });
    expect(code).toBe(3);
    for (const word of [`127.0.0.1:${node.port}`, "valkey", "redis"])
      expect(stderr).toContain(word);
  });

  // Side by side, because each waits for as long as it may.
  test("that never comes, hangs, is no cluster or keeps its keys is refused with its node, in time [R-keys-1]", async () => {
    // It says that it was emptied, and was not.
    const renamed = [
      "--rename-command",
      "FLUSHALL",
      "GONE",
      "--rename-command",
      "TIME",
      "FLUSHALL",
    ];
    const keeper = await TestStore.start(renamed);
    onTestFinished(() => keeper.stop());
    await keeper.ask((store) => store.set("left", "over"));
    const [hung, alone] = [await standaloneNode(), await standaloneNode()];
    hung.pause();
    const cases: [action: string[], port: number, env: Record<string, string>, words: RegExp][] = [
      [["ready"], await freePort(), {}, /^[^\n]+\n$/],
      [["read"], hung.port, {}, /127/],
      [["ready"], alone.port, { PROBE_TOPOLOGY: "cluster" }, /cluster/],
      [["ready", "reset"], keeper.port, {}, /127/],
    ];
    await Promise.all(
      cases.map(async ([actions, port, env, words]) => {
        const place = `127.0.0.1:${port}`;
        const ended = await probe(actions, { PROBE_NODES: place, PROBE_TIMEOUT: WAIT_S, ...env });
        expect(ended).toMatchObject({
          code: 3,
          stdout: "",
          stderr: expect.stringContaining(place),
        });
        expect(ended.stderr).toMatch(words);
      }),
    );
    hung.resume();
  });
});

describe("a memcached", () => {
  const memcachedNode = async () => {
    const node = await TestStore.start(["-m", "64"], "memcached");
    onTestFinished(() => node.stop());
    return node;
  };
  const envOf = (node: TestStore) => ({ PROBE_STORE: "memcached", PROBE_NODES: placesOf([node]) });

  test(
    "is emptied and its statistics reset; decisions are counted exactly, also when clients race",
    needs(["memcached"]),
    async () => {
      const node = await memcachedNode();
      for (let n = 0; n < 50; n++) await node.tell(`set left-${n} 0 0 1\r\n1`);
      const clean = await reported(["ready", "reset", "read", "settings"], envOf(node));
      expect([clean.flushed, keys(clean), decisions(clean)]).toEqual([true, [0], 0]);
      const settings = { maxbytes: String(64 * 1024 ** 2), evictions: "on", udpport: "0" };
      expect(clean.settings).toMatchObject(settings);
      expect(clean.readings?.[0]).not.toHaveProperty("script_calls");
      const target = targetOf("memcached");
      const nodes = [{ host: "127.0.0.1", port: node.port }];
      const place = { store: "memcached", topology: "standalone", nodes };
      // Two clients, so that they race to create each key. Opening them consumed, too.
      const { consumes, opening } = await withOpenTargets(
        [target, target],
        place,
        async (opened) => {
          const opening = decisions(await reported(["read"], envOf(node))) ?? Number.NaN;
          const all: Promise<Decision>[] = [];
          for (let n = 0; n < 3_000; n++) {
            const limiter = opened[n % 2];
            if (limiter)
              all.push(
                limiter.standard.consume(`k${n % 300}`),
                limiter.exhausted.consume(`x${n % 30}`),
              );
          }
          const counted = countOutcomes(await Promise.all(all));
          expect(counted.failed).toBe(0);
          return { consumes: all.length, opening };
        },
      );
      const after = await reported(["read"], envOf(node));
      expect(decisions(after)).toBe(consumes + opening);
      // A counter and its expiry.
      expect(keys(after)).toEqual([2 * 330]);
      expect(after.readings?.[0]).toMatchObject({
        version: clean.readings?.[0]?.version,
        run_id: clean.readings?.[0]?.run_id,
        evicted_keys: 0,
      });
      expect(cpuUs(after)).toBeGreaterThan(cpuUs(clean));
    },
  );

  test("is another one after a restart, and never a cluster", needs(["memcached"]), async () => {
    const node = await memcachedNode();
    const before = await reported(["read"], envOf(node));
    await node.kill();
    await node.run();
    const after = await reported(["read"], envOf(node));
    expect(after.readings?.[0]?.run_id).not.toBe(before.readings?.[0]?.run_id);
    expect((await probe(["form"], envOf(node))).code).toBe(2);
  });

  test(
    "that hangs, and a store that is none, are told within the time-out",
    needs(["memcached"]),
    async () => {
      const node = await memcachedNode();
      const valkey = await standaloneNode();
      node.pause();
      await Promise.all(
        [node, valkey].map(async (store) => {
          const ended = await probe(["read"], { ...envOf(store), PROBE_TIMEOUT: WAIT_S });
          expect(ended).toMatchObject({
            code: 3,
            stderr: expect.stringContaining(`127.0.0.1:${store.port}`),
          });
        }),
      );
      node.resume();
    },
  );
});

/** A probe that serves, as the orchestrator holds it. */
function served(): {
  ask(request: Partial<ProbeRequest>): Promise<string | undefined>;
  child: ChildProcess;
} {
  const child = spawn(process.execPath, [join(ROOT, "dist/helpers/probe/index.js"), SERVE], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const client = new LineClient(child.stdin, child.stdout);
  const defaults = { timeout_s: 5 };
  return { ask: (request) => client.request(JSON.stringify({ ...defaults, ...request })), child };
}

describe("a probe that serves", () => {
  test("answers each line with one, in order, over fresh connections, and ends with its input", async () => {
    const node = await standaloneNode();
    const nodes = [{ host: "127.0.0.1", port: node.port }];
    const { ask, child } = served();
    const answers = await Promise.all([
      ask({ actions: ["ready"], nodes }),
      ask({ actions: ["reset", "read"], nodes }),
    ]);
    const [ready, clean] = answers.map((line) =>
      probeReportSchema.parse(JSON.parse(line ?? "null")),
    );
    expect(ready?.ready_in_s).toBeGreaterThanOrEqual(0);
    expect(clean?.flushed).toBe(true);
    // Between two requests the store has no connection of the probe's, once it has seen the end:
    // one is the test's own.
    await until(async () =>
      (await node.ask((store) => store.info("clients"))).includes("connected_clients:1\r\n"),
    );
    await node.ask((store) => store.set("a", "1"));
    const after = probeReportSchema.parse(
      JSON.parse((await ask({ actions: ["read"], nodes })) ?? "null"),
    );
    expect(keys(after)).toEqual([1]);
    const ended = once(child, "exit");
    child.stdin?.end();
    expect(await ended).toEqual([0, null]);
  });

  test("ends with the first request that fails, and says why", async () => {
    const port = await freePort();
    const { ask, child } = served();
    const [ended, said] = [once(child, "exit"), text(child.stderr as Readable)];
    expect(
      await ask({
        actions: ["read"],
        nodes: [{ host: "127.0.0.1", port }],
        timeout_s: Number(WAIT_S),
      }),
    ).toBe(undefined);
    expect(await ended).toEqual([3, null]);
    expect(await said).toMatch(new RegExp(`^[^\\n]*127.0.0.1:${port}[^\\n]*\\n$`));
  });

  test("ends at once when whoever asked is gone, also while it waits for a store", async () => {
    const port = await freePort();
    const { ask, child } = served();
    const ended = once(child, "exit");
    const answer = ask({
      actions: ["ready"],
      nodes: [{ host: "127.0.0.1", port }],
      timeout_s: 600,
    });
    child.stdin?.end();
    expect(await ended).toEqual([0, null]);
    expect(await answer).toBe(undefined);
  });
});

test("three empty nodes become a cluster without replicas, which is found as such", async () => {
  const nodes = await clusterNodes(3);
  const env = { PROBE_NODES: placesOf(nodes), PROBE_TOPOLOGY: "cluster-3" };
  const formed = await reported(["form", "ready", "reset", "read", "modules"], env);
  expect(keys(formed)).toEqual([0, 0, 0]);
  expect(formed.modules).toEqual({});
  for (const node of nodes) {
    const info = String(await node.ask((store) => store.call("CLUSTER", "INFO")));
    expect(info).toContain("cluster_state:ok");
    expect(info).toContain("cluster_known_nodes:3");
    expect(await node.ask((store) => store.info("replication"))).toMatch(
      /role:master\r\nconnected_slaves:0/,
    );
  }
  const { discovered } = await reported(["discover"], env);
  expect(discovered).toMatchObject({ topology: "cluster-3" });
  expect(discovered?.nodes).toHaveLength(3);
  // It is not the cluster with replicas, and a node less is no cluster.
  const other = await probe(["ready"], {
    ...env,
    PROBE_TOPOLOGY: "cluster",
    PROBE_TIMEOUT: WAIT_S,
  });
  expect(other).toMatchObject({ code: 3, stderr: expect.stringContaining("replicas") });
  await nodes[2]?.kill();
  expect((await probe(["ready"], { ...env, PROBE_TIMEOUT: "2" })).code).toBe(3);
});

describe("six empty nodes", () => {
  test("become a cluster in which every node sees all slots, all nodes and every replica's link, and which is emptied with its replicas; a primary that dies leaves it not ready [R-cluster-1]", async () => {
    const nodes = await clusterNodes(6);
    const env = { PROBE_NODES: placesOf(nodes), PROBE_TOPOLOGY: "cluster", PROBE_TIMEOUT: "120" };
    const formed = await reported(["form", "ready", "reset", "read", "discover"], env);
    expect(formed.discovered?.topology).toBe("cluster");
    expect(formed.formed_in_s).toBeGreaterThan(0);
    expect(keys(formed)).toEqual([0, 0, 0, 0, 0, 0]);
    // The test's own look, from a node that is a replica.
    const seen = await nodes[5]?.ask((store) => store.call("CLUSTER", "NODES"));
    const lines = String(seen).trim().split("\n");
    expect(lines).toHaveLength(6);
    expect(lines.filter((line) => line.includes("master"))).toHaveLength(3);
    const owned = lines.flatMap((line) => [...line.matchAll(/ (\d+)-(\d+)/g)]);
    expect(owned.reduce((sum, [, from, to]) => sum + Number(to) - Number(from) + 1, 0)).toBe(
      16_384,
    );
    for (const node of nodes) {
      const info = await node.ask((store) => store.info("replication"));
      expect(info).toMatch(
        /role:master[\s\S]*connected_slaves:1|role:slave[\s\S]*master_link_status:up/,
      );
    }

    // Slot 0 … 5460 is the first primary's.
    await nodes[0]?.ask((store) => store.set("{06S}", "1"));
    await expect
      .poll(async () => keys(await reported(["read"], env)).filter((count) => count > 0).length, {
        timeout: 60_000,
      })
      .toBe(2);
    expect(keys(await reported(["reset", "read"], env))).toEqual([0, 0, 0, 0, 0, 0]);
    await nodes[1]?.kill();
    const { code, stderr } = await probe(["ready"], { ...env, PROBE_TIMEOUT: WAIT_S });
    expect(code).toBe(3);
    expect(stderr).toContain(`127.0.0.1:${nodes[1]?.port}`);
  });

  test("of which one never comes are told by that node [R-cluster-2]", async () => {
    const nodes = await clusterNodes(5);
    const missing = await freePort();
    const places = `${placesOf(nodes)},127.0.0.1:${missing}`;
    const env = { PROBE_NODES: places, PROBE_TOPOLOGY: "cluster", PROBE_TIMEOUT: WAIT_S };
    const { code, stderr } = await probe(["form"], env);
    expect(code).toBe(3);
    expect(stderr).toContain(`127.0.0.1:${missing}`);
  });
});

test.each([
  [["flush"], { PROBE_NODES: "127.0.0.1:1" }, "form, ready"],
  [["read"], {}, "PROBE_NODES"],
  [["read"], { PROBE_NODES: "127.0.0.1:1", PROBE_STORE: "mars" }, "mars"],
] as [string[], Record<string, string>, string][])(
  "%j with %j is bad usage",
  async (actions, env, message) => {
    const { code, stderr } = await probe(actions, { PROBE_TIMEOUT: WAIT_S, ...env });
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  },
);
