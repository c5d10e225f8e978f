import { hash } from "node:crypto";
import type {
  V1Affinity,
  V1Container,
  V1EnvVar,
  V1NodeSelectorRequirement,
  V1NodeSelectorTerm,
  V1OwnerReference,
  V1Pod,
  V1ResourceRequirements,
  V1Volume,
  V1VolumeMount,
  V1WeightedPodAffinityTerm,
} from "@kubernetes/client-node";
import type { KubernetesAccess } from "../../contract/machines.js";
import type { RoleKind } from "../../contract/role.js";
import { definedOnly } from "../../kit/defined-only.js";
import { usageError } from "../../kit/errors.js";
import { FILES_FOLDER, OWN_FOLDER } from "../containers/container-options.js";
import { CAMPAIGN_LABEL, OWNER_LABEL, ownerText, ROLE_LABEL } from "../containers/labels.js";
import type { Caps, Owner, Part } from "../runtime-types.js";
import { SUPERVISOR } from "./supervisor.js";

/**
 * Everything that the harness creates in a cluster has this label. It never removes anything
 * without it.
 */
const MANAGED_BY = "app.kubernetes.io/managed-by";
const MANAGER = "ratelimit-bench";
export const OURS = `${MANAGED_BY}=${MANAGER}`;
const KIND_LABEL = "ratelimit-bench.kind";

/** The owner as a label, whose value takes no colon. An annotation of the same name has the text. */
const ownerLabel = (owner: Owner): string => hash("sha256", ownerText(owner)).slice(0, 16);

export const labelValue = (text: string): string =>
  text
    .replace(/[^0-9A-Za-z._-]/g, "-")
    .slice(0, 63)
    .replace(/^[^0-9A-Za-z]+|[^0-9A-Za-z]+$/g, "");

export function campaignMetadata(owner: Owner, campaign: string) {
  return {
    labels: {
      [MANAGED_BY]: MANAGER,
      [OWNER_LABEL]: ownerLabel(owner),
      [CAMPAIGN_LABEL]: labelValue(campaign),
    },
    annotations: { [OWNER_LABEL]: ownerText(owner) },
  };
}

export const selectorOf = (owner: Owner): string => `${OURS},${OWNER_LABEL}=${ownerLabel(owner)}`;

const roleLabels = (role: string, kind: RoleKind) => ({
  [ROLE_LABEL]: labelValue(role),
  [KIND_LABEL]: kind,
});

const NAME = "[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?";
const KEY = `(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?${NAME}`;
const VALUE = `(?:${NAME})?`;
const listed = (text: string): string[] => text.split(",").map((value) => value.trim());
const FORMS: readonly { form: RegExp; operator: string; values(text: string): string[] }[] = [
  { form: new RegExp(`^(${KEY})\\s*==?\\s*(${VALUE})$`), operator: "In", values: (text) => [text] },
  {
    form: new RegExp(`^(${KEY})\\s*!=\\s*(${VALUE})$`),
    operator: "NotIn",
    values: (text) => [text],
  },
  { form: new RegExp(`^(${KEY})\\s+in\\s+\\(([^()]+)\\)$`), operator: "In", values: listed },
  { form: new RegExp(`^(${KEY})\\s+notin\\s+\\(([^()]+)\\)$`), operator: "NotIn", values: listed },
  { form: new RegExp(`^(${KEY})$`), operator: "Exists", values: () => [] },
  { form: new RegExp(`^!\\s*(${KEY})$`), operator: "DoesNotExist", values: () => [] },
];

/**
 * The requirements of a selector as `kubectl get nodes -l` takes it, e.g.
 * `disk=ssd,zone in (a, b),!spot`.
 * @param source the flag of the selector
 * @throws usageError
 */
export function nodeRequirements(selector: string, source: string): V1NodeSelectorRequirement[] {
  // A comma in parentheses separates values, not requirements.
  return selector.split(/,(?![^(]*\))/).map((part) => {
    const requirement = part.trim();
    for (const { form, operator, values } of FORMS) {
      const [, key, text = ""] = form.exec(requirement) ?? [];
      if (key === undefined) continue;
      const labelValues = values(text);
      return definedOnly({
        key,
        operator,
        values: labelValues.length > 0 ? labelValues : undefined,
      });
    }
    throw usageError(
      `${source} ${JSON.stringify(selector.slice(0, 60))}: give labels of nodes, e.g. disk=ssd or 'zone in (a, b)'`,
    );
  });
}

/**
 * How much a kind avoids a node with another kind. Server and store avoid each other the most,
 * because a campaign measures their ratio. A service stays beside the store.
 */
const AVOIDS: Readonly<Record<RoleKind, Partial<Record<RoleKind, number>>>> = {
  store: { server: 100, generator: 60, store: 10, helper: 5 },
  server: { store: 100, service: 100, generator: 100, server: 30, helper: 5 },
  service: { server: 100, generator: 60 },
  generator: { server: 100, store: 60, service: 60, generator: 30, helper: 5 },
  helper: { server: 100, store: 60, generator: 60, service: 60 },
};

export interface Place {
  kind: RoleKind;
  campaign: string;
  /** The node that it must run on; absent for any that its selector allows. */
  node?: string | undefined;
}

/** The affinity that says where a pod may and should run. It needs no right to list nodes. */
export function affinityOf(access: Pick<KubernetesAccess, "nodes">, place: Place): V1Affinity {
  const placedKind = place.kind === "service" ? "store" : place.kind;
  const selector = placedKind === "helper" ? undefined : access.nodes[placedKind];
  const term: V1NodeSelectorTerm = definedOnly({
    matchExpressions:
      selector === undefined ? undefined : nodeRequirements(selector, `--node-${placedKind}`),
    matchFields:
      place.node === undefined
        ? undefined
        : [{ key: "metadata.name", operator: "In", values: [place.node] }],
  });
  const isBound = Object.keys(term).length > 0;

  const avoidedPods = Object.entries(AVOIDS[place.kind]).map(([kind, weight]) =>
    podsOf(kind as RoleKind, place.campaign, weight),
  );
  const storePods = podsOf("store", place.campaign, 100);
  return definedOnly({
    nodeAffinity: isBound
      ? { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } }
      : undefined,
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: avoidedPods },
    podAffinity:
      place.kind === "service"
        ? { preferredDuringSchedulingIgnoredDuringExecution: [storePods] }
        : undefined,
  });
}

/** A term for the campaign's pods of a kind on the same node. */
const podsOf = (kind: RoleKind, campaign: string, weight: number): V1WeightedPodAffinityTerm => ({
  weight,
  podAffinityTerm: {
    topologyKey: "kubernetes.io/hostname",
    labelSelector: { matchLabels: { [CAMPAIGN_LABEL]: campaign, [KIND_LABEL]: kind } },
  },
});

/** Sentences on measured roles that share a node; empty where each kind has its own nodes. */
export function sharedNodes(
  placed: ReadonlyMap<string, { kind: RoleKind; machine: string | undefined }>,
): string[] {
  const byNode = new Map<string, Map<RoleKind, string[]>>();
  for (const [role, { kind, machine }] of placed) {
    if (machine === undefined || kind === "helper") continue;
    const kinds = byNode.get(machine) ?? new Map<RoleKind, string[]>();
    kinds.set(kind, [...(kinds.get(kind) ?? []), role]);
    byNode.set(machine, kinds);
  }

  const sentences: string[] = [];
  for (const [node, kinds] of byNode) {
    const roles = [...kinds.values()].flat().sort();
    if (kinds.size > 1) sentences.push(`${roles.join(", ")} share the node ${node}`);
  }
  return sentences;
}

export const CONTAINER = "main";

const MIB = 1024 ** 2;
/**
 * The caps of a role without caps. A pod without limits could be slowed down, or evicted, for others.
 */
export const DEFAULT_CAPS = { cpus: 2, memory_bytes: 1024 * MIB };

/** The caps of an idle pod in which the probe runs. */
export const HELPER_CAPS = { cpus: 0.5, memory_bytes: 384 * MIB };

/** The time after which a pod that is left behind ends by itself. No campaign takes longer. */
const DEADLINE_S = 24 * 3600;

/** The time for the end of a pod. The supervisor ends its child at once, so 30 s would only delay. */
export const GRACE_S = 1;
const USER = 1000;

export interface PodRequest {
  part: Part;
  kind: RoleKind;
  name: string;
  image: string;
  /** The node that it must run on; absent where the cluster chooses. */
  node?: string | undefined;
  command: readonly string[];
  environment: Readonly<Record<string, string>>;
  caps: Caps;
  mark: string;
  files?: { configMap: string; paths: Readonly<Record<string, string>> } | undefined;
  /** The ports on which it listens, where it shares its node's network. */
  hostPorts?: readonly number[] | undefined;
  /** The campaign's ConfigMap, with which the pod goes. */
  owner?: V1OwnerReference;
  metadata: ReturnType<typeof campaignMetadata>;
  access: Pick<KubernetesAccess, "nodes" | "host_network">;
}

/** The only `$(NAME)` in commands and variables that Kubernetes should replace. */
export const ownAddress = "$(POD_IP)";
const escaped = (text: string): string =>
  text
    .split(ownAddress)
    .map((piece) => piece.replaceAll("$", "$$$$"))
    .join(ownAddress);

/** The CPU request of an uncapped part, which is idle in a run and gets a place on every node. */
const IDLE_CPU = "10m";

/** The resources of a pod, in the quantities of Kubernetes. */
function resourcesOf({ isUncapped }: Part, { cpus, memory_bytes }: Caps): V1ResourceRequirements {
  const memory = String(memory_bytes ?? DEFAULT_CAPS.memory_bytes);
  if (isUncapped) return { requests: { cpu: IDLE_CPU, memory }, limits: { memory } };
  const cpu = `${Math.round((cpus ?? DEFAULT_CAPS.cpus) * 1000)}m`;
  return { requests: { cpu, memory }, limits: { cpu, memory } };
}

/**
 * The pod of a part, as the restricted profile admits it. Caps are requests and limits (Guaranteed)
 * unless the part is uncapped.
 */
export function podOf(request: PodRequest): V1Pod {
  const { part, kind, name, access, node, owner } = request;
  const { labels, annotations } = request.metadata;
  const campaign = labels[CAMPAIGN_LABEL] ?? "";
  return {
    metadata: definedOnly({
      name,
      labels: { ...labels, ...roleLabels(part.role, kind) },
      annotations,
      ownerReferences: owner && [owner],
    }),
    spec: definedOnly({
      restartPolicy: "Never",
      activeDeadlineSeconds: DEADLINE_S,
      terminationGracePeriodSeconds: GRACE_S,
      // Addresses are those of pods, because a cluster may not even have a name service.
      dnsPolicy: "Default",
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      hostNetwork: access.host_network || undefined,
      affinity: affinityOf(access, { kind, campaign, node }),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: USER,
        runAsGroup: USER,
        fsGroup: USER,
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: [containerOf(request)],
      volumes: volumesOf(request),
    }),
  };
}

function containerOf(request: PodRequest): V1Container {
  const { part, image, command, environment, caps, mark, files, hostPorts } = request;
  const takesInput = part.takesInput ? "yes" : "no";
  const volumeMounts: V1VolumeMount[] = [
    { name: "own", mountPath: OWN_FOLDER },
    { name: "data", mountPath: "/data" },
  ];
  if (files) volumeMounts.push({ name: "files", mountPath: FILES_FOLDER, readOnly: true });
  return definedOnly({
    name: CONTAINER,
    image,
    imagePullPolicy: "IfNotPresent",
    command: ["/bin/sh", "-c", escaped(SUPERVISOR), "sh", mark, takesInput],
    args: command.map(escaped),
    env: variablesOf(environment),
    workingDir: part.workingFolder === "own" ? OWN_FOLDER : undefined,
    ports: hostPorts?.map(portOf),
    resources: resourcesOf(part, caps),
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    volumeMounts,
  });
}

const portOf = (port: number) => ({ containerPort: port, hostPort: port, protocol: "TCP" });

const variablesOf = (environment: Readonly<Record<string, string>>): V1EnvVar[] => [
  // This one is first, because only variables after it can name it.
  { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
  ...Object.entries(environment).map(([name, value]) => ({ name, value: escaped(value) })),
];

function volumesOf({ files }: PodRequest): V1Volume[] {
  const volumes: V1Volume[] = [
    { name: "own", emptyDir: { medium: "Memory", sizeLimit: "256Mi" } },
    { name: "data", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } },
  ];
  if (files) {
    const items = Object.entries(files.paths).map(([key, path]) => ({ key, path }));
    volumes.push({
      name: "files",
      configMap: { name: files.configMap, defaultMode: 0o555, items },
    });
  }
  return volumes;
}
