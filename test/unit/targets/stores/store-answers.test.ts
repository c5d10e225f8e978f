import { expect, test } from "vitest";
import { shardKeys } from "../../../../src/targets/clients/shard-keys.js";
import { versionFromInfo } from "../../../../src/targets/stores/resp/version.js";

const VALKEY = "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.1.2\r\n";
const REDIS = "# Server\r\nredis_version:8.0.2\r\nredis_mode:standalone\r\n";

test("the version is the store's own, not the compatible Redis version", () => {
  expect(versionFromInfo("valkey", [VALKEY])).toBe("9.1.2");
  expect(versionFromInfo("redis", [REDIS])).toBe("8.0.2");
});

test("nodes with one version give one version, with two versions both", () => {
  expect(versionFromInfo("valkey", [VALKEY, VALKEY])).toBe("9.1.2");
  expect(versionFromInfo("valkey", [VALKEY, VALKEY.replace("9.1.2", "9.1.3")])).toBe("9.1.2, 9.1.3");
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
  const slotOf: Record<string, number> = { "preload-{0}": 250, "preload-{1}": 5, "preload-{2}": 16_383 };
  const keys = await shardKeys({
    slots: async () => ranges,
    keySlot: async (key) => slotOf[key] ?? 150,
  });
  expect(keys).toEqual(["preload-{0}", "preload-{2}", "preload-{3}"]);
});

test("a cluster without slots is an error", async () => {
  await expect(shardKeys({ slots: async () => [], keySlot: async () => 0 })).rejects.toThrow("no slots");
  const unreachable = { slots: async () => [[0, 0, ["a"]]], keySlot: async () => 1 };
  await expect(shardKeys(unreachable)).rejects.toThrow("no key found for 1");
});
