import { resolve } from "node:path";
import { usageError } from "../../contract/errors.js";
import { type KubernetesAccess, placedKinds } from "../../contract/machines.js";
import { nodeRequirements } from "../../runtimes/kubernetes/pod.js";
import { readHostsFile } from "./hosts-file.js";
import { AUTO, type Request } from "./request.js";
import type { Settings } from "./setting-layers.js";

const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const REGISTRY = /^[A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?(?:\/[a-z0-9][a-z0-9._-]*)*$/;
const KUBERNETES = "kubernetes";
const KEYS = [
  "kube-context",
  "namespace",
  "node-store",
  "node-server",
  "node-generator",
  "host-network",
  "registry",
] as const;

/** The runtime, and how it reaches its machines. @throws usageError for a setting that it does not have */
export function placesOf(settings: Settings): Pick<Request, "runtime" | "access"> & { hostsFile?: string } {
  const { source, value: runtime } = settings.get("runtime");
  const file = settings.find("hosts");
  const given = KEYS.map((key) => settings.find(key)).find(
    (setting) => setting !== undefined && setting.value !== "false",
  );
  if (runtime !== KUBERNETES && given)
    throw usageError(`${given.source} is for --runtime ${KUBERNETES} alone: give both, or leave it out`);
  if (!file)
    return { runtime, access: runtime === KUBERNETES ? { kubernetes: kubernetesAccess(settings) } : {} };
  if (runtime !== AUTO && runtime !== "docker")
    throw usageError(
      `${file.source} and ${source} ${runtime.slice(0, 60)}: hosts are Docker engines: give one of them`,
    );
  const url = settings.find("store-url");
  if (url?.value)
    throw usageError(`${file.source} and ${url.source}: the store runs on the hosts: give one of them`);
  const docker = readHostsFile(file.value, file.source);
  return { runtime: "docker", access: { docker }, hostsFile: resolve(file.value) };
}

function kubernetesAccess(settings: Settings): KubernetesAccess {
  const context = settings.find("kube-context")?.value;
  const namespace = settings.find("namespace");
  if (namespace && !NAMESPACE.test(namespace.value)) {
    throw usageError(
      `${namespace.source} ${JSON.stringify(namespace.value.slice(0, 60))}: give a namespace: lower-case letters, digits and -, at most 63`,
    );
  }
  const registry = settings.find("registry");
  const prefix = registry?.value.replace(/\/+$/, "");
  if (registry && !REGISTRY.test(prefix ?? "")) {
    throw usageError(
      `${registry.source} ${JSON.stringify(registry.value.slice(0, 60))}: give a registry without scheme and tag, e.g. registry.example.org/bench`,
    );
  }
  const nodes: KubernetesAccess["nodes"] = {};
  for (const kind of placedKinds) {
    const selector = settings.find(`node-${kind}`);
    if (!selector) continue;
    nodeRequirements(selector.value, selector.source);
    nodes[kind] = selector.value;
  }
  return {
    ...(context === undefined ? {} : { context }),
    ...(namespace ? { namespace: namespace.value } : {}),
    nodes,
    ...(settings.isOn("host-network") ? { host_network: true } : {}),
    ...(prefix === undefined ? {} : { registry: prefix }),
  };
}
