import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { measuredResultSchema } from "../../src/contract/result.js";
import { asPrinted, docker, printedSettings, settingsOf } from "../helpers/engine.js";
import { ROOT } from "../helpers/programs.js";
import { type Inspected, Project, prepare } from "./compose.js";

const GIB = 1024 ** 3;
const STORES = ["valkey", "redis"] as const;
/** Open files that every engine has. */
const FILES = 16_384;

beforeAll(prepare);

/** What every container of ours must be, whatever it does. */
function expectHardened(
  { Config, HostConfig, Mounts, NetworkSettings }: Inspected,
  network: string,
): void {
  expect(Config.User).toBe("1000:1000");
  expect(Config.Labels["ratelimit-bench.by-hand"]).toBe("true");
  expect(HostConfig).toMatchObject({
    CapDrop: ["ALL"],
    SecurityOpt: ["no-new-privileges:true"],
    ReadonlyRootfs: true,
    Privileged: false,
    PidsLimit: 4096,
    NetworkMode: network,
  });
  expect(["", "no"]).toContain(HostConfig.RestartPolicy.Name);
  expect(HostConfig.Memory).toBeGreaterThan(0);
  expect(HostConfig.MemorySwap).toBe(HostConfig.Memory);
  expect(HostConfig.Ulimits).toContainEqual({ Name: "nofile", Soft: FILES, Hard: FILES });
  expect(HostConfig.Ulimits).toContainEqual({ Name: "nproc", Soft: 65_535, Hard: 65_535 });
  expect(Object.keys(HostConfig.Tmpfs ?? {})).toContain("/tmp");
  expect(Object.keys(NetworkSettings.Networks)).toEqual([network]);
  // No volume, so none can be left, and no socket: at most the configuration, which cannot be
  // written.
  expect(Mounts.filter(({ Type, RW }) => Type !== "tmpfs" && (Type !== "bind" || RW))).toEqual([]);
  expect(Mounts.filter(({ Source }) => Source.includes("docker.sock"))).toEqual([]);
  const hosts = Object.values(HostConfig.PortBindings ?? {}).flat();
  expect(hosts.map(({ HostIp }) => HostIp)).toEqual(hosts.map(() => "127.0.0.1"));
}

/** What a store node must be besides. */
function expectStore({ HostConfig, NetworkSettings }: Inspected): void {
  expect(HostConfig).toMatchObject({ NanoCpus: 2e9, Memory: 2 * GIB, CpusetCpus: "" });
  expect(HostConfig.PortBindings ?? {}).toEqual({});
  expect(Object.values(NetworkSettings.Ports).filter(Boolean)).toEqual([]);
  expect(Object.keys(HostConfig.Tmpfs ?? {}).sort()).toEqual(["/data", "/tmp"]);
}

/** Neither root nor able to write where the image is, as the kernel sees it. */
function expectConfined(own: Project, service: string): void {
  const questions = [
    "id -u",
    "touch /x /etc/x 2>/dev/null || echo refused",
    "grep -c '^Cap.*:.*[1-9a-f]' /proc/1/status",
    "grep NoNewPrivs /proc/1/status | tr -s '\\t' ' '",
  ];
  // One command, because each takes Compose a second.
  const answers = own.inside(service, "sh", "-c", `${questions.join("; ")}; true`).split("\n");
  expect(answers).toEqual(["1000", "refused", "0", "NoNewPrivs: 1"]);
}

/** Every line of the configuration file, as the running store gives it. */
function expectSettings(own: Project, service: string, store: string): void {
  const settings = settingsOf(readFileSync(join(ROOT, `${store}.conf`), "utf8"));
  const seen = printedSettings(
    own.inside(service, `${store}-cli`, "config", "get", ...settings.keys()),
  );
  expect(seen).toEqual(new Map([...settings].map(([name, value]) => [name, asPrinted(value)])));
}

/** The load generator of the project measures its server. */
function expectLoad(own: Project, ...profiles: readonly string[]): void {
  const settings = ["-e", "DURATION=1", "-e", "CONNECTIONS=4"];
  const run = ["--profile", "bench", ...profiles, "run", "-T", ...settings];
  const result = measuredResultSchema.parse(JSON.parse(own.tell(...run, "loadtest")));
  expect(result.requests.total).toBeGreaterThan(100);
}

/** Takes a port of this host, or finds it taken already: both will do. */
async function taken(port: number): Promise<void> {
  const listener = createServer();
  await new Promise<void>((resolve) => {
    listener.once("error", () => resolve());
    listener.listen(port, "127.0.0.1", resolve);
  });
  onTestFinished(() => void listener.close());
}

describe("the standalone stores", () => {
  let own: Project;
  beforeAll(() => {
    own = new Project("docker-compose.yml");
    own.tell("up", "--detach", "--wait");
  });
  afterAll(() => own.goesWithoutTrace());

  test("are two containers, capped, confined, and reachable from their network alone", async () => {
    const parts = own.inspect();
    expect([...parts.keys()].sort()).toEqual(["redis", "valkey"]);
    for (const part of parts.values()) {
      expectHardened(part, `${own.name}_bench`);
      expectStore(part);
    }
    for (const store of STORES) expectConfined(own, store);
  });

  test.each(STORES)("%s runs with every setting of its file", (store) =>
    expectSettings(own, store, store),
  );

  test("serve the load generator, on a host whose ports 3001 and 6379 are taken; the server is hardened too", async () => {
    await taken(3001);
    await taken(6379);
    expectLoad(own);
    const server = own.inspect().get("server");
    if (!server) throw new Error("there is no server");
    expectHardened(server, `${own.name}_bench`);
    expectConfined(own, "server");
    const health = await fetch(`http://${own.tell("port", "server", "3001")}/healthz`);
    expect(health.status).toBe(200);
  });

  test("memcached joins them by its profile, with the settings of campaigns, and serves the load generator", () => {
    const withMemcached = own.withEnvironment({ MODE: "memcached" });
    withMemcached.tell("--profile", "memcached", "up", "--detach", "--wait", "memcached");
    const memcached = own.inspect().get("memcached");
    if (!memcached) throw new Error("there is no memcached");
    expectHardened(memcached, `${own.name}_bench`);
    expectStore(memcached);
    expectConfined(withMemcached, "memcached");
    const ask =
      "exec 3<>/dev/tcp/127.0.0.1/11211; printf 'stats settings\\r\\nquit\\r\\n' >&3; cat <&3";
    const settings = withMemcached.inside("memcached", "bash", "-c", ask);
    for (const line of ["maxbytes 1073741824", "maxconns 4096", "num_threads 2", "udpport 0"])
      expect(settings).toContain(`STAT ${line}`);
    expectLoad(withMemcached, "--profile", "memcached");
  });
});

describe.each(STORES)("the %s cluster", (store) => {
  const nodes = [1, 2, 3, 4, 5, 6].map((number) => `${store}-${number}`);
  const fields = (text: string) =>
    new Map(text.split(/\r?\n/).map((line) => line.split(":") as [string, string]));
  let own: Project;

  const expectFormed = () => {
    const ask = (node: string) =>
      `${store}-cli -h ${node} cluster info; ${store}-cli -h ${node} info replication; echo ---;`;
    const values = `${store}-cli -c set a 1; ${store}-cli -h ${nodes[1]} -c get a`;
    const said = own
      .inside(nodes[0] ?? "", "sh", "-c", nodes.map(ask).join(" ") + values)
      .split("---\n");
    expect(said.pop()).toBe("OK\n1");
    const told = said.map(fields);
    expect(told).toHaveLength(6);
    for (const info of told) {
      expect(info.get("cluster_state")).toBe("ok");
      expect(info.get("cluster_slots_ok")).toBe("16384");
      expect(info.get("cluster_known_nodes")).toBe("6");
    }
    expect(told.filter((each) => each.get("role") === "master")).toHaveLength(3);
    expect(told.filter((each) => each.get("master_link_status") === "up")).toHaveLength(3);
  };

  beforeAll(() => {
    own = new Project(`docker-compose-${store}-cluster.yml`);
    own.tell("up", "--detach", "--wait");
  });
  afterAll(() => own.goesWithoutTrace());

  test("is formed once it is up, of six capped and confined nodes with the settings of the file", async () => {
    expectFormed();
    const parts = own.inspect();
    expect([...parts.keys()].sort()).toEqual(["cluster", ...nodes]);
    for (const [service, part] of parts) {
      expectHardened(part, `${own.name}_bench`);
      if (service !== "cluster") expectStore(part);
    }
    expectConfined(own, nodes[0] ?? "");
    expectSettings(own, nodes[5] ?? "", store);
  });

  // Both files differ in the store alone.
  test.runIf(store === "valkey")(
    "stays as it is when it is brought up again, and is formed again of nodes that are empty",
    async () => {
      own.tell("up", "--detach", "--wait");
      expectFormed();
      own.tell("restart");
      own.tell("up", "--detach", "--wait");
      expectFormed();
    },
  );

  test("serves the load generator", () => {
    expectLoad(own);
  });
});

test.each(["server", "loadtest"])(
  "the %s image runs as nobody, and holds nothing that builds or tests",
  async (id) => {
    const image = `ratelimit-bench-${id}`;
    const [inspected] = JSON.parse(docker("image", "inspect", image));
    expect(inspected.Config.User).toBe("1000:1000");
    expect(inspected.Config.Cmd).toEqual([
      "node",
      `dist/${id === "server" ? "server" : "benchmark"}/index.js`,
    ]);
    expect(inspected.Config.Labels["ratelimit-bench.inputs"]).toBeDefined();
    const list = "ls -d /app/* /app/node_modules/* /app/node_modules/@*/*";
    const held = docker("run", "--rm", image, "sh", "-c", list).split("\n");
    const { devDependencies, dependencies } = JSON.parse(
      readFileSync(join(ROOT, "package.json"), "utf8"),
    );
    expect(held.filter((path) => path.startsWith("/app/") && path.split("/").length === 3)).toEqual(
      ["dist", "node_modules", "package.json"].map((name) => `/app/${name}`),
    );
    for (const name of Object.keys(dependencies))
      expect(held).toContain(`/app/node_modules/${name}`);
    // What the dependencies need as well is there for them.
    const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
    const tools = Object.keys(devDependencies).filter(
      (name) => packages[`node_modules/${name}`].dev,
    );
    expect(tools).toContain("typescript");
    for (const name of tools) expect(held).not.toContain(`/app/node_modules/${name}`);
  },
);
