import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { KubernetesAccess } from "../../src/contract/machines.js";
import { EXIT } from "../../src/kit/errors.js";
import { kubernetesRuntime } from "../../src/runtimes/kubernetes/kubernetes-description.js";
import { roleYaml } from "../../src/runtimes/kubernetes/permissions.js";
import type { Part, Runtime } from "../../src/runtimes/runtime-types.js";
import { expectFailure } from "../helpers/errors.js";
import { accountKubeconfig, apply, kubectl, testNamespace } from "../helpers/kubectl.js";
import { needs } from "../helpers/needs.js";
import { ROOT } from "../helpers/programs.js";
import { until } from "../helpers/store.js";

/** Failures on a real cluster. Its nodes have the project's images, by their names. */

const MIB = 1024 ** 2;
const begun = async () => {};

function open(access: Partial<KubernetesAccess>): Promise<Runtime> {
  const workFolder = mkdtempSync(join(tmpdir(), "kubernetes-failures-"));
  onTestFinished(() => rmSync(workFolder, { recursive: true, force: true }));
  return kubernetesRuntime({ nodes: {}, ...access }).open({
    packageFolder: ROOT,
    workFolder,
    programs: [],
    owner: { pid: process.pid, started: "1" },
    campaign: "20260101_000000",
    signal: new AbortController().signal,
    hold: async () => {},
    onSetupStep: () => {},
  });
}

const scripted = (role: string, script: string, caps: Part["caps"] = {}): Part => ({
  role,
  kind: "generator",
  program: "server",
  caps: { cpus: 0.2, memory_bytes: 128 * MIB, ...caps },
  endsByItself: true,
  arguments: () => ["-e", script],
  environment: () => ({}),
  workingFolder: "own",
});

const WAIT = "setInterval(() => {}, 1000)";
const ourPods = (namespace: string): string =>
  kubectl("--namespace", namespace, "get", "pods", "--output=name");

describe("on a real cluster", needs(["kubernetes"]), () => {
  test("parts that lack memory, a node, or a log of their length tell so, or are whole", async () => {
    const namespace = testNamespace({ "pod-security.kubernetes.io/enforce": "restricted" });
    const runtime = await open({ namespace });

    // It waits, so that a slow machine sees it run before it ends.
    const eat = "const all = []; for (;;) all.push(Buffer.alloc(1e6, 1));";
    const greedy = await runtime.start(
      {
        ...scripted("generator-1", `process.stdin.once("data", () => { ${eat} })`),
        takesInput: true,
      },
      begun,
    );
    greedy.write?.("eat");
    expect((await greedy.exited).signal).toMatch(/out of memory|more memory than its limit/);
    await greedy.stop();

    await expectFailure(
      () => runtime.start(scripted("generator-2", WAIT, { memory_bytes: 4096 ** 2 * MIB }), begun),
      EXIT.environment,
      "generator-2",
      "Insufficient memory",
    );

    // The kubelet rotates a log at 10 MiB.
    const length = 30 * MIB;
    const long = await runtime.start(
      scripted("generator-3", `process.stdout.write("x".repeat(${length - 1}) + "y")`),
      begun,
    );
    const output = await long.output();
    const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
    expect(output.length).toBe(length);
    expect(sha256(output)).toBe(sha256(`${"x".repeat(length - 1)}y`));
    await long.stop();
    await runtime.close();
    await until(() => ourPods(namespace) === "");
  });

  test("a right that is taken away in mid-run is named, and nothing is left", async () => {
    const namespace = testNamespace();
    const yaml = roleYaml({ namespace, name: "nightly" });
    apply(namespace, yaml);
    vi.stubEnv("KUBECONFIG", accountKubeconfig(namespace, "nightly"));
    const runtime = await open({}).finally(() => vi.unstubAllEnvs());
    apply(namespace, yaml.replace("verbs: [ get, create ]", "verbs: [ create ]"));
    const canExec = () =>
      kubectl(
        "auth",
        "can-i",
        "get",
        "pods",
        "--subresource=exec",
        "--namespace",
        namespace,
        `--as=system:serviceaccount:${namespace}:nightly`,
      );
    // It ends with 1 where the answer is no.
    await until(() => {
      try {
        return canExec() !== "yes";
      } catch {
        return true;
      }
    });
    await expectFailure(
      () => runtime.start(scripted("generator-1", WAIT), begun),
      EXIT.environment,
      "generator-1",
      `may not get pods/exec in the namespace ${namespace}`,
    );
    await runtime.close();
    await until(() => ourPods(namespace) === "");
  });

  test("a namespace that is deleted in mid-run ends its parts, and the next start names it", async () => {
    const namespace = testNamespace();
    const runtime = await open({ namespace });
    const part = await runtime.start(scripted("generator-1", WAIT), begun);
    kubectl("delete", "namespace", namespace, "--wait=false");
    expect((await part.exited).signal).toMatch(/is being deleted|is gone/);
    const refused = () => runtime.start(scripted("generator-2", WAIT), begun);
    await expectFailure(refused, EXIT.environment, namespace, "--namespace");
    await part.stop();
    await runtime.close();
  });

  test("a namespace that does not exist, a pod that its profile or quota forbids: before anything is made", async () => {
    await expectFailure(
      () => open({ namespace: "ratelimit-bench-none" }),
      EXIT.environment,
      "kubectl create namespace ratelimit-bench-none",
    );
    const restricted = testNamespace({ "pod-security.kubernetes.io/enforce": "restricted" });
    const refused = () => open({ namespace: restricted, host_network: true });
    await expectFailure(refused, EXIT.environment, "--host-network");
    const small = testNamespace();
    kubectl("--namespace", small, "create", "quota", "small", "--hard=pods=0");
    await expectFailure(() => open({ namespace: small }), EXIT.environment, small);
    expect(kubectl("--namespace", small, "get", "configmaps", "--output=name")).not.toContain(
      "ratelimit-bench",
    );
  });
});
