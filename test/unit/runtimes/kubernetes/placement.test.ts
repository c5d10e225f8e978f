import { describe, expect, test } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import {
  affinityOf,
  nodeRequirements,
  ownAddress,
  type PodRequest,
  podOf,
  sharedNodes,
} from "../../../../src/runtimes/kubernetes/pod.js";
import { podCaps } from "../../../../src/runtimes/kubernetes/pod-caps.js";
import { expectFailure } from "../../../helpers/errors.js";

describe("labels of nodes", () => {
  test("are read as kubectl reads them", () => {
    expect(
      nodeRequirements(
        "disk=ssd, zone in (a, b),gen notin (1),!spot,example.org/big,x!=y",
        "--node-store",
      ),
    ).toEqual([
      { key: "disk", operator: "In", values: ["ssd"] },
      { key: "zone", operator: "In", values: ["a", "b"] },
      { key: "gen", operator: "NotIn", values: ["1"] },
      { key: "spot", operator: "DoesNotExist" },
      { key: "example.org/big", operator: "Exists" },
      { key: "x", operator: "NotIn", values: ["y"] },
    ]);
  });

  test.each(["", "a=b=c", "a in b", "$(touch x)", "a=b,", "-x"])("%j is refused", async (text) => {
    await expectFailure(
      () => nodeRequirements(text, "--node-store"),
      EXIT.usage,
      "--node-store",
      "disk=ssd",
    );
  });
});

describe("a place", () => {
  const place = { campaign: "c", kind: "server" } as const;

  test("avoids the nodes of other kinds, and is bound to a selector and to a node only where there is one", () => {
    const { nodeAffinity, podAntiAffinity } = affinityOf({ nodes: {} }, place);
    expect(nodeAffinity).toBeUndefined();
    const avoided = podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    const kinds = avoided.map(
      ({ podAffinityTerm }) => podAffinityTerm.labelSelector?.matchLabels?.["ratelimit-bench.kind"],
    );
    expect(kinds).toContain("store");
    expect(kinds).toContain("generator");
    const bound = affinityOf({ nodes: { server: "disk=ssd" } }, { ...place, node: "n1" });
    expect(
      bound.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms,
    ).toEqual([
      {
        matchExpressions: [{ key: "disk", operator: "In", values: ["ssd"] }],
        matchFields: [{ key: "metadata.name", operator: "In", values: ["n1"] }],
      },
    ]);
  });

  test("that kinds share is told; helpers and nodes of one kind are not", () => {
    const on = (kind: "store" | "server" | "generator" | "helper", machine: string) => ({
      kind,
      machine,
    });
    expect(
      sharedNodes(
        new Map([
          ["store-1", on("store", "n1")],
          ["store-2", on("store", "n1")],
          ["server-1", on("server", "n2")],
          ["generator-1", on("generator", "n2")],
          ["probe", on("helper", "n1")],
        ]),
      ),
    ).toEqual(["generator-1, server-1 share the node n2"]);
  });
});

describe("a pod", () => {
  const request: PodRequest = {
    part: {
      role: "server-1",
      program: "server",
      arguments: () => [],
      environment: () => ({}),
      workingFolder: "package",
    },
    kind: "server",
    name: "n",
    image: "i",
    command: ["node", "$(HOME)", ownAddress, "$$x"],
    environment: { A: "$(POD_IP):1 costs $5" },
    caps: { cpus: 0.5, memory_bytes: 1024 },
    mark: "m",
    metadata: { labels: { "ratelimit-bench.campaign": "c" }, annotations: {} } as never,
    access: { nodes: {} },
  };

  test("is Guaranteed, passes the restricted profile, and has no token of the cluster", () => {
    const { spec } = podOf(request);
    const [container] = spec?.containers ?? [];
    expect(container?.resources?.requests).toEqual(container?.resources?.limits);
    expect(container?.resources?.limits).toEqual({ cpu: "500m", memory: "1024" });
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(spec?.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(spec).toMatchObject({
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      dnsPolicy: "Default",
    });
    expect(spec?.hostNetwork).toBeUndefined();
  });

  test("has Kubernetes replace its own address alone in commands and variables", () => {
    const [container] = podOf(request).spec?.containers ?? [];
    expect(container?.args).toEqual(["node", "$$(HOME)", "$(POD_IP)", "$$$$x"]);
    expect(container?.env?.find(({ name }) => name === "A")?.value).toBe("$(POD_IP):1 costs $$5");
  });
});

test("each role has caps: those that were given, as far as a node has CPUs, else a default", () => {
  expect(podCaps({ cpus: 4, memory_bytes: 5, cpuset: "0-3" }, 2)).toEqual({
    cpus: 2,
    memory_bytes: 5,
  });
  expect(podCaps({ cpus: 4 }, undefined).cpus).toBe(4);
  expect(podCaps({}, undefined)).toEqual({ cpus: 2, memory_bytes: 1024 ** 3 });
});
