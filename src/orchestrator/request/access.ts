import { dirname, resolve } from "node:path";
import { isNode } from "yaml";
import { z } from "zod";
import {
  type DockerHosts,
  dockerHostSchema,
  dockerHostsSchema,
  type KubernetesAccess,
  placedKinds,
} from "../../contract/machines.js";
import { definedOnly } from "../../kit/defined-only.js";
import { usageError } from "../../kit/errors.js";
import { nodeRequirements } from "../../runtimes/kubernetes/pod.js";
import { didYouMean } from "../../targets/did-you-mean.js";
import { readYamlFile } from "./config-file.js";
import type { RequestedPlace } from "./request.js";
import type { Settings } from "./setting-layers.js";
import { AUTO, badValue } from "./setting-values.js";

const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const REGISTRY = /^[A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?(?:\/[a-z0-9][a-z0-9._-]*)*\/*$/;
const KUBERNETES = "kubernetes";

/** Settings that only the runtime of Kubernetes has. */
const KUBERNETES_KEYS = [
  "kube-context",
  "namespace",
  "node-store",
  "node-server",
  "node-generator",
  "host-network",
  "registry",
] as const;

/**
 * The runtime, and how it reaches its machines.
 * @throws usageError for a setting that the runtime does not have
 */
export function placesOf(
  settings: Settings,
): Pick<RequestedPlace, "runtime" | "access"> & { hostsFile?: string } {
  const { source, value: runtime } = settings.get("runtime");
  const file = settings.find("hosts");
  const kubernetesSetting = KUBERNETES_KEYS.map((key) => settings.find(key)).find(
    (setting) => setting !== undefined && setting.value !== "false",
  );
  if (runtime !== KUBERNETES && kubernetesSetting)
    throw usageError(
      `${kubernetesSetting.source} is for --runtime ${KUBERNETES} alone: give both, or leave it out`,
    );
  if (!file) {
    const access = runtime === KUBERNETES ? { kubernetes: kubernetesAccess(settings) } : {};
    return { runtime, access };
  }

  if (runtime !== AUTO && runtime !== "docker")
    throw usageError(
      `${file.source} and ${source} ${runtime.slice(0, 60)}: hosts are Docker engines: give one of them`,
    );
  const url = settings.find("store-url");
  if (url?.value)
    throw usageError(
      `${file.source} and ${url.source}: the store runs on the hosts: give one of them`,
    );
  const docker = readHostsFile(file.value, file.source);
  return { runtime: "docker", access: { docker }, hostsFile: resolve(file.value) };
}

function kubernetesAccess(settings: Settings): KubernetesAccess {
  const valid = (key: string, pattern: RegExp, form: string): string | undefined => {
    const setting = settings.find(key);
    if (setting && !pattern.test(setting.value))
      throw badValue(setting.source, setting.value, `give a ${key}${form}`);
    return setting?.value;
  };

  const context = settings.find("kube-context")?.value;
  const namespace = valid("namespace", NAMESPACE, ": lower-case letters, digits and -, at most 63");
  const registry = valid(
    "registry",
    REGISTRY,
    " without scheme and tag, e.g. registry.example.org/bench",
  );
  const nodes: KubernetesAccess["nodes"] = {};
  for (const kind of placedKinds) {
    const selector = settings.find(`node-${kind}`);
    if (!selector) continue;
    nodeRequirements(selector.value, selector.source);
    nodes[kind] = selector.value;
  }

  return definedOnly({
    context,
    namespace,
    nodes,
    host_network: settings.isOn("host-network") ? (true as const) : undefined,
    registry: registry?.replace(/\/+$/, ""),
  });
}

const nameSchema = z
  .string()
  .regex(
    /^[a-zA-Z0-9][\w.-]{0,62}$/,
    "give a name of letters, digits, dots and dashes, at most 63 characters",
  );

const ENDPOINT =
  /^(unix:\/\/\/[^\s?#]+|tcp:\/\/[^\s/?#@]+|ssh:\/\/[^\s?#:-][^\s?#:]*(:\d+)?(\/[^\s?#]*)?|[a-zA-Z0-9][\w.+-]*)$/;

const fileSchema = dockerHostsSchema.extend({
  network: nameSchema.default("host"),
  hosts: z
    .array(
      dockerHostSchema.extend({
        name: nameSchema,
        docker: z
          .string()
          .max(300)
          .regex(
            ENDPOINT,
            "give unix:///path, tcp://host:port, ssh://[user@]host[:port][/path] or the name of a Docker context",
          ),
        address: z
          .string()
          .regex(
            /^[a-zA-Z0-9][a-zA-Z0-9.-]{0,252}$/,
            "give an IPv4 address or a host name, without a port",
          ),
        tls: z.string().min(1).max(4096).optional(),
      }),
    )
    .min(1, "name at least one host"),
});

/** Addresses that other machines cannot reach. */
const NOT_FROM_ELSEWHERE = /^(127\.|0\.0\.0\.0$|localhost$)/i;

/** Reads a file of Docker hosts (YAML or JSON). @throws usageError that names file, line and fix */
export function readHostsFile(path: string, source: string): DockerHosts {
  const { name, document, lineOf } = readYamlFile(path, source);
  const refused = (offset: number, message: string) =>
    usageError(`${name} line ${lineOf(offset)}: ${message}`);
  const [syntaxError] = document.errors;
  if (syntaxError) throw refused(syntaxError.pos[0], syntaxError.message.replaceAll("\n", " "));

  /** The offset of the value at a path, or of the nearest value around it. */
  const positionOf = (keys: readonly PropertyKey[]): number => {
    for (let length = keys.length; length > 0; length--) {
      const node = document.getIn(keys.slice(0, length), true);
      if (isNode(node) && node.range) return node.range[0];
    }
    return document.contents?.range?.[0] ?? 0;
  };
  const parsed = fileSchema.safeParse(document.toJS());
  if (!parsed.success) {
    const { issues } = parsed.error;
    // A misspelt key also leaves out the right one.
    const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
    if (!issue) throw parsed.error;
    throw refused(positionOf(issue.path), issueText(issue));
  }

  const mistake = mistakeIn(parsed.data);
  if (mistake) throw refused(positionOf(mistake.path), mistake.text);

  // Folders of certificates are relative to the file, so that it can be used from any folder.
  const { hosts, network } = parsed.data;
  const hostsWithPaths = hosts.map(({ tls, ...host }) =>
    definedOnly({ ...host, tls: tls === undefined ? undefined : resolve(dirname(path), tls) }),
  );
  return { network, hosts: hostsWithPaths };
}

const HOST_KEYS = Object.keys(dockerHostSchema.shape);
const FILE_KEYS = Object.keys(dockerHostsSchema.shape);

function issueText(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    const valid = issue.path.length === 0 ? FILE_KEYS : HOST_KEYS;
    return `there is no key ${JSON.stringify(key.slice(0, 60))}${didYouMean(key, valid)}: give ${valid.join(", ")}`;
  }
  if (issue.path.includes("roles"))
    return `${path}: give a list of ${placedKinds.join(", ")}, at least one of them`;
  if (path && /received undefined$/.test(issue.message)) return `${path} is missing`;
  return path ? `${path}: ${issue.message}` : "give network and hosts";
}

/** A mistake that the schema cannot find, because it is about several hosts. */
function mistakeIn({
  network,
  hosts,
}: DockerHosts): { path: PropertyKey[]; text: string } | undefined {
  for (const [index, { name, docker, address, tls }] of hosts.entries()) {
    const path = ["hosts", index];
    if (hosts.findIndex((other) => other.name === name) < index)
      return { path, text: `two hosts have the name ${name}: give each its own` };
    if (hosts.length > 1 && NOT_FROM_ELSEWHERE.test(address))
      return {
        path: [...path, "address"],
        text: `${name}: the other machines cannot reach ${address}: give this machine's address in their network`,
      };
    if (tls !== undefined && !docker.startsWith("tcp://"))
      return { path: [...path, "tls"], text: `${name}: tls is for tcp:// addresses: leave it out` };
  }
  const missing = placedKinds.find((kind) => !hosts.some(({ roles }) => roles.includes(kind)));
  if (missing)
    return {
      path: ["hosts"],
      text: `no host is for the role ${missing}: add it to the roles of one`,
    };
  if (["bridge", "none", "default", "ingress"].includes(network) && hosts.length > 1)
    return {
      path: ["network"],
      text: `the network ${network} does not join machines: give host, or the name of an attachable overlay network`,
    };
  return undefined;
}
