import { X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { NO_WORKLOAD } from "../../../../src/contract/configuration.js";
import { decodeRunSpec, type RunSpec } from "../../../../src/contract/run-spec.js";
import type { NodePlace } from "../../../../src/kit/env.js";
import { makePlan } from "../../../../src/orchestrator/plan/make-plan.js";
import { layoutOf, type Role } from "../../../../src/orchestrator/run/layout.js";
import type { ExternalStore, RunSettings } from "../../../../src/orchestrator/run/run-settings.js";
import { newStoreAuthority } from "../../../../src/orchestrator/run/store/store-authority.js";
import { type PartAllocation, textOf } from "../../../../src/runtimes/runtime-types.js";
import { configuration } from "../../../helpers/evidence.js";
import { everything, requestOf } from "../../../helpers/request.js";

/** The layout of the only configuration that these flags plan. */
function layout(flags: readonly string[], change: Partial<RunSettings> = {}): Role[] {
  const { configurations } = makePlan(requestOf("--concurrency", "8", ...flags), {
    ...everything,
    external: change.external,
  });
  const [only] = configurations;
  if (!only || configurations.length > 1) throw new Error("the flags plan several configurations");
  return layoutOf({
    configuration: only.configuration,
    runNonce: "abc",
    seed: 7,
    warmupS: 2,
    workers: 4,
    caps: { store: { cpus: 2 }, server: { memory_bytes: 9 } },
    ...change,
  });
}

/** An address for every role. */
const placesOf = (roles: readonly Role[]): Map<string, NodePlace> =>
  new Map(roles.map(({ id }, index) => [id, { host: id, port: 1000 + index }]));

const allocation: PartAllocation = {
  host: "here",
  bind: "0.0.0.0",
  port: 3001,
  secondPort: 13_001,
  ports: {},
  files: "/in/files",
  folder: "/own",
  plugins: ["/in/mine.js"],
  versions: "/in/versions",
};

const environmentOf = (roles: readonly Role[], id: string) =>
  roles
    .find((role) => role.id === id)
    ?.part(placesOf(roles))
    .environment(allocation) ?? {};

function specOf(roles: readonly Role[], id: string): RunSpec {
  const spec = decodeRunSpec(environmentOf(roles, id));
  if (!spec) throw new Error(`${id} has no run spec`);
  return spec;
}

const kindsOf = (roles: readonly Role[]) => roles.map(({ id, kind }) => [id, kind]);

describe("the roles of a run", () => {
  test("are a store, its probe, a server and a generator, each after what it needs", () => {
    const roles = layout([]);
    expect(kindsOf(roles)).toEqual([
      ["store-1", "store"],
      ["probe", "helper"],
      ["server-1", "server"],
      ["generator-1", "generator"],
    ]);
    expect(roles.map(({ dependsOn }) => dependsOn)).toEqual([
      [],
      [],
      ["store-1"],
      ["store-1", "server-1"],
    ]);
    expect(roles.filter(({ required }) => required).map(({ id }) => id)).toEqual([
      "store-1",
      "server-1",
    ]);
  });

  test("have the caps of their kind", () => {
    const roles = layout(["--servers", "2"]);
    const caps = roles.map(({ id, part }) => [id, part(placesOf(roles)).caps]);
    expect(Object.fromEntries(caps)).toEqual({
      "store-1": { cpus: 2 },
      probe: undefined,
      "server-1": { memory_bytes: 9 },
      "server-2": { memory_bytes: 9 },
      "generator-1": undefined,
    });
  });

  test("of an encrypted store get a certificate for its address; programs get that of the authority", async () => {
    const authority = await newStoreAuthority();
    const roles = layout(["--clients", "ioredis@redis+tls"], { authority });
    const part = roles.find(({ id }) => id === "store-1")?.part(new Map());
    expect(part?.arguments(allocation).join(" ")).toMatch(
      /^--port 0 --tls-port 3001 .*--tls-cert-file \/in\/files\/store-cert.pem --tls-key-file \/in\/files\/store-key.pem --tls-auth-clients no/,
    );
    const file = part?.files?.["store-cert.pem"];
    const text = file && "text" in file ? await textOf(file, "run-1-store-1") : "";
    const certificate = new X509Certificate(text);
    for (const host of ["run-1-store-1", "run-1-relay-1"])
      expect(certificate.checkHost(host)).toBe(host);
    for (const id of ["probe", "server-1"]) {
      const { ca = "" } = specOf(roles, id).store;
      expect(certificate.verify(new X509Certificate(ca).publicKey)).toBe(true);
    }
    const plain = layout(["--clients", "ioredis@redis"]);
    expect(specOf(plain, "server-1").store.ca).toBeUndefined();
    expect(plain.find(({ id }) => id === "store-1")?.part(new Map()).files).toEqual({});
  });

  test("of a cluster have six nodes, whose second port is that of their bus", () => {
    const roles = layout(["--clients", "iovalkey:cluster"]);
    const nodes = roles.filter(({ kind }) => kind === "store");
    expect(nodes.map(({ id }) => id)).toEqual(
      [1, 2, 3, 4, 5, 6].map((number) => `store-${number}`),
    );
    const part = nodes[5]?.part(new Map());
    expect(part).toMatchObject({ role: "store-6", program: "valkey", workingFolder: "own" });
    expect(part?.arguments(allocation).join(" ")).toMatch(/--port 3001 .*--cluster-port 13001/);
    expect(specOf(roles, "server-1").store).toMatchObject({ id: "valkey", topology: "cluster" });
    expect(specOf(roles, "server-1").store.nodes).toHaveLength(6);
  });

  test("of a run with a slow store have a relay, which everything but the probe takes for the store", () => {
    const roles = layout([
      "--rate",
      "100",
      "--duration-mode",
      "custom:60",
      "--fault",
      "slow-store",
    ]);
    expect(kindsOf(roles)).toEqual([
      ["store-1", "store"],
      ["relay-1", "helper"],
      ["probe", "helper"],
      ["server-1", "server"],
      ["generator-1", "generator"],
    ]);
    expect(roles.find(({ id }) => id === "server-1")?.dependsOn).toContain("relay-1");
    expect(specOf(roles, "server-1").store.nodes).toMatchObject([{ host: "relay-1" }]);
    expect(specOf(roles, "probe").store.nodes).toEqual([]);
  });

  test("of a target without a store are server and generator alone", () => {
    const roles = layout(["--clients", "memory"], { external: external() });
    expect(kindsOf(roles)).toEqual([
      ["server-1", "server"],
      ["generator-1", "generator"],
    ]);
    expect(environmentOf(roles, "server-1")).not.toHaveProperty("STORE_URL");
    expect(specOf(roles, "server-1").store).toEqual({ id: "memory", topology: "none", nodes: [] });
  });
});

describe("the document of a run", () => {
  test("names every server to the generator; each has its own nonce and all have one store and prefix", () => {
    const roles = layout(["--servers", "3"]);
    const servers = ["server-1", "server-2", "server-3"];
    const specs = servers.map((id) => specOf(roles, id));
    expect(new Set(specs.map(({ run_nonce }) => run_nonce)).size).toBe(3);
    expect(new Set(specs.map(({ key_prefix }) => key_prefix)).size).toBe(1);
    for (const spec of specs) expect(spec.store.nodes).toEqual([{ host: "store-1", port: 1000 }]);
    expect(specOf(roles, "generator-1").generator?.servers).toEqual(
      servers.map((id, index) => ({
        id,
        url: `http://${id}:${1002 + index}`,
        run_nonce: specs[index]?.run_nonce,
      })),
    );
  });

  test("tells each program what it does, and where the runtime put plugins and versions", () => {
    const roles = layout(["--workload", "heavy", "--complexity", "3", "--rate", "500"]);
    const server = specOf(roles, "server-1");
    expect(server).toMatchObject({
      target: { text: "iovalkey@valkey:standalone", label: "iovalkey" },
      limits: { points: 1_000_000_000, window_s: 3600, block_s: 0 },
      plugins: ["/in/mine.js"],
      versions_folder: "/in/versions",
      server: { host: "0.0.0.0", port: 3001, complexity: 3, log_level: "silent" },
    });
    expect(server).not.toHaveProperty("generator");
    expect(specOf(roles, "generator-1").generator).toMatchObject({
      layer: "server",
      workload: { id: "heavy", complexity: 3 },
      traffic: "realistic",
      load: { model: "open", rate_per_second: 500, connections: 8 },
      workers: 4,
      warmup_s: 2,
      seed: 7,
      progress: "json",
      waits_for_readings: true,
    });
    expect(specOf(roles, "probe").store.nodes).toEqual([]);
  });
});

describe("several generators", () => {
  const roles = layout(["--generators", "3", "--servers", "2", "--rate", "500"]);
  const generators = ["generator-1", "generator-2", "generator-3"];

  test("are roles of their own, each after all servers", () => {
    const own = roles.filter(({ kind }) => kind === "generator");
    expect(own.map(({ id }) => id)).toEqual(generators);
    for (const { dependsOn } of own) expect(dependsOn).toEqual(["store-1", "server-1", "server-2"]);
    expect(own.map(({ part }) => part(placesOf(roles)).role)).toEqual(generators);
  });

  test("get the whole load and their share of it, and workers for which there are connections", () => {
    const specs = generators.map((id) => specOf(roles, id).generator);
    expect(specs.map((spec) => spec?.share)).toEqual([0, 1, 2].map((index) => ({ index, of: 3 })));
    for (const spec of specs)
      expect(spec).toMatchObject({ load: { rate_per_second: 500, connections: 8 }, workers: 2 });
  });
});

test("a server is ready when it reports its own nonce, not that of another", () => {
  const roles = layout(["--servers", "2"]);
  const [first, second] = ["server-1", "server-2"].map((id) => specOf(roles, id).run_nonce);
  const ready = roles.find(({ id }) => id === "server-1")?.part(placesOf(roles)).ready;
  const answer = (body: unknown) => ({ status: 200, text: JSON.stringify(body) });
  const health = (run_nonce: string | undefined) =>
    answer({
      service: "ratelimit-bench-server",
      status: "ok",
      run_nonce,
      target: configuration.target,
      workloads: [],
      versions: { node: "24.0.0" },
      client_settings: {},
      pid: 1,
    });
  expect(ready?.accepts(health(first))).toBe(true);
  expect(ready?.accepts(health(second))).toBe(false);
  expect(ready?.accepts({ status: 200, text: "nonsense" })).toBe(false);
});

test("at the limiter layer the generator calls the store itself: there is no server", () => {
  const roles = layout(["--layer", "limiter"]);
  expect(kindsOf(roles)).toEqual([
    ["store-1", "store"],
    ["probe", "helper"],
    ["generator-1", "generator"],
  ]);
  const spec = specOf(roles, "generator-1");
  expect(spec.store.nodes).toEqual([{ host: "store-1", port: 1000 }]);
  expect(spec.limits).toBeDefined();
  expect(spec.generator).toMatchObject({ layer: "limiter", workload: NO_WORKLOAD, servers: [] });
});

function external(): ExternalStore {
  return {
    store: "valkey",
    version: "8.1.1",
    topology: "standalone",
    nodes: [{ host: "store.example", port: 6380 }],
    access: { STORE_URL: "rediss://:secret@store.example:6380", STORE_CA: "/ca.pem" },
  };
}

test.each(["server", "limiter"])(
  "at the %s layer an external store is not started; programs get access, and keys of their own",
  (layer) => {
    const roles = layout(["--layer", layer], { external: external() });
    expect(roles.map(({ kind }) => kind)).not.toContain("store");
    const consumer = layer === "server" ? "server-1" : "generator-1";
    for (const id of ["probe", consumer])
      expect(environmentOf(roles, id)).toMatchObject(external().access);
    const { RUN_SPEC } = environmentOf(roles, consumer);
    expect(RUN_SPEC).not.toContain("secret");
    expect(specOf(roles, consumer)).toMatchObject({
      key_prefix: "ratelimit-bench:abc",
      store: { nodes: external().nodes },
    });
  },
);
