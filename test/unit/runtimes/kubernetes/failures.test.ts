import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { KubernetesError } from "../../../../src/runtimes/kubernetes/api.js";
import {
  apiFailure,
  type EventFacts,
  type PodState,
  podFailure,
  unknownContext,
} from "../../../../src/runtimes/kubernetes/failures.js";

/** Recorded from a cluster of two nodes (Kubernetes 1.34.4). */
const recorded = <Value>(name: string): Record<string, Value> =>
  JSON.parse(readFileSync(new URL(`../../../fixtures/kubernetes/${name}.json`, import.meta.url), "utf8"));
const pods = recorded<{ pod: PodState; events: EventFacts[] }>("pods");
const errors = recorded<{
  request: string;
  message: string;
  status?: number;
  reason?: string;
  code?: string;
}>("api-errors");

const failureOf = (name: string) => podFailure(pods[name]?.pod ?? expect.fail(name), pods[name]?.events);
function apiTextOf(name: string): string {
  const { request, message, status, reason, code } = errors[name] ?? expect.fail(name);
  const cause = Object.assign(new Error(message), { code });
  return apiFailure(new KubernetesError(request, message, status, reason, { cause }), {
    namespace: "bench",
    context: "kube-up",
    server: "https://10.77.0.1:6443",
  });
}

describe("a pod", () => {
  test.each([
    ["image-never", "the node node1 does not have the image nosuch:1", "load it on every node"],
    ["image-pull", "the node node2 does not have", "i/o timeout): push it"],
    ["image-name", "No Such is no name of an image", "--registry"],
    ["oom", "more memory than its limit of 48Mi", "--store-memory"],
    ["evict", "the node node2 evicted it (Pod ephemeral local storage", "free that node"],
    ["deadline", "its deadline of 3 s", "run again"],
    ["no-command", 'cannot be started (exec: "/nosuch": stat /nosuch: no such file', "npm run images"],
    ["root-user", "the image node:24-trixie-slim runs as root", "names a user by its number"],
    ["exits", "it ended with exit code 3", ""],
  ])("that cannot run any more is final: %s", (name, what, fix) => {
    const failure = failureOf(name);
    expect(failure?.text).toContain(what);
    expect(failure?.text).toContain(fix);
    expect(failure).toMatchObject({ isFinal: true });
  });

  test.each([
    ["full-cpu", "no node has a place for it (2 Insufficient cpu): free the nodes, or lower the caps"],
    ["no-node", "(2 node(s) didn't match Pod's node affinity/selector): correct --node-store"],
    ["no-config", '(FailedMount: MountVolume.SetUp failed for volume "f" : configmap "nosuch" not found)'],
  ])("that may run later is not: %s", (name, text) => {
    expect(failureOf(name)).toMatchObject({ text: expect.stringContaining(text), isFinal: false });
  });

  test("that runs, or only waits, has no failure", () => {
    const base = pods.exits?.pod ?? expect.fail();
    const phase = (text: string) => ({ ...base, status: { phase: text, conditions: [] } });
    expect(podFailure(phase("Running"))).toBeUndefined();
    expect(podFailure(phase("Pending"))).toBeUndefined();
    const ended = { name: "main", state: { terminated: { exitCode: 0, reason: "Completed" } } };
    expect(
      podFailure({ ...base, status: { phase: "Succeeded", containerStatuses: [ended] } }),
    ).toBeUndefined();
  });

  test("whose pod is gone or being deleted says so", () => {
    expect(podFailure(undefined)?.text).toContain("its pod is gone");
    const pod = { metadata: { name: "x", deletionTimestamp: "2026-01-01" }, status: { phase: "Running" } };
    expect(podFailure(pod)?.text).toContain("being deleted by somebody else");
  });

  test.each([
    ["PreemptionByScheduler", "higher priority"],
    ["DeletionByTaintManager", "the node node7 was tainted"],
    ["EvictionByEvictionAPI", "drain of the node node7"],
    ["SomethingNew", "disrupted (by a new thing)"],
  ])("that was disrupted says by whom: %s", (reason, text) => {
    const conditions = [{ type: "DisruptionTarget", status: "True", reason, message: "by a new thing" }];
    const pod = { spec: { nodeName: "node7", containers: [] }, status: { phase: "Running", conditions } };
    expect(podFailure(pod)).toMatchObject({ text: expect.stringContaining(text), isFinal: true });
  });

  test("whose node is lost names the node", () => {
    const conditions = [{ type: "Ready", status: "False" }];
    const pod = { spec: { nodeName: "node7", containers: [] }, status: { phase: "Running", conditions } };
    expect(podFailure(pod)).toMatchObject({ text: expect.stringContaining("node7"), isFinal: true });
    expect(podFailure({ status: { phase: "Pending" } }, [{ reason: "NodeNotReady" }])?.isFinal).toBe(true);
  });

  test("that was killed names the signal", () => {
    const killed = { name: "main", state: { terminated: { exitCode: 137, reason: "Error" } } };
    expect(podFailure({ status: { phase: "Failed", containerStatuses: [killed] } })?.text).toBe(
      "it was killed by signal 9",
    );
  });
});

describe("a request", () => {
  test.each([
    [
      "quota-exceeded",
      "a quota of the namespace bench forbids it (small, requested: limits.cpu=2",
      "lower the caps",
    ],
    ["quota-missing-caps", "must specify limits.cpu", "give all caps"],
    [
      "pod-security",
      "profile restricted:latest, which forbids this pod (allowPrivilegeEscalation",
      "--namespace",
    ],
    ["host-network", "(host namespaces (hostNetwork=true)", "leave out --host-network"],
    ["limit-range", "maximum cpu usage per Container is 1, but limit is 2", "change the caps"],
    ["no-namespace", "there is no namespace rb-nosuch", "kubectl create namespace rb-nosuch"],
    ["terminating", "the namespace bench is being deleted", "wait until it is gone"],
    ["unauthorized", "does not accept these credentials (401)", "log in again"],
    ["refused", "cannot be reached at https://10.77.0.1:6443 (ECONNREFUSED)", "--kube-context"],
    ["no-such-host", "(ENOTFOUND)", "--kube-context"],
    ["invalid", "must be less than or equal to cpu limit of 1", "check --namespace"],
    [
      "forbidden-create",
      "the user system:serviceaccount:rb-e:execer may not create pods in the namespace bench",
      "--user system:serviceaccount:rb-e:execer | kubectl apply -f -",
    ],
    // Refusals of a WebSocket and of a log that follows name nobody.
    ["forbidden-exec", "this user may not get pods/exec", "kubernetes role --namespace bench |"],
    ["forbidden-follow", "this user may not get pods/log", "kubernetes role --namespace bench |"],
  ])("that fails says why and what fixes it, in one line: %s", (name, what, fix) => {
    const text = apiTextOf(name);
    expect(text).toContain(what);
    expect(text).toContain(fix);
    expect(text).not.toContain("\n");
  });

  test("that a policy of the cluster denies names the policy", () => {
    const message =
      'admission webhook "pods.policy.example.org" denied the request: image must come from\nregistry.example.org';
    const text = apiFailure(new KubernetesError("create pods", message, 400), { namespace: "bench" });
    expect(text).toContain("(pods.policy.example.org: image must come from registry.example.org)");
  });

  test("without an answer says that the cluster hangs", () => {
    const error = new KubernetesError("list pods", "the cluster did not answer within 15 s (list pods)");
    expect(apiFailure(error, { namespace: "bench" })).toContain("the cluster hangs");
  });
});

describe("a context that does not exist", () => {
  test("is answered with the nearest one and all that there are", () => {
    expect(unknownContext("kubeup", ["kube-up", "prod"])).toContain(
      '"kubeup" (did you mean kube-up?); valid: kube-up, prod',
    );
    expect(unknownContext("x", [])).toContain("set KUBECONFIG");
  });
});
