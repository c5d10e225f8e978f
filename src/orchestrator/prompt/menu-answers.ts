import { byDimension, DEFAULT_COUNT, type DimensionKey } from "../../contract/dimensions.js";
import type { Discovery } from "../../contract/store.js";
import { clients } from "../../targets/clients/index.js";
import { type Availability, resolveTarget } from "../../targets/resolve.js";
import { stores } from "../../targets/stores/index.js";
import { groups } from "../../targets/target-groups.js";
import type { ClientDescription } from "../../targets/target-types.js";
import { topologies } from "../../targets/topologies.js";
import { isStore } from "../campaign/program-sources.js";
import { externalAvailability } from "../campaign/store-availability.js";
import { CUSTOM_DURATION } from "../request/durations.js";
import type { LIMIT_FLAGS } from "../request/request.js";
import { defaultOf, settingOf } from "../request/settings.js";

/** The answer that leaves each client on its default store. */
export const OWN_STORE = "own";

export type LimitFlag = (typeof LIMIT_FLAGS)[number];

export interface MenuAnswers {
  /** What the user wants to know: the id of a goal. */
  goal: string;
  /** Clients, with their topology if it is not the default: `iovalkey`, `iovalkey:cluster`. */
  clients: string[];
  /** Stores, or `own` for each client's default store. */
  stores: string[];
  layers: string[];
  counts: Record<DimensionKey, string>;
  /** Explicit limits; an empty text leaves those of the traffic. */
  limits: Record<LimitFlag, string>;
  workload: string;
  complexity: string;
  traffic: string[];
  duration: string;
  concurrency: string;
  /** Requests per second, separated by spaces; empty for a closed loop. */
  rates: string;
  runs: string;
  runtime: string;
  /** A store that already runs; undefined where the campaign starts its stores. */
  ownStore: OwnStore | undefined;
}

export interface OwnStore {
  url: string;
  /** What it is; absent before it was contacted. */
  found?: Discovery;
}

/** Clients on one store are compared with each other, with what the harness itself costs. */
export const DEFAULT_ANSWERS: MenuAnswers = {
  goal: "custom",
  clients: [...(groups.standalone ?? []), "node-redis", "none"],
  stores: ["valkey"],
  layers: [defaultOf("layer")],
  counts: byDimension(() => String(DEFAULT_COUNT)),
  limits: { points: "", window: "", cost: "" },
  workload: defaultOf("workload"),
  complexity: defaultOf("complexity"),
  traffic: [defaultOf("traffic")],
  duration: `${CUSTOM_DURATION}5`,
  concurrency: "50",
  rates: "",
  // So many rounds name a winner, which the runs of a plain command do not.
  runs: "7",
  runtime: defaultOf("runtime"),
  ownStore: undefined,
};

/**
 * Whether a client needs a service, or a store that itself decides. Few machines have these
 * programs.
 */
const usesService = ({ service, stores: [store] }: ClientDescription): boolean =>
  service !== undefined || stores.some(({ id, decides }) => id === store && decides === true);

/**
 * The clients in groups: by topology those that use a store, then the controls and the services.
 * @param discovery the user's store, which not every client can use
 */
export function clientGroups(discovery?: Discovery): Record<string, string[]> {
  const all = allClientGroups();
  if (!discovery) return all;
  const served = Object.entries(all).map(
    ([name, members]) => [name, members.filter((text) => isServed(text, discovery))] as const,
  );
  return Object.fromEntries(served.filter(([, members]) => members.length > 0));
}

/** Whether a client can be measured on the user's store; controls always can. */
function isServed(text: string, discovery: Discovery): boolean {
  const available: Availability = (id) => isStore(id) && externalAvailability(discovery, id);
  const resolution = resolveTarget(onStore(text, discovery.store), available);
  if ("skip" in resolution) return false;
  const { topology } = resolution.target;
  return topology === "none" || topology === discovery.topology;
}

/** The clients that are offered as selected on the user's store, in its topology. */
export const offeredClients = (discovery: Discovery): string[] =>
  DEFAULT_ANSWERS.clients.flatMap((client) => {
    const texts = [client, `${client}:${discovery.topology}`];
    return texts.find((text) => isServed(text, discovery)) ?? [];
  });

/** All clients, in the groups of `clientGroups`. */
function allClientGroups(): Record<string, string[]> {
  const measured = clients.filter((client) => !client.control && !usesService(client));
  const byTopology = topologies.flatMap(({ id }) => {
    if (!(id in groups)) return [];
    const members = measured
      .filter((client) => client.topologies.includes(id))
      .map((client) => (client.topologies[0] === id ? client.id : `${client.id}:${id}`));
    return members.length > 0 ? [[id, members] as const] : [];
  });
  const ids = (isIn: (client: ClientDescription) => boolean) =>
    clients.filter(isIn).map(({ id }) => id);
  return {
    ...Object.fromEntries(byTopology),
    "controls (the harness itself)": ids(({ control }) => control),
    "services (in containers, or with --program)": ids(usesService),
  };
}

/** Stores that the harness can start and that more than one client can use. */
export const startableStores = (): string[] =>
  stores.flatMap(({ id, engine }) =>
    engine && clients.filter((client) => client.stores.includes(id)).length > 1 ? [id] : [],
  );

export const usesStore = ({ clients: selected }: MenuAnswers): boolean =>
  selected.some((text) => !clients.find(({ id }) => id === text.split(":")[0])?.control);

/**
 * `ioredis:cluster` on `valkey` is `ioredis@valkey:cluster`. A client that cannot use the store keeps
 * its own, and controls have none.
 */
function onStore(text: string, store: string): string {
  const [client = "", topology] = text.split(":");
  const description = clients.find(({ id }) => id === client);
  const [ownStore, ...others] = description?.stores ?? [];
  if (store === OWN_STORE || store === ownStore || description?.control) return text;
  if (!others.includes(store)) return text;
  return `${client}@${store}${topology ? `:${topology}` : ""}`;
}

/** The clients on their stores as `--clients` takes them, a whole group by its name. */
export function clientsValue({ clients: selected, stores, ownStore }: MenuAnswers): string {
  const selectedStores = ownStore?.found ? [ownStore.found.store] : stores;
  const texts = selectedStores.flatMap((store) => selected.map((text) => onStore(text, store)));
  let ungrouped = [...new Set(texts)];
  const groupNames: string[] = [];
  for (const [name, members] of Object.entries(groups)) {
    if (!members.every((member) => ungrouped.includes(member))) continue;
    groupNames.push(name);
    ungrouped = ungrouped.filter((text) => !members.includes(text));
  }
  return [...groupNames, ...ungrouped].join(",");
}

/** The command line of the answers, without empty answers and flags that only repeat a default. */
export function argvOf(answers: MenuAnswers): string[] {
  const values: [string, string][] = [
    ["clients", clientsValue(answers)],
    ["layer", answers.layers.join(",")],
    ...Object.entries(answers.counts).filter(([, count]) => count !== String(DEFAULT_COUNT)),
    ["workload", answers.workload],
    ["complexity", answers.workload === "light" ? "" : answers.complexity],
    ["traffic", answers.traffic.join(",")],
    ...Object.entries(answers.limits),
    ["duration-mode", answers.duration],
    ["concurrency", answers.concurrency],
    ["rate", answers.rates],
    ["runs", answers.runs],
    ["runtime", answers.runtime],
  ];
  // Without --runs, run-all.sh would fill in the defaults of the original.
  const isDefault = (key: string, value: string) =>
    key !== "runs" && value === settingOf(key).defaultValue;
  return values.flatMap(([key, value]) =>
    value === "" || isDefault(key, value) ? [] : [`--${key}`, value],
  );
}
