import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { PORT } from "../../src/runtimes/containers/container-options.js";
import { Campaign } from "../helpers/campaign.js";
import {
  added,
  asPrinted,
  docker,
  everything,
  foreign,
  inspected,
  printedSettings,
  running,
  settingsOf,
  tryDocker,
} from "../helpers/engine.js";

import { temporaryFolders } from "../helpers/folders.js";
import { ROOT } from "../helpers/programs.js";

const DOCKER = ["--runtime", "docker"];
const GIB = 1024 ** 3;
/** How long each of all targets is measured: one sample a second. */
const SECONDS = 3;
const newFolder = temporaryFolders();

beforeAll(() => {
  docker("version");
});

test("all six targets on real stores, with every role's caps, counters and images; nothing is left [R-foreign-1]", async () => {
  const others = foreign();
  const before = everything();
  const campaign = Campaign.run(newFolder(), "all", [
    ...DOCKER,
    "--duration-mode",
    `custom:${SECONDS}`,
    "--concurrency",
    "20",
  ]);
  const { code, stderr } = await campaign.ended;
  expect(stderr).toBe(campaign.suspectWarning);
  expect(code).toBe(0);
  expect(added(before)).toEqual([]);
  expect(docker("inspect", "--format", "{{.State.Running}}", others)).toBe("true");

  const { runtime, engine, images, stores } = campaign.manifest;
  expect(runtime).toMatchObject({ id: "docker", caps_applied: true, embedded_store: false });
  expect(engine).toMatchObject({ name: "Docker", version: expect.stringMatching(/^\d+\./) });
  expect(engine?.kernel).not.toBe("");
  for (const image of ["server", "loadtest", "valkey", "redis"]) {
    expect(images?.[image]?.id).toMatch(/^sha256:[0-9a-f]{64}$/);
  }
  expect(stores.valkey?.version).toMatch(/^8\.1/);
  expect(stores.redis?.version).toMatch(/^8\.0/);

  const results = campaign.measured;
  expect(results).toHaveLength(6);
  for (const { configuration, versions, resources, verdict, store } of results) {
    const nodes = configuration?.target.topology === "cluster" ? 6 : 1;
    expect(versions.store).toMatch(configuration?.target.store === "redis" ? /^8\.0/ : /^8\.1/);
    expect(store?.nodes).toHaveLength(nodes);
    const stores = Array.from({ length: nodes }, (_, index) => `store-${index + 1}`);
    const roles = ["generator-1", "server-1", ...stores];
    for (const role of roles) {
      const figures = resources[role];
      expect(figures?.cpu_us, role).toBeGreaterThan(0);
      expect(figures?.network?.received_bytes, role).toBeGreaterThan(0);
      expect(figures?.caps?.memory_bytes, role).toBe(2 * GIB);
      expect(figures?.samples.length, role).toBeGreaterThanOrEqual(SECONDS - 1);
    }
    expect(resources["store-1"]?.caps?.cpus).toBeGreaterThanOrEqual(1);
    expect(verdict.status, JSON.stringify(verdict.reasons)).not.toBe("invalid");
    for (const { text } of verdict.reasons) expect(text).not.toBe("");
  }
});

describe("while a run is measured", () => {
  test("its containers are capped, hardened and reach nothing of the host; the store has the file's settings, and is suspect where its CPU cap holds it up", async () => {
    // Whoever uses these ports on the host is not in the way.
    for (const port of [3001, 6379]) {
      const taken = createServer().listen(port, "127.0.0.1");
      taken.on("error", () => {});
      onTestFinished(() => void taken.close());
    }
    const campaign = Campaign.run(newFolder(), "iovalkey", [
      ...DOCKER,
      // Ten descriptors a request: the store has work enough to meet its cap.
      "--store-cpus",
      "0.2",
      "--traffic",
      "mixed10",
      "--duration-mode",
      "custom:7",
      "--concurrency",
      "100",
    ]);
    await campaign.waitForLog("measure");
    const roles = running();
    expect([...roles.keys()].sort()).toEqual([
      "generator-1",
      "helper-server",
      "server-1",
      "store-1",
    ]);
    for (const [role, id] of roles) {
      const { Config, HostConfig, NetworkSettings, Mounts } = inspected(id);
      expect(Config.User, role).toBe("1000:1000");
      expect(HostConfig, role).toMatchObject({
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
        ReadonlyRootfs: true,
        PidsLimit: 4096,
        RestartPolicy: { Name: "no" },
        Privileged: false,
      });
      // No port of the host, no file of the host, and above all not the engine's socket.
      expect(
        Object.values(NetworkSettings.Ports).flatMap((ports) => ports ?? []),
        role,
      ).toEqual([]);
      expect(Mounts, role).toEqual([]);
      const { output } = tryDocker("exec", id, "sh", "-c", "id -u; touch /planted");
      expect(output, role).toMatch(/^1000\n.*read-only/is);
    }
    const store = roles.get("store-1") ?? "";
    const limits = { Memory: 2 * GIB, MemorySwap: 2 * GIB, NanoCpus: 2e8 };
    expect(inspected(store).HostConfig).toMatchObject(limits);

    const conf = settingsOf(readFileSync(join(ROOT, "valkey.conf"), "utf8"));
    expect(conf.size).toBeGreaterThan(10);
    const ask = ["valkey-cli", "-p", String(PORT), "config", "get", ...conf.keys()];
    const printed = printedSettings(docker("exec", store, ...ask));
    expect(printed).toEqual(new Map([...conf].map(([name, value]) => [name, asPrinted(value)])));
    await campaign.ended;
    const [result] = campaign.measured;
    const held = result?.resources["store-1"];
    expect(held?.caps?.cpus).toBe(0.2);
    expect(held?.throttling?.throttled_periods).toBeGreaterThan(0);
    const reason = result?.verdict.reasons.find(({ rule }) => rule === "M14");
    expect(reason?.severity).toBe("suspect");
    expect(reason?.text).toContain("store-1");
    for (const [name, value] of Object.entries(result?.store?.settings ?? {})) {
      const written = conf.get(name);
      if (written !== undefined) expect(value, name).toBe(asPrinted(written));
    }
  });

  test("Ctrl-C gives everything back, which `clean` did not take away, while a node of the store is frozen, too [R-interrupt-6]", async () => {
    const before = everything();
    const flags = [
      "--duration-mode",
      "custom:60",
      "--rate",
      "200",
      "--fault",
      "store-pause@3s+50s",
    ];
    const home = newFolder();
    const campaign = Campaign.run(home, "iovalkey", [...DOCKER, ...flags]);
    await campaign.waitForLog(": done to store-1");
    // A campaign that lives is not cleaned away.
    const { stdout } = await Campaign.command(home, ["clean"]).ended;
    expect(stdout).not.toMatch(/container|network/);
    campaign.signal("SIGINT");
    expect((await campaign.ended).code).toBe(130);
    expect(added(before)).toEqual([]);
    expect(await campaign.leftovers()).toEqual([]);
  });
});

test("without an engine `docker` is an environment error with the fix [R-no-engine-1]", async () => {
  const env = {
    DOCKER_HOST: "unix:///nonexistent/docker.sock",
    PATH: `${process.execPath.replace(/\/node$/, "")}:/usr/bin:/bin`,
  };
  const asked = Campaign.run(newFolder(), "none", DOCKER, env);
  const { code, stderr } = await asked.ended;
  expect(code).toBe(3);
  expect(stderr).toContain("--runtime local");
});

test("an image that cannot be built is an environment error that names its file", async () => {
  const campaign = Campaign.run(newFolder(), "none", DOCKER, { NODE_VERSION: "0-does-not-exist" });
  const { code, stderr } = await campaign.ended;
  expect(code).toBe(3);
  expect(stderr).toMatch(/Dockerfile\.server/);
});
