import { describe, expect, test } from "vitest";
import { encodeRunSpec, runSpec } from "../../../src/contract/run-spec.js";
import { BenchError, EXIT } from "../../../src/kit/errors.js";
import { readConfig } from "../../../src/server/config/index.js";

const target = (environment: Record<string, string>) => readConfig(environment).spec.target.text;

describe("the target of MODE and the other variables", () => {
  test.each([
    [{}, "valkey-glide@valkey:standalone"],
    [{ MODE: "ioredis" }, "ioredis@redis:standalone"],
    [{ MODE: "ioredis", STORE: "valkey" }, "ioredis@valkey:standalone"],
    [{ MODE: "ioredis@valkey" }, "ioredis@valkey:standalone"],
    [{ MODE: "iovalkey:cluster" }, "iovalkey@valkey:cluster"],
    [{ MODE: "iovalkey", USE_VALKEY_CLUSTER: "true" }, "iovalkey@valkey:cluster"],
    [{ MODE: "iovalkey", USE_VALKEY_CLUSTER: "false" }, "iovalkey@valkey:standalone"],
    [{ MODE: "ioredis", USE_REDIS_CLUSTER: "true" }, "ioredis@redis:cluster"],
    [{ MODE: "ioredis", USE_VALKEY_CLUSTER: "true" }, "ioredis@valkey:cluster"],
    [{ MODE: "memory" }, "memory"],
    [{ MODE: "none" }, "none"],
  ])("%j is %s", (environment, text) => {
    expect(target(environment)).toBe(text);
  });

  test("has the defaults of the original", () => {
    expect(readConfig({}).spec).toMatchObject({
      server: { host: "127.0.0.1", port: 3001, log_level: "silent", complexity: 10 },
      limits: { points: 100, window_s: 60, block_s: 0 },
      store: { id: "valkey", topology: "standalone", nodes: [{ host: "127.0.0.1", port: 6379 }] },
    });
  });

  test.each([
    [{ MODE: "memcached" }, [{ host: "127.0.0.1", port: 11_211 }]],
    [
      { MODE: "memcached", MEMCACHED_HOST: "cache", MEMCACHED_PORT: "7", VALKEY_HOST: "x" },
      [{ host: "cache", port: 7 }],
    ],
    [{ MODE: "ioredis", REDIS_HOST: "store", REDIS_PORT: "7" }, [{ host: "store", port: 7 }]],
    [{ MODE: "iovalkey", STORE_URL: "redis://10.0.0.1:7" }, [{ host: "10.0.0.1", port: 7 }]],
    [
      { MODE: "iovalkey:cluster", VALKEY_CLUSTER_NODES: "a:1,b:2" },
      [
        { host: "a", port: 1 },
        { host: "b", port: 2 },
      ],
    ],
    [{ MODE: "memory" }, []],
  ])("%j has its store at %j", (environment, nodes) => {
    expect(readConfig(environment as Record<string, string>).spec.store.nodes).toEqual(nodes);
  });
});

describe("a run spec", () => {
  const server = { host: "127.0.0.2", port: 0, complexity: 3, log_level: "silent" };
  const spec = runSpec({
    run_nonce: "n-1",
    target: { text: "ioredis@valkey:standalone", label: "ioredis@valkey" },
    limits: { points: 7, window_s: 8, block_s: 9 },
    store: { id: "valkey", topology: "standalone", nodes: [{ host: "127.0.0.1", port: 7001 }] },
    key_prefix: "mine",
    plugins: [],
    server,
  });

  test("is taken as it is; other variables are ignored, except the credentials of the store", () => {
    const encodedSpec = encodeRunSpec(spec);
    const environment = {
      ...encodedSpec,
      MODE: "nope",
      PORT: "1",
      STORE_URL: "redis://:secret@10.0.0.1",
    };
    expect(readConfig(environment)).toEqual({ spec, access: { password: "secret" } });
  });

  test.each(["limits", "server"])("without %s is bad usage that says so", (member) => {
    const { [member as "limits"]: _left, ...incomplete } = spec;
    expect(() => readConfig({ RUN_SPEC: JSON.stringify(incomplete) })).toThrow(
      `RUN_SPEC: ${member} is missing`,
    );
  });
});

test.each([
  [{ MODE: "nope" }, ["MODE=nope", "valid: valkey-glide, iovalkey, ioredis"]],
  [{ MODE: "ioredis@mars" }, ["MODE=ioredis@mars", "valkey"]],
  [{ MODE: "ioredis~5" }, ["MODE: ", "ioredis~1.2.3"]],
  [{ MODE: "memory~5.6.1" }, ["MODE=memory~5.6.1", "no versions"]],
  [{ MODE: "ioredis+turbo" }, ["MODE=ioredis+turbo", "turbo"]],
  [{ MODE: "$(touch x)" }, ["MODE: ", "not of the form"]],
  [{ MODE: "x".repeat(300) }, ["MODE="]],
  [{ STORE: "mongo" }, ["STORE=", "valkey, redis, memcached, throttlecrab or gubernator"]],
  [{ STORE: "memcached", MODE: "ioredis" }, ["MODE=ioredis contradicts STORE=memcached"]],
  [{ MODE: "memcached", USE_MEMCACHED_CLUSTER: "1" }, ["USE_MEMCACHED_CLUSTER", "standalone only"]],
  [{ MODE: "iovalkey", STORE: "redis" }, ["MODE=iovalkey", "STORE=redis", "valkey only"]],
  [
    { MODE: "valkey-glide", USE_REDIS_CLUSTER: "true" },
    ["MODE=valkey-glide", "USE_REDIS_CLUSTER=true"],
  ],
  [{ MODE: "ioredis@redis", STORE: "valkey" }, ["MODE=ioredis@redis", "STORE=valkey"]],
  [
    { MODE: "ioredis@redis", USE_VALKEY_CLUSTER: "true" },
    ["MODE=ioredis@redis", "USE_VALKEY_CLUSTER"],
  ],
  [
    { MODE: "ioredis", STORE: "redis", USE_VALKEY_CLUSTER: "1" },
    ["STORE=redis", "USE_VALKEY_CLUSTER"],
  ],
  [
    { MODE: "ioredis", USE_REDIS_CLUSTER: "true", USE_VALKEY_CLUSTER: "true" },
    ["USE_REDIS_CLUSTER=true", "USE_VALKEY_CLUSTER=true"],
  ],
  [{ PORT: "70000" }, ["PORT=", "65535"]],
  [{ HOST: "-rf" }, ["HOST=", "host name"]],
  [{ LOG_LEVEL: "loud" }, ["LOG_LEVEL=", "silent"]],
  [{ VALKEY_HOST: "a b" }, ["VALKEY_HOST="]],
  [{ VALKEY_PORT: "0" }, ["VALKEY_PORT", "1 to 65535"]],
  [{ VALKEY_CLUSTER_NODES: "a:1,b" }, ["VALKEY_CLUSTER_NODES=", "host:port"]],
  [{ USE_VALKEY_CLUSTER: "yes" }, ["USE_VALKEY_CLUSTER=", "true or false"]],
  [{ RATE_LIMIT_POINTS: "0" }, ["RATE_LIMIT_POINTS=", "from 1"]],
  [{ RATE_LIMIT_BLOCK_DURATION: "NaN" }, ["RATE_LIMIT_BLOCK_DURATION=", "whole number"]],
  [{ COMPUTATION_COMPLEXITY: "1e9" }, ["COMPUTATION_COMPLEXITY=", "whole number"]],
  [{ RUN_NONCE: "a b" }, ["RUN_NONCE=", "letters"]],
] as [Record<string, string>, string[]][])(
  "errors in one line that names the variable %j",
  (environment, parts) => {
    let caught: unknown;
    try {
      readConfig(environment);
    } catch (error) {
      caught = error;
    }
    if (!(caught instanceof BenchError))
      throw new Error(`expected a BenchError, got ${String(caught)}`);
    expect(caught.exitCode).toBe(EXIT.usage);
    for (const part of parts) expect(caught.message).toContain(part);
    expect(caught.message).not.toMatch(/\n/);
    expect(caught.message.length).toBeLessThan(400);
  },
);
