import type {
  V1Affinity,
  V1NodeSelectorRequirement,
  V1WeightedPodAffinityTerm,
} from "@kubernetes/client-node";
import { usageError } from "../../contract/errors.js";
import type { KubernetesAccess } from "../../contract/machines.js";
import type { RoleKind } from "../../contract/role.js";
import { CAMPAIGN_LABEL } from "../containers/labels.js";
import { KIND_LABEL } from "./labels.js";

const NAME = "[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?";
const KEY = `(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?${NAME}`;
const VALUE = `(?:${NAME})?`;
const FORMS: readonly { form: RegExp; operator: string; values(text: string): string[] }[] = [
  { form: new RegExp(`^(${KEY})\\s*==?\\s*(${VALUE})$`), operator: "In", values: (text) => [text] },
  { form: new RegExp(`^(${KEY})\\s*!=\\s*(${VALUE})$`), operator: "NotIn", values: (text) => [text] },
  { form: new RegExp(`^(${KEY})\\s+in\\s+\\(([^()]+)\\)$`), operator: "In", values: listed },
  { form: new RegExp(`^(${KEY})\\s+notin\\s+\\(([^()]+)\\)$`), operator: "NotIn", values: listed },
  { form: new RegExp(`^(${KEY})$`), operator: "Exists", values: () => [] },
  { form: new RegExp(`^!\\s*(${KEY})$`), operator: "DoesNotExist", values: () => [] },
];

function listed(text: string): string[] {
  return text.split(",").map((value) => value.trim());
}

/**
 * As `kubectl get nodes -l` takes it, e.g. `disk=ssd,zone in (a, b),!spot`. @param source its flag @throws
 * usageError
 */
export function nodeRequirements(selector: string, source: string): V1NodeSelectorRequirement[] {
  // A comma in parentheses separates values, not requirements.
  return selector.split(/,(?![^(]*\))/).map((text) => {
    const requirement = text.trim();
    for (const { form, operator, values } of FORMS) {
      const [, key, rest = ""] = form.exec(requirement) ?? [];
      if (key === undefined) continue;
      const all = values(rest);
      return { key, operator, ...(all.length > 0 ? { values: all } : {}) };
    }
    throw usageError(
      `${source} ${JSON.stringify(selector.slice(0, 60))}: give labels of nodes, e.g. disk=ssd or 'zone in (a, b)'`,
    );
  });
}

/**
 * How much a kind avoids a node with another kind. Server and store share the least willingly: their ratio is what a
 * campaign measures. A service stays beside the store.
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
  /** The node that it must run on; absent: any that its selector allows. */
  node?: string | undefined;
}

/** Where a pod may and should run, without any right to list nodes. */
export function affinityOf(access: Pick<KubernetesAccess, "nodes">, place: Place): V1Affinity {
  const placed = place.kind === "service" ? "store" : place.kind;
  const selector = placed === "helper" ? undefined : access.nodes[placed];
  const matchExpressions = selector === undefined ? [] : nodeRequirements(selector, `--node-${placed}`);
  const matchFields =
    place.node === undefined ? [] : [{ key: "metadata.name", operator: "In", values: [place.node] }];
  const of = (kind: RoleKind, weight: number): V1WeightedPodAffinityTerm => ({
    weight,
    podAffinityTerm: {
      topologyKey: "kubernetes.io/hostname",
      labelSelector: { matchLabels: { [CAMPAIGN_LABEL]: place.campaign, [KIND_LABEL]: kind } },
    },
  });
  const avoided = Object.entries(AVOIDS[place.kind]).map(([kind, weight]) => of(kind as RoleKind, weight));
  const term = {
    ...(matchExpressions.length > 0 ? { matchExpressions } : {}),
    ...(matchFields.length > 0 ? { matchFields } : {}),
  };
  return {
    ...(Object.keys(term).length > 0
      ? { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } }
      : {}),
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: avoided },
    ...(place.kind === "service"
      ? { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [of("store", 100)] } }
      : {}),
  };
}

/** Which measured roles share a node, as a sentence each; nothing where each kind has nodes of its own. */
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
  return [...byNode].flatMap(([node, kinds]) =>
    kinds.size > 1 ? [`${[...kinds.values()].flat().sort().join(", ")} share the node ${node}`] : [],
  );
}
