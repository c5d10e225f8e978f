import type { V1EnvVar, V1OwnerReference, V1Pod, V1ResourceRequirements } from "@kubernetes/client-node";
import type { KubernetesAccess } from "../../contract/machines.js";
import type { RoleKind } from "../../contract/role.js";
import { FILES_FOLDER, OWN_FOLDER } from "../containers/container-options.js";
import { CAMPAIGN_LABEL } from "../containers/labels.js";
import type { Caps, Part } from "../types.js";
import { type campaignMetadata, roleLabels } from "./labels.js";
import { affinityOf } from "./placement.js";
import { SUPERVISOR } from "./supervisor.js";

export const CONTAINER = "main";

const MIB = 1024 ** 2;
/** A role without a cap gets these: a pod without limits could be slowed down, or evicted, for others. */
export const DEFAULT_CAPS = { cpus: 2, memory_bytes: 1024 * MIB };
/** An idle pod in which the probe runs. */
export const HELPER_CAPS = { cpus: 0.5, memory_bytes: 384 * MIB };

/** Whoever is left behind ends by itself. No campaign of ours takes longer. */
const DEADLINE_S = 24 * 3600;
/** The supervisor ends its child at once; the default of 30 s would only delay the next run. */
export const GRACE_S = 1;
const USER = 1000;

export interface PodRequest {
  part: Part;
  kind: RoleKind;
  name: string;
  image: string;
  /** It must run there; absent: where the cluster puts it. */
  node?: string | undefined;
  command: readonly string[];
  environment: Readonly<Record<string, string>>;
  caps: Caps;
  mark: string;
  files?: { configMap: string; paths: Readonly<Record<string, string>> } | undefined;
  /** Ports on which it listens, where it shares its node's. */
  hostPorts?: readonly number[] | undefined;
  /** The campaign's ConfigMap, with which the pod goes. */
  owner?: V1OwnerReference;
  metadata: ReturnType<typeof campaignMetadata>;
  access: Pick<KubernetesAccess, "nodes" | "host_network">;
}

/** Kubernetes replaces `$(NAME)` in commands and variables: only ours is meant. */
export const ownAddress = "$(POD_IP)";
const escaped = (text: string): string =>
  text
    .split(ownAddress)
    .map((piece) => piece.replaceAll("$", "$$$$"))
    .join(ownAddress);

/** An uncapped part is idle during a run: this is enough for a place on every node. */
const IDLE_CPU = "10m";

/** Quantities as Kubernetes writes them. */
function resourcesOf({ isUncapped }: Part, { cpus, memory_bytes }: Caps): V1ResourceRequirements {
  const memory = String(memory_bytes ?? DEFAULT_CAPS.memory_bytes);
  if (isUncapped) return { requests: { cpu: IDLE_CPU, memory }, limits: { memory } };
  const cpu = `${Math.round((cpus ?? DEFAULT_CAPS.cpus) * 1000)}m`;
  return { requests: { cpu, memory }, limits: { cpu, memory } };
}

/** As the restricted profile admits; caps are requests and limits (Guaranteed) unless it is uncapped. */
export function podOf(request: PodRequest): V1Pod {
  const { part, kind, name, image, command, environment, caps, mark, files, access } = request;
  const { labels, annotations } = request.metadata;
  const ownLabels = { ...labels, ...roleLabels(part.role, kind) };
  const variables: V1EnvVar[] = [
    // First: only variables after it can name it.
    { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
    ...Object.entries(environment).map(([key, value]) => ({ name: key, value: escaped(value) })),
  ];
  return {
    metadata: {
      name,
      labels: ownLabels,
      annotations,
      ...(request.owner ? { ownerReferences: [request.owner] } : {}),
    },
    spec: {
      restartPolicy: "Never",
      activeDeadlineSeconds: DEADLINE_S,
      terminationGracePeriodSeconds: GRACE_S,
      // No Services: addresses are those of pods, and a cluster's name service may not even be there.
      dnsPolicy: "Default",
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      ...(access.host_network ? { hostNetwork: true } : {}),
      affinity: affinityOf(access, { kind, campaign: labels[CAMPAIGN_LABEL] ?? "", node: request.node }),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: USER,
        runAsGroup: USER,
        fsGroup: USER,
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: [
        {
          name: CONTAINER,
          image,
          imagePullPolicy: "IfNotPresent",
          command: ["/bin/sh", "-c", escaped(SUPERVISOR), "sh", mark, part.takesInput ? "yes" : "no"],
          args: command.map(escaped),
          env: variables,
          ...(part.workingFolder === "own" ? { workingDir: OWN_FOLDER } : {}),
          ...(request.hostPorts
            ? {
                ports: request.hostPorts.map((port) => ({
                  containerPort: port,
                  hostPort: port,
                  protocol: "TCP",
                })),
              }
            : {}),
          resources: resourcesOf(part, caps),
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
          volumeMounts: [
            { name: "own", mountPath: OWN_FOLDER },
            { name: "data", mountPath: "/data" },
            ...(files ? [{ name: "files", mountPath: FILES_FOLDER, readOnly: true }] : []),
          ],
        },
      ],
      volumes: [
        { name: "own", emptyDir: { medium: "Memory", sizeLimit: "256Mi" } },
        { name: "data", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } },
        ...(files
          ? [
              {
                name: "files",
                configMap: {
                  name: files.configMap,
                  defaultMode: 0o555,
                  items: Object.entries(files.paths).map(([key, path]) => ({ key, path })),
                },
              },
            ]
          : []),
      ],
    },
  };
}
