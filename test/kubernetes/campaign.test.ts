import { beforeAll, describe, expect, test } from "vitest";
import { Campaign } from "../helpers/campaign.js";
import { temporaryFolders } from "../helpers/folders.js";
import { kubectl, testNamespace } from "../helpers/kubectl.js";
import { needs } from "../helpers/needs.js";
import { until } from "../helpers/store.js";

/**
 * Campaigns on a real cluster, whose nodes have the images of this state of the project (see
 * `.ci/run`).
 */

const newFolder = temporaryFolders();
const capsOf = (store: number, server: number): string[] =>
  `--store-cpus ${store} --server-cpus ${server} --loadtest-cpus 0.5 --store-memory 256m`.split(
    " ",
  );
const CAPS = capsOf(0.5, 1);
/** Six nodes of a store beside a server and a generator, on a small cluster. */
const SIX = capsOf(0.2, 0.7);
const SHORT = ["--concurrency", "10", "--workers", "1", "--allow-parallel"];

/** Names of all that is there but what each namespace has. */
const everything = (namespace: string): string[] =>
  kubectl("--namespace", namespace, "get", "pods,configmaps,services,secrets", "--output", "name")
    .split("\n")
    .filter((name) => name !== "" && !name.includes("kube-root-ca.crt"));

const flagsFor = (namespace: string): string[] =>
  ["--runtime", "kubernetes", "--namespace", namespace].concat(SHORT);
const env = () => ({ KUBECONFIG: process.env.KUBECONFIG ?? "", HOME: process.env.HOME ?? "" });

describe("a campaign in a namespace with the restricted profile", needs(["kubernetes"]), () => {
  beforeAll(() => {
    kubectl("version");
  });

  const restricted = () => testNamespace({ "pod-security.kubernetes.io/enforce": "restricted" });

  test("is valid with every role's figures; other people's pods stay, and nothing of it is left", async () => {
    const namespace = restricted();
    // With a name like ours, but not our label.
    const foreign = "ratelimit-bench-20260101-000000-abcdef-server-1";
    const secure = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
    const spec = {
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: [
        {
          name: "main",
          image: "valkey/valkey:8.1",
          command: ["sleep", "600"],
          securityContext: secure,
        },
      ],
    };
    const overrides = `--overrides=${JSON.stringify({ spec })}`;
    kubectl("--namespace", namespace, "run", foreign, "--image=valkey/valkey:8.1", overrides);
    const before = everything(namespace);
    const flags = [...flagsFor(namespace), ...CAPS, "--duration-mode", "custom:3"];
    const campaign = Campaign.run(newFolder(), "iovalkey", flags, env());
    const { code, stderr } = await campaign.ended;
    expect(stderr).toBe(campaign.suspectWarning);
    expect(code).toBe(0);
    expect(everything(namespace)).toEqual(before);

    const { runtime, engine, images } = campaign.manifest;
    expect(runtime).toMatchObject({ id: "kubernetes", caps_applied: true });
    expect(engine).toMatchObject({ name: "Kubernetes", version: expect.stringMatching(/^v1\./) });
    for (const image of ["server", "loadtest", "valkey"])
      expect(images?.[image]?.id).toMatch(/^sha256:[0-9a-f]{64}$/);
    const [result] = campaign.measured;
    expect(result?.versions.store).toMatch(/^8\.1/);
    expect(result?.verdict.status, JSON.stringify(result?.verdict.reasons)).not.toBe("invalid");
    for (const role of ["generator-1", "server-1", "store-1"]) {
      const figures = result?.resources[role];
      expect(figures?.cpu_us, role).toBeGreaterThan(0);
      expect(figures?.run_delay_us, role).toBeGreaterThan(0);
      expect(figures?.network?.received_bytes, role).toBeGreaterThan(0);
      expect(figures?.throttling?.periods, role).toBeGreaterThan(0);
    }
    expect(result?.resources["server-1"]?.caps).toEqual({ cpus: 1, memory_bytes: 2 * 1024 ** 3 });
  });

  test("is valid with six nodes of a store", async () => {
    const namespace = restricted();
    const flags = [...flagsFor(namespace), ...SIX, "--duration-mode", "custom:3"];
    const campaign = Campaign.run(newFolder(), "iovalkey:cluster", flags, env());
    const { code, stderr } = await campaign.ended;
    expect(code, stderr).toBe(0);
    expect(everything(namespace)).toEqual([]);
    const [result] = campaign.measured;
    expect(result?.store?.nodes).toHaveLength(6);
    expect(result?.verdict.status, JSON.stringify(result?.verdict.reasons)).not.toBe("invalid");
  });

  test("survives the kill of its store and a pause of its server, which come back at their addresses", async () => {
    const namespace = restricted();
    const faults = ["--fault", "restart:store-1@3s+1s", "--fault", "pause:server-1@6s+1s"];
    const flags = [...flagsFor(namespace), ...CAPS, "--duration-mode", "custom:10", ...faults];
    const campaign = Campaign.run(newFolder(), "iovalkey", flags, env());
    const { code, stderr } = await campaign.ended;
    expect(code, stderr).toBe(0);
    expect(everything(namespace)).toEqual([]);
    // Each fault is a configuration of its own.
    const results = campaign.measured;
    for (const { verdict } of results)
      expect(verdict.status, JSON.stringify(verdict.reasons)).not.toBe("invalid");
    const done = results.flatMap(({ faults = [] }) =>
      faults.map(({ action, roles, undone }) => ({ action, roles, undone })),
    );
    expect(done.toSorted((one, other) => one.action.localeCompare(other.action))).toEqual([
      { action: "pause", roles: ["server-1"], undone: true },
      { action: "restart", roles: ["store-1"], undone: true },
    ]);
  });

  test("Ctrl-C removes all of it", async () => {
    const namespace = restricted();
    const flags = [...flagsFor(namespace), ...CAPS, "--duration-mode", "custom:20"];
    const campaign = Campaign.run(newFolder(), "iovalkey", flags, env());
    await campaign.waitForLog("measure");
    expect(everything(namespace).length).toBeGreaterThan(3);
    campaign.signal("SIGINT");
    expect((await campaign.ended).code).toBe(130);
    expect(everything(namespace)).toEqual([]);
  });

  test("what kill -9 left is removed by clean", async () => {
    const namespace = restricted();
    const home = newFolder();
    const flags = [...flagsFor(namespace), ...CAPS, "--duration-mode", "custom:20"];
    const killed = Campaign.run(home, "iovalkey", flags, env());
    await killed.waitForLog("measure");
    killed.signal("SIGKILL");
    await killed.ended;
    expect(everything(namespace).length).toBeGreaterThan(3);
    const { code, stdout } = await Campaign.command(home, ["clean", "--yes"], env()).ended;
    expect(code).toBe(0);
    expect(stdout).toContain(namespace);
    await until(() => everything(namespace).length === 0);
  });
});
