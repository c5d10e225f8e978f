import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { EXIT } from "../../../src/contract/errors.js";
import { kubernetesRuntime } from "../../../src/runtimes/kubernetes/description.js";
import { permissions, permissionsFor, useText } from "../../../src/runtimes/kubernetes/permissions.js";
import type { Part, Runtime } from "../../../src/runtimes/types.js";
import { expectFailure, failureOf } from "../../helpers/errors.js";
import { FakeKubernetes } from "../../helpers/fake-kubernetes.js";
import { ROOT } from "../../helpers/programs.js";
import { until } from "../../helpers/store.js";

/** The runtime with a fake cluster, whose pods are processes of this machine. */

const begun = async () => {};

async function opened(prepare: (fake: FakeKubernetes) => void = () => {}) {
  const fake = await FakeKubernetes.start();
  vi.stubEnv("KUBECONFIG", fake.kubeconfig);
  prepare(fake);
  const workFolder = mkdtempSync(join(tmpdir(), "kubernetes-runtime-"));
  const steps: string[] = [];
  const open = (pid = process.pid): Promise<Runtime> =>
    kubernetesRuntime().open({
      packageFolder: ROOT,
      workFolder,
      programs: [],
      owner: { pid, started: "1" },
      campaign: "20260101_000000",
      signal: new AbortController().signal,
      hold: async () => {},
      onSetupStep: (text) => steps.push(text),
    });
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(workFolder, { recursive: true, force: true });
  });
  return { fake, open, steps };
}

/** A part that runs a script in Node.js. */
const scripted = (script: string, more: Partial<Part> = {}): Part => ({
  role: "server-1",
  kind: "server",
  program: "server",
  arguments: () => ["-e", script],
  environment: () => ({ GREETING: "it's $HOME" }),
  workingFolder: "own",
  ...more,
});

describe("a part in a pod", () => {
  test("has its variables, and gives its output, its lines and its exit code", async () => {
    const { fake, open } = await opened();
    const runtime = await open();
    const script = 'console.log(process.env.GREETING); console.error("a line"); process.exit(3)';
    const part = await runtime.start(scripted(script, { endsByItself: true }), begun);
    expect(await part.output()).toBe("it's $HOME\n");
    expect(await part.exited).toEqual({ code: 3, signal: null });
    expect(part.lastLines().join("\n")).toContain("a line");
    await part.stop();
    await runtime.close();
    await until(() => fake.everything.length === 0);
  });

  test("of more output than a log keeps gives all of it", async () => {
    const { open } = await opened((fake) => {
      fake.mostLogBytes = 1024 ** 2;
    });
    const runtime = await open();
    const script = 'process.stdout.write("x".repeat(9 * 1024 ** 2) + "end")';
    const part = await runtime.start(scripted(script, { endsByItself: true }), begun);
    const output = await part.output();
    expect(output.length).toBe(9 * 1024 ** 2 + 3);
    expect(output.endsWith("end")).toBe(true);
    await part.stop();
    await runtime.close();
  });

  test("reads its files, is killed, and starts again at its address", async () => {
    const { open } = await opened();
    const runtime = await open();
    const script =
      'console.error(require("fs").readFileSync(process.argv[1], "utf8")); setInterval(() => {}, 1000)';
    const part = await runtime.start(
      scripted("", {
        files: { "note.txt": { text: "the note" } },
        arguments: ({ files }) => ["-e", script, `${files}/note.txt`],
      }),
      begun,
    );
    await until(() => part.lastLines().includes("the note"));
    const { host } = part.address;
    await part.kill?.();
    expect(part.isDown).toBe(true);
    await part.restart?.(async () => {});
    expect(part.isDown).toBe(false);
    expect(part.address.host).toBe(host);
    await part.stop();
    await runtime.close();
  });
});

describe("a failure", () => {
  test.each([
    [
      "an image that a node lacks",
      { is: "waiting", reason: "ErrImageNeverPull", message: "not present" } as const,
      /the node node\d does not have the image ratelimit-bench-\w+:\w+: push it to a registry and give --registry/,
    ],
    [
      "a quota",
      {
        is: "refused",
        code: 403,
        message: 'pods "x" is forbidden: exceeded quota: small, requested: cpu=2',
      } as const,
      /a quota of the namespace bench forbids it \(small, requested: cpu=2\)/,
    ],
  ])("before the first run is told in one line, and nothing is left: %s", async (_name, plan, text) => {
    const { fake, open } = await opened((cluster) => {
      cluster.planOf = () => plan;
    });
    const failure = await failureOf(open);
    expect(failure.message).toMatch(text);
    expect(failure.exitCode).toBe(EXIT.environment);
    // What the cluster forbids is known before anything is made.
    expect(fake.used.has("create configmaps")).toBe(plan.is !== "refused");
    await until(() => fake.everything.length === 0);
  });

  test.each(permissionsFor("v1.34.4").map(useText))(
    "of a missing right is told before anything is made: %s",
    async (right) => {
      const { fake, open } = await opened((cluster) => void cluster.refused.add(right));
      await expectFailure(
        open,
        EXIT.environment,
        `may not ${right} in the namespace bench`,
        "kubectl apply -f -",
      );
      expect(fake.everything).toEqual([]);
    },
  );

  test("of exec in mid-run names the right", async () => {
    const { fake, open } = await opened();
    const runtime = await open();
    fake.refused.add("get pods/exec");
    await expectFailure(
      () => runtime.start(scripted("setInterval(() => {}, 1000)"), begun),
      EXIT.environment,
      "server-1",
      "may not get pods/exec in the namespace bench",
    );
    await runtime.close();
  });

  test.each([
    [
      "its memory",
      (fake: FakeKubernetes, pod: string) => fake.killForMemory(pod),
      /more memory than|ran out of memory/,
    ],
    [
      "its node",
      (fake: FakeKubernetes) => fake.nodes.map((node) => fake.loseNode(node)),
      /does not answer any more/,
    ],
    ["its namespace", (fake: FakeKubernetes) => fake.removeNamespace("bench"), /its pod is gone/],
  ])("in mid-run ends the part and says why: %s", async (_name, plant, text) => {
    const { fake, open } = await opened();
    const runtime = await open();
    const part = await runtime.start(scripted("setInterval(() => {}, 1000)"), begun);
    const name = fake.podNames().find((pod) => pod.includes("server-1")) ?? expect.fail();
    plant(fake, name);
    const { signal } = await part.exited;
    expect(signal).toMatch(text);
    await part.stop().catch(() => {});
    await runtime.close().catch(() => {});
  });
});

describe("what is left", () => {
  test("of a dead campaign is found and removed; what others have is not touched", async () => {
    const { fake, open } = await opened();
    const runtime = await open();
    await runtime.start(scripted("setInterval(() => {}, 1000)"), begun);
    fake.addForeignPod("ratelimit-bench-20260101-000000-server-1");
    const description = kubernetesRuntime();
    expect(await description.leftovers(async () => true)).toEqual([]);
    for (const { remove } of await description.leftovers(async () => false)) await remove();
    await until(() => fake.everything.length === 1);
    expect(fake.everything).toEqual(["pod bench/ratelimit-bench-20260101-000000-server-1"]);
    await runtime.close().catch(() => {});
  });
});

describe("the rights of the Role", () => {
  test("are all used, and no others", async () => {
    const { fake, open } = await opened();
    const runtime = await open();
    // The reason why a pod does not start needs its events.
    fake.planOf = () => ({ is: "unschedulable", message: "0/2 nodes are available: 2 Insufficient cpu." });
    const abandoned = runtime.start(scripted(""), begun).catch(() => {});
    await until(() => fake.used.has("list events"));
    fake.planOf = () => ({ is: "run" });
    const part = await runtime.start(scripted("setInterval(() => {}, 1000)", { role: "server-2" }), begun);
    await part.counters();
    await kubernetesRuntime().leftovers(async () => true);
    await part.stop();
    await runtime.close();
    await abandoned;
    const beyond = ["list nodes"];
    expect([...fake.used].filter((use) => !beyond.includes(use)).sort()).toEqual(
      permissions.map(useText).sort(),
    );
  });
});
