import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { EXIT } from "../../../src/contract/errors.js";
import { KubernetesApi, type PodEvent } from "../../../src/runtimes/kubernetes/api.js";
import { apiFailure, podFailure } from "../../../src/runtimes/kubernetes/failures.js";
import { checkPermissions } from "../../../src/runtimes/kubernetes/permissions.js";
import { expectFailure } from "../../helpers/errors.js";
import { FakeKubernetes } from "../../helpers/fake-kubernetes.js";
import { LONG } from "../../helpers/needs.js";
import { until } from "../../helpers/store.js";

/** Against a fake cluster, so without one: that both agree is shown by test/kubernetes, which runs on a real one. */

async function connected(): Promise<{ fake: FakeKubernetes; api: KubernetesApi }> {
  const fake = await FakeKubernetes.start();
  vi.stubEnv("KUBECONFIG", fake.kubeconfig);
  onTestFinished(() => void vi.unstubAllEnvs());
  return { fake, api: await KubernetesApi.connect({ nodes: {} }) };
}

const podOf = (name: string, ...command: string[]) => ({
  metadata: { name, labels: { app: "test" } },
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "any", command }] },
});

/** What ends up in a stream. */
function collector(): { stream: Writable; text: () => string } {
  let collected = "";
  const stream = new Writable({
    write(chunk, _encoding, done) {
      collected += chunk;
      done();
    },
  });
  return { stream, text: () => collected };
}

const phaseOf = async (api: KubernetesApi, name: string) => (await api.pod(name))?.status?.phase;

describe("a pod", () => {
  test("runs, is seen at once, prints its log and ends with its exit code", async () => {
    const { api } = await connected();
    const seen: PodEvent[] = [];
    const following = api.watchPods(
      "app=test",
      (event) => seen.push(event),
      () => {},
    );
    await api.createPod(podOf("one", "sh", "-c", "echo first; sleep 0.2; echo second; exit 3"));
    // On a slow machine it may have ended already.
    await until(async () => ["Running", "Failed"].includes((await phaseOf(api, "one")) ?? ""));
    const log = collector();
    const { ended } = await api.followLog("one", "main", log.stream);
    await ended;
    expect(log.text()).toBe("first\nsecond\n");
    await until(async () => (await phaseOf(api, "one")) === "Failed");
    expect(podFailure(await api.pod("one"))?.text).toBe("it ended with exit code 3");
    expect(await api.log("one", "main", { tailLines: 1 })).toBe("second\n");
    expect(seen.map(({ type }) => type)).toContain("ADDED");
    expect(seen.at(-1)?.pod.status?.phase).toBe("Failed");
    following.close();
  });

  test("runs commands, with their input, output and exit codes", async () => {
    const { api } = await connected();
    await api.createPod(podOf("one", "sleep", "60"));
    await until(async () => (await phaseOf(api, "one")) === "Running");
    const process = await api.exec("one", "main", ["sh", "-c", "cat; echo problem >&2; exit 7"]);
    process.stdin.end("given");
    expect(await Promise.all([text(process.stdout), text(process.stderr), process.exited])).toEqual([
      "given",
      "problem\n",
      7,
    ]);
  });

  test("of another uid is not deleted, and a deleted one is gone", async () => {
    const { fake, api } = await connected();
    const { metadata } = await api.createPod(podOf("one", "sleep", "60"));
    await expect(api.deletePod("one", { graceS: 0, uid: "other" })).rejects.toThrow("UID");
    expect(await api.deletePod("one", { graceS: 0, ...(metadata?.uid ? { uid: metadata.uid } : {}) })).toBe(
      true,
    );
    expect(await api.deletePod("one", { graceS: 0 })).toBe(false);
    expect(fake.everything).toEqual([]);
  });

  test("goes with the ConfigMap that owns it, and others stay", async () => {
    const { fake, api } = await connected();
    const { metadata } = await api.createConfigMap({ metadata: { name: "run" }, data: { file: "x" } });
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "run", uid: metadata?.uid ?? "" };
    const owned = podOf("one", "sleep", "60");
    await api.createPod({ ...owned, metadata: { ...owned.metadata, ownerReferences: [owner] } });
    fake.addForeignPod("other", { app: "test" });
    await api.deleteConfigMap("run");
    await until(async () => (await api.pods("app=test")).length === 1);
    expect(fake.everything).toEqual(["pod bench/other"]);
  });

  test("that waits, or that nobody can place, tells why", async () => {
    const { fake, api } = await connected();
    const message = 'Container image "x" is not present with pull policy of Never';
    fake.planOf = () => ({ is: "waiting", reason: "ErrImageNeverPull", message });
    await api.createPod(podOf("one", "true"));
    await until(async () => podFailure(await api.pod("one"), await api.events("one")) !== undefined);
    expect(podFailure(await api.pod("one"))?.text).toMatch(/the node node\d does not have the image any/);
    fake.planOf = () => ({ is: "unschedulable", message: "0/2 nodes are available: 2 Insufficient cpu." });
    await api.createPod(podOf("two", "true"));
    await until(async () => podFailure(await api.pod("two")) !== undefined);
    expect(podFailure(await api.pod("two"))?.text).toContain(
      "no node has a place for it (2 Insufficient cpu)",
    );
  });

  test("whose node is lost, or that needed too much memory, tells so", async () => {
    const { fake, api } = await connected();
    for (const name of ["one", "two"]) await api.createPod(podOf(name, "sleep", "60"));
    await until(async () => (await phaseOf(api, "two")) === "Running");
    fake.killForMemory("one");
    const node = (await api.pod("two"))?.spec?.nodeName ?? "";
    fake.loseNode(node);
    expect(podFailure(await api.pod("one"))?.text).toContain("more memory");
    expect(podFailure(await api.pod("two"), await api.events("two"))?.text).toContain(
      `the node ${node} does not answer any more`,
    );
  });
});

describe("a cluster", () => {
  test("that refuses a right is told at the check, and where it is used", async () => {
    const { fake, api } = await connected();
    expect(await checkPermissions(api)).toBeUndefined();
    fake.refused.add("get pods/exec").add("list pods");
    await expectFailure(
      () => checkPermissions(api),
      EXIT.environment,
      "the user system:serviceaccount:bench:ratelimit-bench may not list pods, get pods/exec",
    );
    await api.createPod(podOf("one", "sleep", "60"));
    const refused = await api.exec("one", "main", ["true"]).catch((error) => error);
    expect(apiFailure(refused, api)).toContain("may not get pods/exec in the namespace bench");
  });

  test("that does not know the user any more says to log in again", async () => {
    const { fake, api } = await connected();
    fake.isExpired = true;
    expect(apiFailure(await api.pods("").catch((error) => error), api)).toContain("log in again");
  });

  test("without the namespace, or with one that is being deleted, names it", async () => {
    const { fake, api } = await connected();
    fake.namespaces.set("bench", "terminating");
    const creating = () => api.createPod(podOf("one", "true")).catch((error) => error);
    expect(apiFailure(await creating(), api)).toContain("the namespace bench is being deleted");
    fake.removeNamespace("bench");
    expect(apiFailure(await creating(), api)).toContain("there is no namespace bench");
  });

  // A request waits for its own time-out.
  test("that hangs ends each request after a while", LONG, async () => {
    const { fake, api } = await connected();
    fake.isFrozen = true;
    const [listed, executed] = await Promise.all([
      api.pods("").catch((error) => error),
      api.exec("one", "main", ["true"]).catch((error) => error),
    ]);
    for (const error of [listed, executed])
      expect(apiFailure(error, api)).toContain("the cluster of the context fake hangs");
  });

  test("is not reached after it ended", async () => {
    const { fake, api } = await connected();
    await fake.stop();
    expect(apiFailure(await api.pods("").catch((error) => error), api)).toContain("(ECONNREFUSED)");
  });

  test("of another context is refused with the contexts that there are", async () => {
    await connected();
    await expectFailure(
      () => KubernetesApi.connect({ context: "fakee", nodes: {} }),
      EXIT.usage,
      'no context "fakee" (did you mean fake?); valid: fake',
    );
  });
});
