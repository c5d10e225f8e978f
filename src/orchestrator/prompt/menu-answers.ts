import { byDimension, DEFAULT_COUNT, type DimensionKey } from "../../contract/dimensions.js";
import { clients } from "../../targets/clients/index.js";
import { stores } from "../../targets/stores/index.js";
import { groups } from "../../targets/target-groups.js";
import type { ClientDescription } from "../../targets/target-types.js";
import { topologies } from "../../targets/topologies.js";
import type { LIMIT_FLAGS } from "../request/request.js";
import { defaultOf, settingOf } from "../request/settings.js";

export const OWN_STORE = "own";

export type LimitFlag = (typeof LIMIT_FLAGS)[number];

export interface MenuAnswers {
  /** Clients, with their topology if it is not the default: `iovalkey`, `iovalkey:cluster`. */
  clients: string[];
  /** `own` stands for each client's default store. */
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
  runs: string;
  runtime: string;
}

export const DEFAULT_ANSWERS: MenuAnswers = {
  clients: [...(groups.standalone ?? []), ...(groups.controls ?? [])],
  stores: [OWN_STORE],
  layers: [defaultOf("layer")],
  counts: byDimension(() => String(DEFAULT_COUNT)),
  limits: { points: "", window: "", cost: "" },
  workload: defaultOf("workload"),
  complexity: defaultOf("complexity"),
  traffic: [defaultOf("traffic")],
  duration: defaultOf("duration-mode"),
  concurrency: defaultOf("concurrency"),
  // Rounds that decide: those of a plain command are the original's.
  runs: "7",
  runtime: defaultOf("runtime"),
};

/**
 * Whether it needs a service or a store that itself decides: programs of their own, which few
 * machines have.
 */
const usesService = ({ service, stores: [store] }: ClientDescription): boolean =>
  service !== undefined || stores.some(({ id, decides }) => id === store && decides === true);

/** All clients: those that use a store, the controls, those of services in their usual topology. */
export function clientGroups(): Record<string, string[]> {
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

/** `iovalkey:cluster` on `redis` is `iovalkey@redis:cluster`; controls have no store. */
function onStore(text: string, store: string): string {
  const [client = "", topology] = text.split(":");
  if (store === OWN_STORE || clients.find(({ id }) => id === client)?.control) return text;
  return `${client}@${store}${topology ? `:${topology}` : ""}`;
}

function clientsValue({ clients: selected, stores: selectedStores }: MenuAnswers): string {
  let left = [
    ...new Set(selectedStores.flatMap((store) => selected.map((text) => onStore(text, store)))),
  ];
  const names: string[] = [];
  for (const [name, members] of Object.entries(groups)) {
    if (!members.every((member) => left.includes(member))) continue;
    names.push(name);
    left = left.filter((text) => !members.includes(text));
  }
  return [...names, ...left].join(",");
}

export function argvSoFar(given: Partial<MenuAnswers>): string[] {
  const argv = argvOf({ ...DEFAULT_ANSWERS, runs: "", ...given });
  // The clients come first.
  return given.clients === undefined && argv[0] === "--clients" ? argv.slice(2) : argv;
}

/** The command line of the answers, without empty ones and flags that only repeat a default. */
export function argvOf(answers: MenuAnswers): string[] {
  const values: [string, string][] = [
    ["clients", clientsValue(answers)],
    ["layer", answers.layers.join(",")],
    ...Object.entries(answers.counts).filter(([, count]) => count !== String(DEFAULT_COUNT)),
    ["workload", answers.workload],
    ...(answers.workload === "light"
      ? []
      : [["complexity", answers.complexity] as [string, string]]),
    ["traffic", answers.traffic.join(",")],
    ...Object.entries(answers.limits),
    ["duration-mode", answers.duration],
    ["concurrency", answers.concurrency],
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
