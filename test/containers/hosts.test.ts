import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { MeasuredResult } from "../../src/contract/result.js";
import { connectToCurrent } from "../../src/runtimes/containers/endpoint.js";
import { ownImages } from "../../src/runtimes/containers/own-images.js";
import { Campaign } from "../helpers/campaign.js";
import { temporaryFolders } from "../helpers/folders.js";
import { needs } from "../helpers/needs.js";
import { ROOT } from "../helpers/programs.js";

const RUN = "/run/ratelimit-bench-hosts";
const newFolder = temporaryFolders();

/** The three machines of test/helpers/docker-hosts.sh. */
const MACHINES = [
  { name: "store", address: "10.97.0.11", role: "store" },
  { name: "server", address: "10.97.0.12", role: "server" },
  { name: "load", address: "10.97.0.13", role: "generator" },
] as const;
type Machine = (typeof MACHINES)[number]["name"];

/** A timeline has slices of 100 ms. */
const SLICES_PER_SECOND = 10;

const script = (...words: string[]) =>
  execFileSync("bash", [join(ROOT, "test/helpers/docker-hosts.sh"), ...words], {
    stdio: ["ignore", "ignore", "inherit"],
  });

function dockerAt(machine: Machine, ...words: string[]): string[] {
  const { stdout } = spawnSync("docker", ["--host", `unix://${RUN}/${machine}.sock`, ...words], {
    encoding: "utf8",
  });
  return stdout.split("\n").filter(Boolean);
}

/** What runs where now, by machine: roles of the project without its helpers. */
const roles = (): Record<string, string[]> =>
  Object.fromEntries(
    MACHINES.map(({ name }) => [
      name,
      dockerAt(name, "ps", "--format", '{{.Label "ratelimit-bench.role"}}').filter((role) =>
        /^(store|server|generator)-\d+$/.test(role),
      ),
    ]),
  );

/** All containers and volumes on all machines. */
const left = (): string[] =>
  MACHINES.flatMap(({ name }) => [
    ...dockerAt(name, "ps", "--all", "--format", "{{.Names}}"),
    ...dockerAt(name, "volume", "ls", "--quiet"),
  ]);

/** The engine's process, as this machine numbers it. */
const engineOf = (machine: Machine): number =>
  Number(readFileSync(`${RUN}/${machine}.pid`, "utf8"));

function hostsFile(
  home: string,
  network = "host",
  endpoint = (name: Machine): object => ({ docker: `unix://${RUN}/${name}.sock` }),
): string {
  const hosts = MACHINES.map(({ name, address, role }) => ({
    name: `${name}-host`,
    address,
    roles: [role],
    ...endpoint(name),
  }));
  const path = join(home, "hosts.yaml");
  writeFileSync(path, JSON.stringify({ network, hosts }));
  return path;
}

/** Narrows what the server's machine receives: requests, and the store's answers. */
function narrowLink(): void {
  const link = ["netns", "exec", "rlb-lan", "tc", "qdisc"];
  const bucket = "replace dev server root tbf rate 5mbit burst 32kb latency 50ms".split(" ");
  execFileSync("ip", [...link, ...bucket]);
  onTestFinished(() => void execFileSync("ip", [...link, "delete", "dev", "server", "root"]));
}

function expectLimitedByLink({ links = [], limited_by, machine_load }: MeasuredResult): void {
  const rates = links.map(({ bits_per_second = {} }) =>
    Math.min(...Object.values(bits_per_second)),
  );
  expect(rates).toHaveLength(2);
  expect(Math.max(...rates)).toBeLessThan(6_000_000);
  // Beside other tests their CPU time is named first.
  const { foreign_cpu_percent = 0 } = machine_load?.["server-host"] ?? {};
  expect(limited_by, JSON.stringify(machine_load)).toMatchObject({
    resource: foreign_cpu_percent > 50 ? "host CPU" : "network",
  });
}

const onHosts = (file: string, ...flags: string[]) => [
  "--runtime",
  "docker",
  "--hosts",
  file,
  ...flags,
];

describe("three Docker engines", needs(["docker-hosts"]), () => {
  let wereThere = false;

  beforeAll(async () => {
    wereThere = existsSync(RUN);
    script("up");
    // The engines have no internet: images come from this machine's.
    const access = await connectToCurrent("Docker");
    await ownImages(access.connection.docker, access.builder, {
      packageFolder: ROOT,
      signal: new AbortController().signal,
      hold: async () => {},
      onSetupStep: () => {},
    });
    await access.close();
  }, 300_000);

  afterAll(() => {
    if (!wereThere) script("down");
  });

  test("a standalone store and a cluster are measured, each role on its machine; Ctrl-C in the next round leaves nothing [R-hosts-1] [R-hosts-interrupt-1]", async () => {
    const home = newFolder();
    const flags = ["--runs", "2"];
    const campaign = Campaign.run(
      home,
      "iovalkey,iovalkey:cluster",
      onHosts(hostsFile(home), ...flags),
    );
    await campaign.waitForLog("measure");
    const { store = [], server, load } = roles();
    expect(store.length).toBeGreaterThan(0);
    expect(store.every((role) => role.startsWith("store-"))).toBe(true);
    expect(server).toEqual(["server-1"]);
    expect(load).toEqual(["generator-1"]);
    // Targets on several machines take no turns: the first round is two runs.
    await campaign.waitForLog("measure", 3);
    campaign.signal("SIGINT");
    expect((await campaign.ended).code).toBe(130);
    expect(left()).toEqual([]);
    expect(await campaign.leftovers()).toEqual([]);
    // The interrupted round has results without figures.
    const measured = [...campaign.results.values()].flatMap((result) =>
      result.status === "measured" ? [result] : [],
    );
    expect(measured).toHaveLength(2);
    for (const { resources, verdict, store: evidence, placement, links } of measured) {
      expect(placement).toMatchObject({ "store-1": "store-host", "server-1": "server-host" });
      expect(links?.map(({ between }) => between.toSorted().join())).toEqual([
        "load-host,server-host",
        "server-host,store-host",
      ]);
      expect(verdict.status, JSON.stringify(verdict.reasons)).not.toBe("invalid");
      for (const role of ["store-1", "server-1", "generator-1"]) {
        expect(resources[role]?.cpu_us, role).toBeGreaterThan(0);
        // The links are the machine's: no part's own.
        expect(resources[role]?.network, role).toBeUndefined();
      }
      // From the engine's statistics, since its processes are not this machine's.
      expect(resources["store-1"]?.source).toBe("cgroup");
      expect([1, 6]).toContain(evidence?.nodes.length);
    }
  });

  test("an overlay network, engines by TLS and by ssh [R-hosts-2]", async () => {
    const home = newFolder();
    const hasSshd = existsSync(`${RUN}/ssh/id`);
    const endpoint = (name: Machine) => {
      const address = MACHINES.find((machine) => machine.name === name)?.address;
      if (name === "server") return { docker: `tcp://${address}:2376`, tls: `${RUN}/tls` };
      return name === "store" && hasSshd
        ? { docker: `ssh://root@${address}${RUN}/store.sock` }
        : { docker: `unix://${RUN}/${name}.sock` };
    };
    // The user's own ssh is used: here one that knows the key.
    const bin = join(home, "bin");
    mkdirSync(bin);
    const options = `-o IdentityFile=${RUN}/ssh/id -o UserKnownHostsFile=${RUN}/ssh/known_hosts`;
    writeFileSync(join(bin, "ssh"), `#!/bin/sh\nexec /usr/bin/ssh -F /dev/null ${options} "$@"\n`, {
      mode: 0o755,
    });
    const campaign = Campaign.run(
      home,
      "iovalkey",
      onHosts(hostsFile(home, "bench-overlay", endpoint)),
      {
        PATH: `${bin}:${process.env.PATH}`,
      },
    );
    const { code, stderr } = await campaign.ended;
    expect([0, 5], stderr).toContain(code);
    expect(campaign.measured[0]?.verdict.status).not.toBe("invalid");
    expect(campaign.measured[0]?.resources["store-1"]?.network?.received_bytes).toBeGreaterThan(0);
    expect(left()).toEqual([]);
    expect(await campaign.leftovers()).toEqual([]);
  });

  test("a machine that goes in a run fails it by its name; the next run is measured once it is back, and names the narrow link that limits it [R-host-gone-1]", async () => {
    narrowLink();
    const home = newFolder();
    const flags = ["--duration-mode", "custom:2", "--runs", "2", "--cooldown", "12"];
    flags.push("--concurrency", "50");
    const campaign = Campaign.run(home, "iovalkey", onHosts(hostsFile(home), ...flags));
    await campaign.waitForLog("measure");
    process.kill(engineOf("store"), "SIGKILL");
    script("up");
    const { code } = await campaign.ended;
    expect(code).toBe(4);
    const results = [...campaign.results.values()];
    expect(results.map(({ status }) => status).sort()).toEqual(["failed", "measured"]);
    for (const result of results) {
      if (result.status === "failed") expect(result.failure.text).toContain("store-host");
      if (result.status === "measured") expectLimitedByLink(result);
    }
    expect(left()).toEqual([]);
  });

  test("an engine that hangs does not hold up the campaign, which names what is left; clean removes it [R-host-hangs-1]", async () => {
    const home = newFolder();
    const file = hostsFile(home);
    const flags = ["--duration-mode", "custom:8", "--runs", "2"];
    const campaign = Campaign.run(home, "iovalkey", onHosts(file, ...flags));
    await campaign.waitForLog("measure");
    const engine = engineOf("store");
    onTestFinished(() => void process.kill(engine, "SIGCONT"));
    process.kill(engine, "SIGSTOP");
    const { code, stderr } = await campaign.ended;
    expect(code).toBe(4);
    expect(stderr).toMatch(/store-host.*clean --hosts/);
    const refused = await Campaign.command(home, ["clean", "--yes", "--hosts", file]).ended;
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain("store-host");
    process.kill(engine, "SIGCONT");
    const cleaned = await Campaign.command(home, ["clean", "--yes", "--hosts", file]).ended;
    expect(cleaned.stdout).toMatch(/store-1.* store-host/);
    expect(cleaned.code).toBe(0);
    expect(left()).toEqual([]);
  });

  test("kill -9 in a run leaves what clean removes from every machine [R-hosts-interrupt-2]", async () => {
    const home = newFolder();
    const flags = ["--duration-mode", "custom:60"];
    const campaign = Campaign.run(home, "iovalkey", onHosts(hostsFile(home), ...flags));
    await campaign.waitForLog("measure");
    campaign.signal("SIGKILL");
    await campaign.ended;
    // Store, server and generator.
    expect(left().length).toBeGreaterThanOrEqual(3);
    // Its lease names the machines.
    const { stdout } = await Campaign.command(home, ["clean", "--yes"]).ended;
    for (const { name } of MACHINES) expect(stdout).toContain(`${name}-host`);
    expect(left()).toEqual([]);
    expect(await campaign.leftovers()).toEqual([]);
  });

  test("faults are those of the machine that a role runs on, and are undone [R-hosts-3]", async () => {
    const home = newFolder();
    const flags = ["--rate", "300", "--duration-mode", "custom:11"];
    const faults = "store-restart@3s+0.5s/store-pause@7s+0.5s";
    const campaign = Campaign.run(
      home,
      "iovalkey",
      onHosts(hostsFile(home), ...flags, "--fault", faults),
    );
    const { code, stderr } = await campaign.ended;
    expect([0, 5], stderr).toContain(code);
    const [result] = campaign.measured;
    const done = result?.faults?.map(({ name, undone }) => ({ name, undone }));
    expect(done).toEqual([
      { name: "store-restart", undone: true },
      { name: "store-pause", undone: true },
    ]);
    const { failed = [], p99_us = [] } = result?.timeline ?? {};
    const paused = 7 * SLICES_PER_SECOND;
    expect(failed.slice(0, paused).some((count) => count > 0)).toBe(true);
    expect(p99_us.slice(paused).some((us) => (us ?? 0) > 300_000)).toBe(true);
    expect(left()).toEqual([]);
  });
});
