import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { decodeGeneratorEnv } from "../../../src/contract/generator-env.js";
import { decodeProbeEnv, parseProbeRequest } from "../../../src/contract/probe-env.js";
import { encodeRunSpec, runSpec } from "../../../src/contract/run-spec.js";
import { parseStoreUrl, storeAddressFrom } from "../../../src/contract/store-url.js";
import { cpusInList } from "../../../src/kit/cpu-list.js";
import { decimalNumber, readEnv, wholeNumber } from "../../../src/kit/env.js";
import { EXIT, inOneLine, messageOf } from "../../../src/kit/errors.js";
import { expectFailure } from "../../helpers/errors.js";
import { ROOT } from "../../helpers/programs.js";

const SECRET = "s3cret-p4ss";

describe("the address of a store that already runs", () => {
  test.each([
    ["redis://cache", { host: "cache", port: 6379, access: {} }],
    ["redis://10.0.0.7:7000/", { host: "10.0.0.7", port: 7000, access: {} }],
    ["redis://[::1]:7000", { host: "::1", port: 7000, access: {} }],
    [`redis://:${SECRET}@cache`, { host: "cache", port: 6379, access: { password: SECRET } }],
    [
      "rediss://al%40ice:p%3Aw%2F%25@cache:1",
      { host: "cache", port: 1, access: { username: "al@ice", password: "p:w/%", tls: {} } },
    ],
  ])("%s is understood", (text, address) => {
    expect(parseStoreUrl(text)).toEqual(address);
  });

  test.each([
    [`:${SECRET}@cache`, "redis://host:port"],
    [`http://u:${SECRET}@cache`, "redis://"],
    [`redis://u:${SECRET}@cache/3`, "without a path"],
    [`redis://u:${SECRET}@cache?db=3`, "without a path"],
    [`redis://u:12/${SECRET}@cache`, "%2F"],
    [`redis://:a/${SECRET}@cache`, "%2F"],
    [`redis://u:1#${SECRET}@cache`, "%23"],
    [`redis://u:${SECRET}@`, "redis"],
    [`redis://u:${SECRET}@cache:70000`, "redis"],
    [`redis://u:${SECRET}%zz@cache`, "redis"],
  ])("is refused where it is wrong, and never repeated: %s", async (text, message) => {
    await expectFailure(() => parseStoreUrl(text), EXIT.usage, message);
    const told = await Promise.resolve()
      .then(() => parseStoreUrl(text))
      .catch((error: Error) => error.message);
    expect(told).not.toContain(SECRET);
  });

  test("a certificate is of no use without encryption", async () => {
    await expectFailure(
      () => parseStoreUrl("redis://cache", { ca: "PEM" }),
      EXIT.usage,
      "rediss://",
    );
  });

  test("a certificate of its own needs the key, and both are read", async () => {
    const url = { STORE_URL: "rediss://cache" };
    const tls = (file: string) => join(ROOT, "test/fixtures/tls", file);
    const both = { STORE_CERT: tls("cert.pem"), STORE_KEY: tls("key.pem") };
    for (const [name, path] of Object.entries(both))
      await expectFailure(
        () => storeAddressFrom({ ...url, [name]: path }),
        EXIT.usage,
        "STORE_KEY",
      );
    expect(storeAddressFrom({ ...url, ...both })?.access.tls).toEqual({
      cert: readFileSync(both.STORE_CERT, "utf8"),
      key: readFileSync(both.STORE_KEY, "utf8"),
    });
  });

  test("an unreadable certificate is an error that names the variable", async () => {
    const env = { STORE_URL: "rediss://cache", STORE_CA: "/nowhere/ca.pem" };
    await expectFailure(() => storeAddressFrom(env), EXIT.usage, "STORE_CA");
  });
});

const refused = (host: string) => new Error(`connect ECONNREFUSED ${host}`);

test.each<[string, unknown, string]>([
  ["a message that ends in a new line", new Error("alert number 42\n"), "alert number 42"],
  [
    "an empty message before others",
    Object.assign(new AggregateError([refused("::1"), refused("127.0.0.1")]), {
      code: "ECONNREFUSED",
    }),
    "connect ECONNREFUSED ::1; connect ECONNREFUSED 127.0.0.1",
  ],
  [
    "an empty message with a cause",
    new Error("", { cause: refused("a") }),
    "connect ECONNREFUSED a",
  ],
  [
    "an empty message with a code",
    Object.assign(new Error(), { code: "ECONNRESET" }),
    "ECONNRESET",
  ],
  ["nothing but a name", new TypeError(), "TypeError"],
  ["a text", "why", "why"],
])("%s is shown", (_what, error, shown) => {
  expect(messageOf(error)).toBe(shown);
});

test("several lines become one", () => {
  expect(inOneLine("C0:error\r\n  alert bad certificate\n\n")).toBe(
    "C0:error alert bad certificate",
  );
});

test.each([
  ["\t0-3\n", [0, 1, 2, 3]],
  ["2,5-6", [2, 5, 6]],
  ["7", [7]],
  ["", []],
  ["0-", []],
  ["3-1", []],
  ["all", []],
])("the list %j names the CPUs %j", (list, cpus) => {
  expect(cpusInList(list)).toEqual(cpus);
});

describe("reading an environment", () => {
  const shape = { COUNT: wholeNumber(1, 10).optional(), SECONDS: decimalNumber(0, 5).optional() };

  test("takes an empty value as unset and ignores other variables", () => {
    expect(readEnv(shape, { COUNT: "", SECONDS: "1.5", OTHER: "x" })).toEqual({ SECONDS: "1.5" });
  });

  test.each([
    ["COUNT", "0", "from 1 to 10"],
    ["COUNT", "-1", "whole number from 1 to 10"],
    ["COUNT", "0x5", "whole number from 1 to 10"],
    ["COUNT", "$(touch x)", "whole number from 1 to 10"],
    ["COUNT", "9".repeat(300), "whole number from 1 to 10"],
    ["SECONDS", "5.1", "from 0 to 5"],
    ["SECONDS", "-0.1", "a number from 0 to 5"],
    ["SECONDS", "1.5x", "a number from 0 to 5"],
  ])("refuses %s=%j and says what is valid", async (name, value, valid) => {
    await expectFailure(() => readEnv(shape, { [name]: value }), EXIT.usage, `${name}=`, valid);
  });
});

describe("the load generator's environment", () => {
  const base = { TARGET_URL: "http://127.0.0.1:3001" };

  test("has the defaults of the original", () => {
    expect(decodeGeneratorEnv(base)).toMatchObject({
      run_nonce: "",
      target: { text: "valkey-glide", label: "valkey-glide" },
      plugins: [],
      generator: {
        layer: "server",
        workload: { id: "light" },
        traffic: "realistic",
        load: { model: "closed", connections: 10 },
        extent: { duration_s: 30 },
        workers: 1,
        warmup_s: 0,
        seed: 1,
        timeout_s: 10,
        servers: [{ id: "server-1", url: "http://127.0.0.1:3001", run_nonce: "" }],
        progress: "text",
      },
    });
  });

  test("takes several servers, separated by commas", () => {
    const env = { TARGET_URL: "http://a:1/, https://b:2/api", RUN_NONCE: "n", RATE: "0.25" };
    const { servers, load } = decodeGeneratorEnv(env).generator;
    expect(servers).toEqual([
      { id: "server-1", url: "http://a:1", run_nonce: "n" },
      { id: "server-2", url: "https://b:2/api", run_nonce: "n" },
    ]);
    expect(load).toEqual({
      model: "open",
      rate_per_second: 0.25,
      arrivals: "constant",
      connections: 200,
    });
  });

  test("is a run spec, which survives the way there and back", () => {
    const spec = decodeGeneratorEnv({ ...base, REQUESTS: "1000", OUTPUT_FILE: "/tmp/a b.json" });
    expect(decodeGeneratorEnv({ ...encodeRunSpec(spec), TARGET_URL: "http://ignored:1" })).toEqual(
      spec,
    );
  });

  test.each([
    [{ TARGET_URL: "" }, "TARGET_URL"],
    [{ TARGET_URL: "127.0.0.1:3001" }, "http or https"],
    [{ TARGET_URL: "http://x/?a=b" }, "TARGET_URL="],
    [{ TARGET_URL: "http://x,y" }, 'TARGET_URL="y"'],
    [{ TARGET_URL: "http://x,http://x/" }, "twice"],
    [{ TARGET_URL: "http://x,http://y", CONNECTIONS: "1" }, "CONNECTIONS=1"],
    [{ DURATION: "0" }, "DURATION="],
    [{ DURATION: "1e9" }, "from 0.1 to 86400"],
    [{ REQUESTS: "0" }, "REQUESTS="],
    [{ REQUESTS: "100", DURATION: "5" }, "both set"],
    [{ REQUESTS: "5", CONNECTIONS: "6" }, "REQUESTS=5"],
    [{ RATE: "0" }, "from 0.1 to 1000000"],
    [{ RATE: "NaN" }, "RATE="],
    [{ RATE: "5", ARRIVALS: "bursts" }, "constant or poisson"],
    [{ ARRIVALS: "poisson" }, "RATE"],
    [{ CONNECTIONS: "0" }, "CONNECTIONS="],
    [{ WORKERS: "65" }, "WORKERS="],
    [{ WORKERS: "4", CONNECTIONS: "3" }, "WORKERS=4"],
    [{ REQUEST_TYPE: "../heavy" }, "REQUEST_TYPE="],
    [{ TRAFFIC: "$(touch x)" }, "TRAFFIC="],
    [{ SEED: "4294967296" }, "SEED="],
    [{ WARMUP: "abc" }, "from 0 to 3600, or auto"],
    [{ TIMEOUT: "0.5" }, "from 1 to 600"],
    [{ RUN_NONCE: "n".repeat(65) }, "RUN_NONCE="],
    [{ PROGRESS: "xml" }, "text or json"],
  ])("refuses %j", async (wrong, message) => {
    await expectFailure(() => decodeGeneratorEnv({ ...base, ...wrong }), EXIT.usage, message);
  });
});

describe("the probe's environment", () => {
  test("names the store's nodes, type and topology", () => {
    const env = {
      PROBE_NODES: "127.0.0.1:7001",
      PROBE_STORE: "redis",
      PROBE_TOPOLOGY: "cluster",
      PROBE_TIMEOUT: "2.5",
    };
    expect(decodeProbeEnv(env)).toEqual({
      spec: {
        store: { id: "redis", topology: "cluster", nodes: [{ host: "127.0.0.1", port: 7001 }] },
        plugins: [],
      },
      timeoutS: 2.5,
      access: {},
    });
  });

  test("gives way to a run spec; credentials alone come from STORE_URL, which names a node that nothing else names", () => {
    const store = { id: "redis", topology: "standalone", nodes: [] };
    const spec = runSpec({
      run_nonce: "n-1",
      target: { text: "ioredis@redis:standalone", label: "ioredis" },
      store,
      key_prefix: "rl",
      plugins: ["/tmp/a.js"],
    });
    const env = {
      PROBE_STORE: "valkey",
      PLUGINS: "/tmp/b.js",
      STORE_URL: "redis://:secret@10.0.0.1:7001",
    };
    expect(decodeProbeEnv({ ...env, ...encodeRunSpec(spec) })).toMatchObject({
      spec: {
        store: { ...store, nodes: [{ host: "10.0.0.1", port: 7001 }] },
        plugins: ["/tmp/a.js"],
      },
      access: { password: "secret" },
    });
  });

  test.each([
    [{ PROBE_NODES: "127.0.0.1" }, "host:port"],
    [{ PROBE_NODES: "a:1;rm -rf x" }, "host:port"],
    [{ PROBE_NODES: "a:1", PROBE_STORE: "../x" }, "PROBE_STORE="],
    [{ PROBE_NODES: "a:1", PROBE_TIMEOUT: "0" }, "PROBE_TIMEOUT="],
  ])("refuses %j", async (env, message) => {
    await expectFailure(() => decodeProbeEnv(env), EXIT.usage, message);
  });
});

describe("a request to a serving probe", () => {
  const request = { actions: ["read"], nodes: [{ host: "127.0.0.1", port: 7001 }], timeout_s: 10 };

  test("is one line of JSON", () => {
    expect(parseProbeRequest(JSON.stringify(request))).toEqual(request);
  });

  test.each([
    ["no JSON", "JSON"],
    [JSON.stringify({ ...request, actions: ["flush"] }), "actions.0"],
    [JSON.stringify({ ...request, nodes: [{ host: "-x", port: 1 }] }), "nodes.0.host"],
    [JSON.stringify({ ...request, timeout_s: 0 }), "timeout_s"],
  ])("is refused as bad usage: %s", async (line, message) => {
    await expectFailure(() => parseProbeRequest(line), EXIT.usage, message);
  });
});
