import type { V1Pod } from "@kubernetes/client-node";
import { Document, isSeq } from "yaml";
import { environmentError } from "../../kit/errors.js";
import { apiFailure, missingText } from "./failures.js";
import type { KubernetesApi, Use } from "./kubernetes-api.js";

/**
 * The rights that a campaign needs: the Role and the check before the first run are both made from
 * this list.
 */

/** A verb on a resource of one namespace, and what it is needed for. */
export interface Permission extends Use {
  resource: "configmaps" | "events" | "pods" | "pods/exec" | "pods/log";
  reason: string;
  /** Earlier minor versions of Kubernetes 1 do not ask for it. */
  sinceMinor?: number;
}

/** None is superfluous: a test compares them with what a campaign uses. */
export const permissions: readonly Permission[] = [
  { resource: "configmaps", verb: "create", reason: "hold the files of a run" },
  {
    resource: "configmaps",
    verb: "delete",
    reason: "remove them, and with them all that they own",
  },
  { resource: "configmaps", verb: "list", reason: "find what a killed campaign left" },
  { resource: "events", verb: "list", reason: "tell why a pod does not start" },
  { resource: "pods", verb: "create", reason: "start stores, servers and generators" },
  { resource: "pods", verb: "delete", reason: "stop them" },
  { resource: "pods", verb: "get", reason: "read the address and the state of a pod" },
  { resource: "pods", verb: "list", reason: "find what a killed campaign left" },
  { resource: "pods", verb: "watch", reason: "see at once that a pod started or ended" },
  { resource: "pods/log", verb: "get", reason: "read results and messages" },
  { resource: "pods/exec", verb: "get", reason: "read counters, check readiness, inject faults" },
  // https://github.com/kubernetes/kubernetes/pull/134577
  {
    resource: "pods/exec",
    verb: "create",
    reason: "the same: Kubernetes 1.35 asks for both verbs",
    sinceMinor: 35,
  },
];

export const useText = ({ verb, resource }: Use): string => `${verb} ${resource}`;

/**
 * Those that a cluster asks for. @param version e.g. `v1.34.4+k3s1`; undefined: not known, then all
 */
export function permissionsFor(version: string | undefined): readonly Permission[] {
  const minor = /^v1\.(\d+)/.exec(version ?? "")?.[1];
  return permissions.filter(
    ({ sinceMinor = 0 }) => minor === undefined || Number(minor) >= sinceMinor,
  );
}

interface RoleOptions {
  namespace: string;
  name: string;
  /** The user who gets the Role; absent where a service account is made for it. */
  user?: string;
}

export const ROLE_NAME = "ratelimit-bench";

/** YAML for `kubectl apply -f -` with the Role, its reasons, and the account that has it. */
export function roleYaml({ namespace, name, user }: RoleOptions): string {
  const metadata = { name, namespace };
  const subject =
    user === undefined
      ? { kind: "ServiceAccount", ...metadata }
      : { kind: "User", name: user, apiGroup: "rbac.authorization.k8s.io" };
  const documents: Document[] = [];
  if (user === undefined)
    documents.push(new Document({ apiVersion: "v1", kind: "ServiceAccount", metadata }));
  documents.push(
    roleDocument(metadata),
    new Document({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      subjects: [subject],
    }),
  );
  return documents.map((document) => document.toString({ lineWidth: 0 })).join("---\n");
}

function roleDocument(metadata: { name: string; namespace: string }): Document {
  const resources = [...new Set(permissions.map(({ resource }) => resource))];
  const of = (name: string) => permissions.filter(({ resource }) => resource === name);
  const document = new Document({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata,
    rules: [] as unknown[],
  });
  for (const resource of resources) {
    const rule = document.createNode({
      apiGroups: [""],
      resources: [resource],
      verbs: of(resource).map(({ verb }) => verb),
    });
    for (const { value } of rule.items) if (isSeq(value)) value.flow = true;
    rule.commentBefore = of(resource)
      .map(({ verb, reason }) => ` ${verb}: ${reason}`)
      .join("\n");
    document.addIn(["rules"], rule);
  }
  return document;
}

export type Reviewer = Pick<KubernetesApi, "allows" | "namespace" | "userName" | "version">;

/**
 * Asks for each right before the first run. @returns why it could not be asked: then a missing one
 * shows when used
 * @throws environmentError that names the missing rights and the command that grants them
 */
export async function checkPermissions(api: Reviewer): Promise<string | undefined> {
  let missing: Permission[];
  try {
    const needed = permissionsFor(await api.version());
    const answers = await Promise.all(needed.map((permission) => api.allows(permission)));
    missing = needed.filter((_, index) => !answers[index]);
  } catch (error) {
    // A cluster that does not answer, or does not know the user, fits nothing.
    const { status } = error as { status?: number };
    if (status !== 403 && status !== 404 && status !== 405)
      throw environmentError(apiFailure(error, api));
    return `the rights in the namespace ${api.namespace} could not be checked (${apiFailure(error, api)}): a missing one shows when it is used`;
  }
  if (missing.length === 0) return undefined;
  const user = await api.userName().catch(() => undefined);
  throw environmentError(missingText(byResource(missing), api.namespace, user));
}

function byResource(uses: readonly Use[]): string[] {
  const resources = [...new Set(uses.map(({ resource }) => resource))];
  return resources.map((resource) => {
    const verbs = uses.filter((use) => use.resource === resource).map(({ verb }) => verb);
    return `${verbs.join("/")} ${resource}`;
  });
}

/** Lets the cluster check a pod without making it. @throws environmentError with reason and fix */
export async function checkPod(
  api: Pick<KubernetesApi, "createPod" | "namespace">,
  pod: V1Pod,
): Promise<void> {
  await api.createPod(pod, { dryRun: true }).catch((error) => {
    throw environmentError(apiFailure(error, api), { cause: error });
  });
}
