import { expect, onTestFinished, test } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import { shardKeys } from "../../../../src/targets/clients/shard-keys.js";
import { waitUntil } from "../../../../src/targets/stores/deciding.js";
import { stores } from "../../../../src/targets/stores/index.js";
import { parseFields, type StoreNode } from "../../../../src/targets/stores/resp/nodes.js";
import {
  diagnoseNode,
  readNode,
  readSettings,
  resetStore,
} from "../../../../src/targets/stores/resp/readings.js";
import { versionFromInfo } from "../../../../src/targets/stores/resp/resp-version.js";
import type { StoreDescription } from "../../../../src/targets/target-types.js";
import { expectFailure } from "../../../helpers/errors.js";

test("INFO's lines become fields; values keep their colons, headings are none", () => {
  const fields = parseFields(
    "# Server\r\nredis_version:7.2.4\r\nexecutable:/a:b\r\n\r\nempty:\r\n:odd\r\n",
  );
  expect([...fields]).toEqual([
    ["redis_version", "7.2.4"],
    ["executable", "/a:b"],
    ["empty", ""],
  ]);
});

test("a wait repeats its check until there is no problem; an error counts as a problem", async () => {
  let asked = 0;
  await waitUntil("store", performance.now() + 60_000, async () => {
    asked++;
    if (asked === 1) throw new Error("refused");
    return asked < 3 ? "loading" : undefined;
  });
  expect(asked).toBe(3);
});

test("waiting ends at the deadline with the last problem", async () => {
  const expired_ms = performance.now() - 1;
  const forming = () => waitUntil("cluster", expired_ms, async () => "5 of 6 nodes");
  await expectFailure(forming, EXIT.environment, "cluster", "5 of 6");
  const failing = () => waitUntil("store", expired_ms, () => Promise.reject(new Error("refused")));
  await expectFailure(failing, EXIT.environment, "the store took too long to be ready: refused");
});

const VALKEY = "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.1.2\r\n";
const REDIS = "# Server\r\nredis_version:8.0.2\r\nredis_mode:standalone\r\n";

test("the version is the store's own, not the compatible Redis version", () => {
  expect(versionFromInfo("valkey", [VALKEY])).toBe("9.1.2");
  expect(versionFromInfo("redis", [REDIS])).toBe("8.0.2");
});

test("a store other than the requested one is an error that names both [R-other-store-3]", () => {
  expect(() => versionFromInfo("redis", [VALKEY])).toThrow("valkey 9.1.2, but redis");
  expect(() => versionFromInfo("valkey", [VALKEY, REDIS])).toThrow("redis 8.0.2, but valkey");
  expect(() => versionFromInfo("valkey", ["ERR"])).toThrow("no version");
});

test("one key is found for each primary, even if its slots are fragmented", async () => {
  const [a, b, c] = ["a", "b", "c"].map((id) => ["127.0.0.1", 1, id]);
  const ranges = [
    [0, 99, a],
    [100, 199, b],
    [200, 299, a],
    [300, 16_383, c],
  ];
  const slotOf: Record<string, number> = {
    "preload-{0}": 250,
    "preload-{1}": 5,
    "preload-{2}": 16_383,
  };
  const keys = await shardKeys(async (_, subcommand, key = "") =>
    subcommand === "SLOTS" ? ranges : (slotOf[key] ?? 150),
  );
  expect(keys).toEqual(["preload-{0}", "preload-{2}", "preload-{3}"]);
});

/** Registers a store as a plugin does. */
function registered(store: StoreDescription): StoreDescription {
  (stores as StoreDescription[]).push(store);
  onTestFinished(() => void (stores as StoreDescription[]).pop());
  return store;
}

/** A node that answers INFO with this text and knows no other command but DBSIZE and PING. */
function nodeWith(info: string, refusal = "ERR unknown command"): StoreNode {
  return {
    place: { host: "127.0.0.1", port: 1 },
    name: "127.0.0.1:1",
    call: async (command) => {
      if (command === "DBSIZE") return 0;
      const cause = Object.assign(new Error(refusal), { name: "ReplyError" });
      throw new Error(`127.0.0.1:1: ${command}: ${refusal}`, { cause });
    },
    info: async () => parseFields(info),
    close: () => undefined,
  };
}

test("a compatible store is told by its version field, or by the requested name where it only reports Redis's", () => {
  registered({ id: "own", engine: "resp", program: "own-server", versionField: "own_version" });
  registered({
    id: "plain",
    engine: "resp",
    program: "plain-server",
    versionField: "redis_version",
  });
  const info = "redis_version:7.4.0\r\nown_version:1.2.3\r\n";
  expect(versionFromInfo("own", [info])).toBe("1.2.3");
  expect(() => versionFromInfo("redis", [info])).toThrow("own 1.2.3, but redis");
  expect(versionFromInfo("plain", [REDIS])).toBe("8.0.2");
  expect(versionFromInfo("redis", [REDIS])).toBe("8.0.2");
  expect(() => versionFromInfo("plain", [VALKEY])).toThrow("valkey 9.1.2, but plain");
});

test("a store without some evidence is read without it; settings and statistics that it does not know are no failure", async () => {
  const store = registered({
    id: "own",
    engine: "resp",
    versionField: "own_version",
    decisionCommands: ["own.take"],
    withoutEvidence: ["scripts", "evictions", "memory", "cpu"],
  });
  const info =
    "own_version:1.2.3\r\nuptime_in_seconds:7\r\nrun_id:abc\r\nexpired_keys:0\r\ncmdstat_own.take:calls=9,failed_calls=2\r\n";
  const node = nodeWith(info);
  const expected = {
    version: "1.2.3",
    uptime_s: 7,
    run_id: "abc",
    decisions: 7,
    keys: 0,
    expired_keys: 0,
  };
  expect(await readNode(node, store)).toEqual(expected);
  expect(await readNode(node, { ...store, withoutEvidence: [] })).not.toHaveProperty(
    "evicted_keys",
  );
  for (const refusal of [
    "ERR unknown command",
    "NOPERM no permissions",
    "ERR CONFIG is disabled",
    "No.",
  ]) {
    const refusing = nodeWith(info, refusal);
    await resetStore([refusing], performance.now() + 1_000);
    expect(await readSettings([refusing])).toEqual({});
  }
  // It says nothing about the command.
  await expect(readSettings([nodeWith(info, "LOADING the dataset")])).rejects.toThrow("LOADING");
});

test("an uptime below zero, as after the system clock was set back, is left out", async () => {
  const store = { id: "redis", engine: "resp" } as StoreDescription;
  const reading = await readNode(
    nodeWith(`${REDIS}uptime_in_seconds:-3598\r\nrun_id:abc\r\n`),
    store,
  );
  expect(reading).toMatchObject({ run_id: "abc" });
  expect(reading).not.toHaveProperty("uptime_s");
});

test("a diagnosis has the time of the deciding commands, and the bytes of clients without those of replication", async () => {
  const info = [
    "role:master",
    "cmdstat_evalsha:calls=10,usec=82,usec_per_call=8.20,rejected_calls=0,failed_calls=1",
    "cmdstat_get:calls=99,usec=99,usec_per_call=1.00,rejected_calls=0,failed_calls=0",
    "latency_percentiles_usec_evalsha:p50=7.007,p99=19.071,p99.9=40.191",
    "total_net_input_bytes:1200",
    "total_net_output_bytes:900",
    "total_net_repl_input_bytes:200",
    "total_net_repl_output_bytes:100",
  ].join("\r\n");
  expect(await diagnoseNode(nodeWith(`${info}\r\n`))).toEqual({
    commands: { evalsha: { calls: 10, us: 82, p50_us: 7.007, p99_us: 19.071 } },
    received_bytes: 1_000,
    sent_bytes: 800,
  });
  // An old store tells neither percentiles nor bytes.
  expect(await diagnoseNode(nodeWith("cmdstat_evalsha:calls=10,usec=82\r\n"))).toEqual({
    commands: { evalsha: { calls: 10, us: 82 } },
  });
  expect(await diagnoseNode(nodeWith(`role:slave\r\n${info.slice(13)}\r\n`))).toMatchObject({
    commands: {},
  });
});
