import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { decodePlugins, encodePlugins } from "../../../src/contract/plugins.js";
import { EXIT } from "../../../src/kit/errors.js";
import { type LoadedPlugin, loadPlugins } from "../../../src/plugins/load.js";
import type { Plugin } from "../../../src/plugins/plugin-types.js";
import { registerTargets } from "../../../src/plugins/register-targets.js";
import { registerTraffic } from "../../../src/plugins/register-traffic.js";
import { readPlugin } from "../../../src/plugins/source.js";
import { candidatePrograms } from "../../../src/targets/candidate-programs.js";
import {
  describeClient,
  findClient,
  findLimiter,
  findStore,
  resolveTarget,
} from "../../../src/targets/resolve.js";
import type { ClientDescription, StoreDescription } from "../../../src/targets/target-types.js";
import { findProfile } from "../../../src/traffic/lookup.js";
import { encodeTrace, traceColumns } from "../../../src/traffic/trace.js";
import { expectFailure } from "../../helpers/errors.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();
const SHA = "0".repeat(64);

/** A plugin as it is once its module was imported. */
const plugin = (members: object, name = "mine.js"): LoadedPlugin => ({
  path: `/somewhere/${name}`,
  displayName: name,
  entry: `/somewhere/${name}`,
  isSingleFile: true,
  identity: { name, sha256: SHA },
  members: members as Plugin,
});

const client = (changes: object = {}): ClientDescription => ({
  ...findClient("ioredis"),
  id: "mine",
  ...changes,
});

const store = (changes: object = {}): StoreDescription => ({
  id: "mystore",
  engine: "resp",
  program: "my-server",
  image: { name: "my/server:1" },
  arguments: ["--threads", "1"],
  topologies: ["standalone"],
  versionField: "my_version",
  decisionCommands: ["evalsha"],
  compatibleWith: "redis",
  withoutEvidence: ["evictions"],
  ...changes,
});

const limits = { points: 5, window_s: 1, block_s: 0 };
const traffic = (changes: object = {}) => ({
  id: "my-traffic",
  summary: "one key",
  limits,
  population: () => ({ requests: [["a"]], shares: Float64Array.of(1) }),
  ...changes,
});

describe("PLUGINS", () => {
  test("is a JSON list or separated as in PATH; encoding and decoding keeps unusual characters", () => {
    const paths = ["/a b/c:d.js", "/é,\"'.js"];
    expect(decodePlugins(encodePlugins(paths))).toEqual(paths);
    expect(decodePlugins({ PLUGINS: "/a.js:/b" })).toEqual(["/a.js", "/b"]);
    expect(decodePlugins({})).toEqual([]);
    expect(encodePlugins([])).toEqual({});
  });

  test("with an invalid JSON list is a usage error", async () => {
    await expectFailure(
      () => decodePlugins({ PLUGINS: '["/a' }),
      EXIT.usage,
      "PLUGINS=",
      "JSON list",
    );
    await expectFailure(() => decodePlugins({ PLUGINS: "[1]" }), EXIT.usage, "PLUGINS=");
  });
});

describe("the bytes of a plugin", () => {
  test("of a file have the sha256 that sha256sum prints", async () => {
    const path = join(newFolder(), "a.js");
    writeFileSync(path, "abc");
    const { identity, isSingleFile, entry } = await readPlugin(path);
    expect(identity).toEqual({
      name: "a.js",
      sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    });
    expect({ isSingleFile, entry }).toEqual({ isSingleFile: true, entry: path });
  });

  test("of a folder have a checksum over all files and names, and the package's version", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "package.json"), '{"version":"1.2.3","main":"lib/main.js"}');
    mkdirSync(join(folder, "node_modules", "dep"), { recursive: true });
    writeFileSync(join(folder, "node_modules", "dep", "index.js"), "one");
    const pluginBefore = await readPlugin(folder);
    expect(pluginBefore.identity.version).toBe("1.2.3");
    expect(pluginBefore.entry).toBe(join(pluginBefore.path, "lib/main.js"));
    writeFileSync(join(folder, "node_modules", "dep", "index.js"), "two");
    const changed = await readPlugin(folder);
    writeFileSync(join(folder, "more.js"), "");
    const added = await readPlugin(folder);
    expect((await readPlugin(folder)).identity).toEqual(added.identity);
    renameSync(join(folder, "more.js"), join(folder, "most.js"));
    const renamed = await readPlugin(folder);
    expect(
      new Set([pluginBefore, changed, added, renamed].map(({ identity }) => identity.sha256)).size,
    ).toBe(4);
  });

  test("that cannot be read or copied into a container are a usage error", async () => {
    const folder = newFolder();
    await expectFailure(
      () => readPlugin(join(folder, "no.js")),
      EXIT.usage,
      "no.js",
      "no such file",
    );
    await expectFailure(() => readPlugin(folder), EXIT.usage, "needs a package.json");
    writeFileSync(join(folder, "package.json"), "{}");
    symlinkSync("/etc/hostname", join(folder, "out"));
    await expectFailure(() => readPlugin(folder), EXIT.usage, "out is a link out of the folder");
  });
});

test.each([
  ["exports no object", "export default 5;"],
  ["has an unknown member", "export default { client: [] };", "client", "stores, clients"],
  ["has no list", "export default { clients: {} };", "clients"],
  ["adds nothing", "export default { clients: [] };"],
])("a module that is not a plugin is rejected because it %s", async (_why, text, ...parts) => {
  const folder = newFolder();
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "index.js"), text);
  await expectFailure(() => loadPlugins([folder]), EXIT.usage, "plugin ", ...parts);
});

test.each<[string, object, ...string[]]>([
  [
    "an id that is taken",
    { clients: [client({ id: "ioredis" })] },
    "client ioredis exists already",
  ],
  ["an id that is no id", { clients: [client({ id: "Mine" })] }, "clients[0].id"],
  [
    "a member that is missing",
    { clients: [client({ open: undefined })] },
    "clients[0].open",
    "function",
  ],
  ["a member that nobody knows", { clients: [client({ opne: () => {} })] }, "clients[0]", "opne"],
  [
    "a store that is none",
    { clients: [client({ stores: ["mongo"] })] },
    "clients[0].stores",
    "mongo",
  ],
  [
    "a limiter that is none",
    { clients: [client({ limiter: "x" })] },
    "clients.mine.limiter",
    "no limiter",
  ],
  ["a store's id", { stores: [store({ id: "redis" })] }, "store redis exists already"],
  [
    "a store named like a part",
    { stores: [store({ id: "server" })] },
    "store server exists already",
  ],
  ["a store's engine", { stores: [store({ engine: "sql" })] }, "stores[0].engine", "resp"],
  ["a store without a program", { stores: [store({ program: undefined })] }, "stores[0].program"],
  ["a store's program", { stores: [store({ program: "/opt/x" })] }, "stores[0].program"],
  [
    "a store's topology",
    { stores: [store({ topologies: ["ring"] })] },
    "stores[0].topologies",
    "ring",
  ],
  [
    "a store like none",
    { stores: [store({ compatibleWith: "mongo" })] },
    "stores.mystore.compatibleWith",
  ],
  ["a control", { clients: [client({ control: true })] }, "clients[0].control", "project's own"],
  ["a limiter without create", { limiters: [{ id: "l" }] }, "limiters[0].create", "function"],
  [
    "an option without a summary",
    { options: [{ id: "o", apply: () => {} }] },
    "options[0].summary",
  ],
  ["a limiter's id", { limiters: [{ ...findLimiter("none") }] }, "limiter none exists already"],
  [
    "traffic's shares",
    { traffic: [traffic({ population: () => ({ requests: [["a"]], shares: [1] }) })] },
    "shares",
  ],
  [
    "traffic's longest key",
    {
      traffic: [
        traffic({
          population: () => ({ requests: [["a".repeat(257)]], shares: Float64Array.of(1) }),
        }),
      ],
    },
    "population().requests[0][0]",
  ],
  [
    "a request of traffic with more keys than the server takes",
    {
      traffic: [
        traffic({
          population: () => ({ requests: [Array(17).fill("a")], shares: Float64Array.of(1) }),
        }),
      ],
    },
    "population().requests[0]",
  ],
  [
    "traffic's sum",
    {
      traffic: [
        traffic({ population: () => ({ requests: [["a"]], shares: Float64Array.of(0.5) }) }),
      ],
    },
    "population().shares",
    "1 in all",
  ],
  ["traffic's limits", { traffic: [traffic({ limits: { points: 0 } })] }, "traffic[0].limits"],
  ["traffic's id", { traffic: [traffic({ id: "realistic" })] }, "traffic realistic exists already"],
])(
  "an invalid member of a plugin is rejected with plugin and member named %s",
  async (_what, members, ...parts) => {
    const refused = () => {
      registerTargets([plugin(members)]);
      registerTraffic([plugin(members)]);
    };
    await expectFailure(refused, EXIT.usage, "plugin mine.js", ...parts);
  },
);

test("a client, its limiter, an option and traffic are found like the project's own", () => {
  const limiter = { id: "my-limiter", create: async () => undefined };
  const option = {
    id: "my-option",
    summary: "the other limiter",
    apply: (client: ClientDescription) => ({ ...client, limiter: "my-limiter" }),
  };
  const members = {
    clients: [client()],
    limiters: [limiter],
    options: [option],
    traffic: [traffic()],
  };
  registerTargets([plugin(members)]);
  registerTraffic([plugin(members)]);
  expect(resolveTarget("mine@valkey")).toMatchObject({
    target: { client: "mine", store: "valkey", limiter: "rate-limiter-flexible" },
  });
  expect(resolveTarget("ioredis+my-option")).toMatchObject({ target: { limiter: "my-limiter" } });
  expect(describeClient({ client: "mine", topology: "standalone", options: [] })).toBe(
    members.clients[0],
  );
  expect(findLimiter("my-limiter")).toBe(limiter);
  expect(findProfile("my-traffic").summary).toBe("one key");
  // A second plugin cannot take what the first one has.
  return expectFailure(
    () => registerTargets([plugin({ clients: [client()] }, "other.js")]),
    EXIT.usage,
    "plugin other.js: the client mine exists already",
  );
});

test("a store runs the clients of the store that it is compatible with, where a target names it", () => {
  const members = { stores: [store()], clients: [client({ id: "own", stores: ["mystore"] })] };
  registerTargets([plugin(members)]);
  expect(findStore("mystore")).toBe(members.stores[0]);
  expect(resolveTarget("ioredis@mystore")).toMatchObject({
    target: { text: "ioredis@mystore:standalone", label: "ioredis@mystore", client: "ioredis" },
  });
  // It does not run Valkey's scripts, and has no cluster.
  expect(resolveTarget("iovalkey@mystore")).toEqual({
    skip: expect.stringContaining("cannot use mystore"),
  });
  expect(resolveTarget("ioredis@mystore:cluster")).toEqual({
    skip: "mystore runs standalone only",
  });
  // Nobody gets it without asking.
  const nothingElse = (id: string) => id === "mystore";
  expect(resolveTarget("ioredis", nothingElse)).toEqual({
    skip: expect.stringContaining("no redis-server"),
  });
  expect(resolveTarget("own")).toMatchObject({ target: { store: "mystore" } });
  expect(candidatePrograms(["ioredis@mystore", "own"]).map(({ id }) => id)).toEqual(["mystore"]);
});

describe("a trace that a campaign wrote", () => {
  const columns = traceColumns(3);
  columns.keys.set([0, 1, 0]);
  columns.times_ms.set([0, 5, 9]);
  const top_shares = { top_1: 2 / 3, top_10: 1, top_100: 1 };
  const summary = {
    sha256: SHA,
    lines: 3,
    keys: 2,
    rate_per_second: 222,
    span_s: 0.009,
    top_shares,
  };
  const written = (bytes: Buffer): string => {
    const path = join(newFolder(), "requests.trace");
    writeFileSync(path, bytes);
    return path;
  };

  test("is a traffic, and nothing of it is executed", async () => {
    const plugins = await loadPlugins([written(encodeTrace({ summary, ...columns }))]);
    registerTraffic(plugins);
    expect(plugins[0]?.identity).toMatchObject({ name: "requests.trace", trace: summary });
    expect(findProfile("trace").trace).toEqual({ summary, ...columns });
  });

  test("is refused where it is something else", async () => {
    const whole = encodeTrace({ summary, ...columns });
    const more = encodeTrace({ summary: { ...summary, keys: 1 }, ...columns });
    for (const bytes of [whole.subarray(0, -1), more, Buffer.from("{}\n"), Buffer.from("throw 1")])
      await expectFailure(
        () => loadPlugins([written(bytes)]),
        EXIT.usage,
        "requests.trace",
        "--trace",
      );
  });
});
