import type { CoreV1Event, V1Pod } from "@kubernetes/client-node";
import { messageOf } from "../../kit/errors.js";
import { didYouMean } from "../../targets/did-you-mean.js";

/**
 * Why something failed in a cluster: one line each, which ends with what fixes it. Nothing here
 * asks the cluster.
 */

type EventMessage = Pick<CoreV1Event, "type" | "reason" | "message">;

interface PodFailure {
  /** One line, without the pod's name. */
  text: string;
  /** It does not pass by itself: waiting for it is of no use. */
  isFinal: boolean;
}

const NODE_FLAGS = "--node-store, --node-server and --node-generator";

/** Longer texts of a cluster are cut. */
const MOST_CHARACTERS = 220;

const short = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS - 1)}…` : line;
};

const final = (text: string): PodFailure => ({ text, isFinal: true });
const passing = (text: string): PodFailure => ({ text, isFinal: false });

/**
 * Why a pod does not run, or ended; undefined where nothing holds it up. @param pod undefined: it
 * is gone
 * @param events on the pod, oldest first; without them some reasons are not known
 */
export function podFailure(
  pod: V1Pod | undefined,
  events: readonly EventMessage[] = [],
): PodFailure | undefined {
  if (!pod)
    return final(
      "its pod is gone: it was deleted by somebody, or with its node or namespace; run again",
    );
  return (
    disruption(pod) ??
    terminated(pod) ??
    deletion(pod) ??
    nodeLost(pod, events) ??
    waiting(pod) ??
    unschedulable(pod) ??
    blocked(pod, events)
  );
}

const nodeOf = ({ spec }: V1Pod): string =>
  spec?.nodeName ? `the node ${spec.nodeName}` : "its node";

const DISRUPTIONS: Readonly<Record<string, (node: string) => string>> = {
  PreemptionByScheduler: () =>
    `a pod of higher priority took its place: choose idle nodes with ${NODE_FLAGS}`,
  DeletionByTaintManager: (node) =>
    `${node} was tainted, as a node is that is lost: see \`kubectl get nodes\`, then run again`,
  EvictionByEvictionAPI: (node) =>
    `it was evicted, as by a drain of ${node}: run again when no maintenance is under way`,
  DeletionByPodGC: (node) =>
    `${node} is no longer part of the cluster: run again on nodes that stay`,
};

function disruption(pod: V1Pod): PodFailure | undefined {
  const { status } = pod;
  if (status?.reason === "Evicted") {
    return final(
      `${nodeOf(pod)} evicted it (${short(status.message ?? "no reason given")}): free that node, or choose others with ${NODE_FLAGS}`,
    );
  }
  if (status?.reason === "DeadlineExceeded") {
    const limit = pod.spec?.activeDeadlineSeconds;
    return final(
      `it ran into its deadline${limit === undefined ? "" : ` of ${limit} s`}, which ends pods that a campaign lost: run again`,
    );
  }
  if (
    status?.reason === "NodeLost" ||
    status?.reason === "NodeShutdown" ||
    status?.reason === "Terminated"
  )
    return final(`${nodeOf(pod)} was lost or shut down: see \`kubectl get nodes\`, then run again`);
  // A refusal of the kubelet itself, e.g. OutOfcpu, OutOfmemory, UnexpectedAdmissionError,
  // NodeAffinity.
  if (
    status?.phase === "Failed" &&
    status.reason &&
    (status.containerStatuses ?? []).length === 0
  ) {
    return final(
      `${nodeOf(pod)} refused it (${short(`${status.reason}: ${status.message ?? ""}`)}): free that node, or choose others with ${NODE_FLAGS}`,
    );
  }
  const target = status?.conditions?.find(
    ({ type, status: value }) => type === "DisruptionTarget" && value === "True",
  );
  const text = DISRUPTIONS[target?.reason ?? ""];
  if (target)
    return final(
      text?.(nodeOf(pod)) ??
        `it was disrupted (${short(target.message ?? target.reason ?? "")}): run again`,
    );
  return undefined;
}

function terminated(pod: V1Pod): PodFailure | undefined {
  for (const { name, state } of pod.status?.containerStatuses ?? []) {
    if (!state?.terminated) continue;
    const { exitCode, reason, message = "" } = state.terminated;
    if (reason === "OOMKilled") {
      const limit = pod.spec?.containers.find((container) => container.name === name)?.resources
        ?.limits?.memory;
      return final(
        limit === undefined
          ? `it was killed because ${nodeOf(pod)} ran out of memory: give it a limit, or a node with more memory`
          : `it was killed because it needed more memory than its limit of ${limit}: raise the limit (--store-memory, --service-memory), or load it less`,
      );
    }
    if (reason === "StartError" || reason === "ContainerCannotRun") {
      const cause = /exec: .*$/.exec(message)?.[0] ?? message;
      return final(
        `its program cannot be started (${short(cause)}): the image is not the one that this version needs; build it again with npm run images`,
      );
    }
    if (exitCode === 0) return undefined;
    return final(
      exitCode > 128 && exitCode < 160
        ? `it was killed by signal ${exitCode - 128}`
        : `it ended with exit code ${exitCode}`,
    );
  }
  return undefined;
}

const deletion = ({ metadata }: V1Pod): PodFailure | undefined =>
  metadata?.deletionTimestamp
    ? final(
        "its pod is being deleted by somebody else, which stops it in an orderly way: run again",
      )
    : undefined;

function nodeLost(pod: V1Pod, events: readonly EventMessage[]): PodFailure | undefined {
  const ready = pod.status?.conditions?.find(({ type }) => type === "Ready");
  const isLost =
    (pod.status?.phase === "Running" &&
      ready?.status === "False" &&
      !/^(Containers.*|PodFailed|PodCompleted|ReadinessGatesNotReady)$/.test(ready.reason ?? "")) ||
    events.some(({ reason }) => reason === "NodeNotReady");
  return isLost
    ? final(
        `${nodeOf(pod)} does not answer any more (NotReady): see \`kubectl describe node\`, then run again`,
      )
    : undefined;
}

/** A pull that fails for one of these reasons fails again. */
const PULL_IS_REFUSED =
  /not found|denied|unauthorized|forbidden|no such host|invalid reference|manifest unknown/i;

function waiting(pod: V1Pod): PodFailure | undefined {
  for (const { name, state } of pod.status?.containerStatuses ?? []) {
    const { reason, message = "" } = state?.waiting ?? {};
    const image =
      pod.spec?.containers.find((container) => container.name === name)?.image ?? "its image";
    switch (reason) {
      case "ErrImagePull":
      case "ImagePullBackOff":
      case "RegistryUnavailable": {
        const isFinal = reason === "ImagePullBackOff" || PULL_IS_REFUSED.test(message);
        return { text: pullText(pod, image, message), isFinal };
      }
      case "ErrImageNeverPull":
        return final(`${nodeOf(pod)} does not have the image ${image}: ${imageFix(image)}`);
      case "InvalidImageName":
        return final(`${image} is no name of an image: correct --registry or --image`);
      case "CreateContainerConfigError":
      case "CreateContainerError":
      case "RunContainerError":
        return final(containerText(pod, image, message));
    }
  }
  return undefined;
}

function containerText(pod: V1Pod, image: string, message: string): string {
  if (/runAsNonRoot and image will run as root/.test(message))
    return `the image ${image} runs as root, which its pod forbids: use an image that names a user by its number`;
  return `${nodeOf(pod)} cannot make its container (${short(message)}): see \`kubectl describe pod\``;
}

/** Images of the project have no registry in their name unless `--registry` gives one. */
const imageFix = (image: string): string =>
  image.startsWith("ratelimit-bench-")
    ? "push it to a registry and give --registry, or load it on every node"
    : "push it where the nodes can pull it, name another with --image, or load it on every node";

function pullText(pod: V1Pod, image: string, message: string): string {
  // Each layer of the runtime puts its own sentence before the cause.
  const cause = message
    .split(/failed to (?:do request|resolve reference "[^"]*"|pull and unpack image "[^"]*"): /)
    .at(-1);
  const shown = short((cause ?? "").replace(/^Back-off pulling image "[^"]*":? ?/, ""));
  return `${nodeOf(pod)} does not have the image ${image} and cannot pull it${shown ? ` (${shown})` : ""}: ${imageFix(image)}`;
}

function unschedulable(pod: V1Pod): PodFailure | undefined {
  const condition = pod.status?.conditions?.find(
    ({ type, reason, status }) =>
      type === "PodScheduled" && status === "False" && reason === "Unschedulable",
  );
  return condition ? passing(schedulerText(condition.message ?? "")) : undefined;
}

const SCHEDULING_FIXES: readonly [RegExp, string][] = [
  [
    /Insufficient (cpu|memory)/,
    "free the nodes, or lower the caps (--store-cpus, --store-memory, --server-cpus, --loadtest-cpus, --service-cpus, --service-memory)",
  ],
  [
    /untolerated taint/,
    `see \`kubectl get nodes\` (a lost node has a taint), or choose others with ${NODE_FLAGS}`,
  ],
  [
    /affinity|selector/,
    "correct --node-store, --node-server or --node-generator (`kubectl get nodes --show-labels`)",
  ],
  [/Too many pods/, "free the nodes"],
];

/** The scheduler's sentence without what it says of preemption, and what to do about it. */
function schedulerText(message: string): string {
  const reasons = short(
    message
      .replace(/\.? *(no new claims to deallocate|preemption: ).*$/s, "")
      .replace(/^\d+\/\d+ nodes are available: */, "")
      .replace(/\.\s*$/, ""),
  );
  const fixes = SCHEDULING_FIXES.flatMap(([reason, fix]) => (reason.test(reasons) ? [fix] : []));
  return `no node has a place for it (${reasons || "no node is there"}): ${fixes.join("; ") || "see `kubectl describe nodes`"}`;
}

/** What holds up a pod that has a node and tells no reason itself: only events do. */
function blocked(pod: V1Pod, events: readonly EventMessage[]): PodFailure | undefined {
  if (pod.status?.phase !== "Pending") return undefined;
  const known = ["FailedMount", "FailedCreatePodSandBox", "FailedAttachVolume", "NetworkNotReady"];
  const event = events.findLast(
    ({ type, reason = "" }) => type === "Warning" && known.includes(reason),
  );
  if (!event) return undefined;
  return passing(
    `${nodeOf(pod)} cannot prepare it (${event.reason}: ${short(event.message ?? "")}): see \`kubectl describe pod\`, and the kubelet of that node`,
  );
}

type NamedCluster = { namespace: string; context?: string; server?: string };

const CERTIFICATE = /^(UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CERT_|ERR_TLS)/;

/** Why a request failed. @param error of `KubernetesApi`, with the HTTP status if it answered */
export function apiFailure(error: unknown, cluster: NamedCluster): string {
  const { status, request = "" } = error as { status?: number; request?: string };
  const text = messageOf(error);
  const { namespace } = cluster;
  const named =
    cluster.context === undefined ? "the cluster" : `the cluster of the context ${cluster.context}`;
  if (status === undefined) return unreachableText(error, named, cluster.server);
  const missing = /^namespaces "([^"]+)" not found/.exec(text)?.[1];
  if (missing !== undefined)
    return `there is no namespace ${missing} in ${named}: make it with \`kubectl create namespace ${missing}\`, or give another with --namespace`;
  if (/is being terminated/.test(text))
    return `the namespace ${namespace} is being deleted: wait until it is gone and make it again, or give another with --namespace`;
  if (status === 401)
    return `${named} does not accept these credentials (401): log in again, or choose another context with --kube-context`;
  if (/exceeded quota|failed quota/.test(text)) return quotaText(text, namespace);
  const policy = /violates PodSecurity "([^"]+)": (.*)$/s.exec(text);
  if (policy)
    return `the namespace ${namespace} has the pod security profile ${policy[1]}, which forbids this pod (${short(policy[2] ?? "")}): give another with --namespace${/host ?network/i.test(text) ? ", or leave out --host-network" : ""}`;
  const webhook = /admission webhook "([^"]+)" denied the request:? ?(.*)$/s.exec(text);
  if (webhook)
    return `a policy of the cluster refuses it (${webhook[1]}: ${short(webhook[2] ?? "")}): ask its administrator for a namespace without this policy, and give it with --namespace`;
  const limit = /(?:minimum|maximum) (?:cpu|memory) usage per (?:Container|Pod) is .*$/s.exec(text);
  if (limit)
    return `a limit range of the namespace ${namespace} forbids it (${short(limit[0])}): change the caps (--store-cpus, --store-memory, --server-cpus, --loadtest-cpus), or give another with --namespace`;
  if (status === 403) return forbiddenText(text, request, namespace);
  if (status === 404)
    return `${named} does not have it (${short(text)}): it was deleted meanwhile; run again`;
  if (status === 422 || status === 400)
    return `${named} refuses the request as invalid (${short(text)}): check --namespace, --node-store, --node-server, --node-generator and --registry`;
  if (status === 429) return `${named} is overloaded (429): run again later`;
  return `${named} failed to ${request || "answer"} (${status}: ${short(text)}): see the log of its API server`;
}

function quotaText(text: string, namespace: string): string {
  const refusal = /(?:exceeded|failed) quota: (.*)$/s.exec(text)?.[1] ?? text;
  const fix = /must specify/.test(refusal)
    ? "give all caps (--server-cpus, --loadtest-cpus, --store-cpus, --store-memory)"
    : "free the namespace, lower the caps, or have the quota raised";
  return `a quota of the namespace ${namespace} forbids it (${short(refusal)}): ${fix}`;
}

/** A refusal of RBAC names the user and the verb; that of a WebSocket or a log names nothing. */
function forbiddenText(text: string, request: string, namespace: string): string {
  const { user, verb, resource } =
    /User "(?<user>[^"]*)" cannot (?<verb>\w+) resource "(?<resource>[^"]*)"/.exec(text)?.groups ??
    {};
  const what = verb === undefined ? request : `${verb} ${resource}`;
  if (!what) return `the cluster forbids it (${short(text)}): ask its administrator`;
  return missingText([what], namespace, user);
}

/**
 * One line: what is missing, and the command that grants it. @param user as the cluster calls the
 * user
 */
export function missingText(
  missing: readonly string[],
  namespace: string,
  user: string | undefined,
): string {
  const who = user === undefined ? "this user" : `the user ${user}`;
  const [, home, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user ?? "") ?? [];
  const flags = [`--namespace ${namespace}`];
  if (account !== undefined && home === namespace) flags.push(`--name ${account}`);
  else if (user !== undefined)
    flags.push(`--user ${/^[\w.@:/-]+$/.test(user) ? user : JSON.stringify(user)}`);
  return `${who} may not ${missing.join(", ")} in the namespace ${namespace}: an administrator grants it with \`ratelimit-bench kubernetes role ${flags.join(" ")} | kubectl apply -f -\``;
}

function unreachableText(error: unknown, named: string, server: string | undefined): string {
  const at = server ? ` at ${server}` : "";
  const cause = (error as { cause?: unknown }).cause ?? error;
  const code = String((cause as { code?: unknown }).code ?? "");
  const text = messageOf(error);
  if (/^(ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT|EAI_AGAIN)$/.test(code))
    return `${named} cannot be reached${at} (${code}): check that it runs and that this machine reaches it, or choose another context with --kube-context`;
  if (CERTIFICATE.test(code))
    return `${named}${at} shows a certificate that the kubeconfig does not trust (${code}): renew the kubeconfig`;
  if (/did not answer|did not open/.test(text))
    return `${named} hangs${at} (${short(text)}): check its API server and its nodes, then run again`;
  return `${named} cannot be used${at} (${short(text)}): check the kubeconfig with \`kubectl version\``;
}

export const unknownContext = (name: string, known: readonly string[]): string =>
  known.length === 0
    ? "the kubeconfig has no context: set KUBECONFIG, or make ~/.kube/config"
    : `the kubeconfig has no context ${JSON.stringify(name.slice(0, 60))}${didYouMean(name, known)}; give one with --kube-context`;
