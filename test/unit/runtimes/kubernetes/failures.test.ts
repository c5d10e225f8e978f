import { readFileSync } from "node:fs";
import type { CoreV1Event, V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import {
  apiFailure,
  podFailure,
  unknownContext,
} from "../../../../src/runtimes/kubernetes/failures.js";
import { KubernetesError } from "../../../../src/runtimes/kubernetes/kubernetes-error.js";

/** Recorded from a cluster of two nodes (Kubernetes 1.34.4). */
const recorded = <Value>(name: string): Record<string, Value> =>
  JSON.parse(
    readFileSync(new URL(`../../../fixtures/kubernetes/${name}.json`, import.meta.url), "utf8"),
  );
const pods = recorded<{ pod: V1Pod; events: CoreV1Event[] }>("pods");
const errors = recorded<{ request: string; message: string; status?: number; code?: string }>(
  "api-errors",
);

const failureOf = (name: string) =>
  podFailure(pods[name]?.pod ?? expect.fail(name), pods[name]?.events);
function apiTextOf(name: string): string {
  const { request, message, status, code } = errors[name] ?? expect.fail(name);
  const cause = Object.assign(new Error(message), { code });
  return apiFailure(new KubernetesError(request, message, status, { cause }), {
    namespace: "bench",
    context: "kube-up",
    server: "https://10.77.0.1:6443",
  });
}

describe("a pod", () => {
  test.each([
    ["image-never", "node1", "nosuch:1"],
    ["image-pull", "node2", "i/o timeout"],
    ["image-name", "No Such", "--registry"],
    ["oom", "48Mi", "--store-memory"],
    ["evict", "node2", "ephemeral"],
    ["deadline", "3 s", ""],
    ["no-command", "/nosuch", "npm run images"],
    ["root-user", "node:24-trixie-slim", "root"],
    ["exits", "3", ""],
  ])("that cannot run any more is final: %s", (name, what, fix) => {
    const failure = failureOf(name);
    expect(failure?.text).toContain(what);
    expect(failure?.text).toContain(fix);
    expect(failure).toMatchObject({ isFinal: true });
  });

  test.each([
    ["full-cpu", "2 Insufficient cpu"],
    ["no-node", "--node-store"],
    ["no-config", "nosuch"],
  ])("that may run later is not: %s", (name, text) => {
    expect(failureOf(name)).toMatchObject({ text: expect.stringContaining(text), isFinal: false });
  });

  test("whose pod is gone or being deleted says so", () => {
    expect(podFailure(undefined)?.text).toContain("gone");
    const pod = { metadata: { deletionTimestamp: new Date(0) }, status: { phase: "Running" } };
    expect(podFailure(pod)?.text).toContain("deleted");
  });

  test.each([
    ["PreemptionByScheduler", "higher priority"],
    ["DeletionByTaintManager", "node7"],
    ["EvictionByEvictionAPI", "drain"],
    ["SomethingNew", "by a new thing"],
  ])("that was disrupted says by whom: %s", (reason, text) => {
    const conditions = [
      { type: "DisruptionTarget", status: "True", reason, message: "by a new thing" },
    ];
    const pod = {
      spec: { nodeName: "node7", containers: [] },
      status: { phase: "Running", conditions },
    };
    expect(podFailure(pod)).toMatchObject({ text: expect.stringContaining(text), isFinal: true });
  });

  test("whose node is lost has failed for good", () => {
    expect(
      podFailure({ status: { phase: "Pending" } }, [{ reason: "NodeNotReady" }])?.isFinal,
    ).toBe(true);
  });
});

describe("a request", () => {
  test.each([
    ["quota-exceeded", "namespace bench", "limits.cpu=2"],
    ["quota-missing-caps", "limits.cpu", "caps"],
    ["pod-security", "allowPrivilegeEscalation", "--namespace"],
    ["host-network", "hostNetwork=true", "--host-network"],
    ["limit-range", "per Container is 1", "caps"],
    ["no-namespace", "rb-nosuch", "kubectl create namespace rb-nosuch"],
    ["terminating", "bench", "deleted"],
    ["unauthorized", "401", "log in"],
    ["refused", "https://10.77.0.1:6443 (ECONNREFUSED)", "--kube-context"],
    ["no-such-host", "ENOTFOUND", "--kube-context"],
    ["invalid", "cpu limit of 1", "--namespace"],
    [
      "forbidden-create",
      "create pods",
      "--user system:serviceaccount:rb-e:execer | kubectl apply -f -",
    ],
    // Refusals of a WebSocket and of a log that follows name nobody.
    ["forbidden-exec", "get pods/exec", "kubernetes role --namespace bench |"],
    ["forbidden-follow", "get pods/log", "kubernetes role --namespace bench |"],
  ])("that fails says why and what fixes it, in one line: %s", (name, what, fix) => {
    const text = apiTextOf(name);
    expect(text).toContain(what);
    expect(text).toContain(fix);
    expect(text).not.toContain("\n");
  });

  test("that a policy of the cluster denies names the policy", () => {
    const message =
      'admission webhook "pods.policy.example.org" denied the request: image must come from\nregistry.example.org';
    const text = apiFailure(new KubernetesError("create pods", message, 400), {
      namespace: "bench",
    });
    expect(text).toContain("pods.policy.example.org");
  });

  test("without an answer says that the cluster hangs", () => {
    const error = new KubernetesError(
      "list pods",
      "the cluster did not answer within 15 s (list pods)",
    );
    expect(apiFailure(error, { namespace: "bench" })).toContain("the cluster hangs");
  });
});

test("a context that does not exist is answered with the nearest one and all that there are", () => {
  expect(unknownContext("kubeup", ["kube-up", "prod"])).toMatch(/kube-up\?.*kube-up, prod/);
  expect(unknownContext("x", [])).toContain("set KUBECONFIG");
});
