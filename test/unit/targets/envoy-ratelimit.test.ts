import { describe, expect, test } from "vitest";
import { resolveTarget, unsupportedLimits } from "../../../src/targets/resolve.js";
import { domainOf, envoyRatelimit } from "../../../src/targets/services/envoy-ratelimit/index.js";
import type { StorePlace } from "../../../src/targets/target-types.js";
import { targetOf } from "../../helpers/target.js";

const LIMITS = { points: 1_000_000_000, window_s: 60, block_s: 0 };
const NODES = [
  { host: "store-1", port: 1 },
  { host: "store-2", port: 2 },
];
const ports = { grpc: 7001, debug: 7002, prometheus: 7003 };
const allocation = { bind: "0.0.0.0", port: 7000, ports, files: "/files" };

test("its configuration has the run's own domain, the quota, and a key of quota 0", () => {
  const [[path = "", text = ""] = []] = Object.entries(
    envoyRatelimit.files(LIMITS, "0123456789abcdef"),
  );
  expect(path).toBe("ratelimit/config/bench.yaml");
  expect(text).toBe(`domain: bench-01234567
descriptors:
  - key: user
    rate_limit: {unit: minute, requests_per_unit: 1000000000}
  - key: exhausted
    rate_limit: {unit: minute, requests_per_unit: 0}
`);
  expect(domainOf("other")).not.toBe(domainOf("0123456789abcdef"));
});

test.each([
  [
    "redis",
    "standalone",
    { BACKEND_TYPE: "redis", REDIS_TYPE: "SINGLE", REDIS_URL: "store-1:1,store-2:2" },
  ],
  [
    "valkey",
    "cluster-3",
    { BACKEND_TYPE: "redis", REDIS_TYPE: "CLUSTER", REDIS_URL: "store-1:1,store-2:2" },
  ],
  [
    "memcached",
    "standalone",
    { BACKEND_TYPE: "memcache", MEMCACHE_HOST_PORT: "store-1:1,store-2:2" },
  ],
])(
  "on %s %s it has the store's addresses, and listens where it was told alone",
  (store, topology, expected) => {
    const place: StorePlace = { store, topology, nodes: NODES };
    const environment = envoyRatelimit.environment(allocation, place);
    expect(environment).toMatchObject({
      ...expected,
      HOST: "0.0.0.0",
      PORT: "7000",
      GRPC_HOST: "0.0.0.0",
      GRPC_PORT: "7001",
      DEBUG_HOST: "0.0.0.0",
      DEBUG_PORT: "7002",
      PROMETHEUS_ADDR: "0.0.0.0:7003",
      RUNTIME_ROOT: "/files",
      LOCAL_CACHE_SIZE_IN_BYTES: "0",
    });
    expect(environment.REDIS_AUTH).toBeUndefined();
    // What the harness sets, the user cannot.
    const allowedSettings = ["LOG_LEVEL"];
    for (const name of Object.keys(environment).filter((name) => !allowedSettings.includes(name)))
      expect(envoyRatelimit.reserved.test(name), name).toBe(true);
  },
);

test("a password of an external store reaches it", () => {
  const place = {
    store: "redis",
    topology: "standalone",
    nodes: NODES,
    access: { password: "a:b" },
  };
  expect(envoyRatelimit.environment(allocation, place).REDIS_AUTH).toBe("default:a:b");
});

test("the certificate of an external store's authority reaches it as a file", () => {
  const access = { tls: { ca: "-----BEGIN CERTIFICATE-----" } };
  const place = { store: "redis", topology: "standalone", nodes: NODES, access };
  const path = envoyRatelimit.environment(allocation, place).REDIS_TLS_CACERT;
  expect(path).toBe("/files/store-ca.pem");
  expect(envoyRatelimit.files(LIMITS, "0123456789abcdef", access)["store-ca.pem"]).toBe(
    access.tls.ca,
  );
});

describe("a target of it", () => {
  test("says what decides, and with a local cache that some decisions are made without the store", () => {
    expect(targetOf("envoy-grpc")).toMatchObject({
      label: "envoy-grpc",
      text: "envoy-grpc@redis:standalone",
      decided_by: "service",
      algorithm: "aligned window",
      service: "envoy-ratelimit",
    });
    expect(targetOf("envoy-grpc")).not.toHaveProperty("decides_locally");
    expect(targetOf("envoy-http@memcached+local-cache").decides_locally).toBe(true);
  });

  test.each([
    ["envoy-grpc@memcached:cluster", "standalone"],
    ["envoy-grpc@memcached+pipeline-75us", "memcached"],
    ["ioredis+pipeline-75us", "+pipeline-75us"],
    ["ioredis+local-cache", "+local-cache"],
  ])("%s is skipped", (text, reason) => {
    const resolution = resolveTarget(text);
    expect("skip" in resolution && resolution.skip).toContain(reason);
  });

  test.each([1, 60, 3_600, 86_400])("keeps windows of %i s", (window_s) => {
    expect(
      unsupportedLimits(targetOf("envoy-http"), { ...LIMITS, window_s, cost: 5 }),
    ).toBeUndefined();
  });

  test("does not keep other windows, or a block", () => {
    const reason = (changes: object) =>
      unsupportedLimits(targetOf("envoy-http"), { ...LIMITS, ...changes });
    expect(reason({ window_s: 10 })).toMatch(/1, 60, 3600 and 86400 s.*10 s/);
    expect(reason({ block_s: 5 })).toContain("block");
  });
});
