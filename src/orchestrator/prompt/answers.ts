import { clients } from "../../targets/clients/index.js";
import { groups } from "../../targets/groups.js";
import { stores } from "../../targets/stores/index.js";
import { topologies } from "../../targets/topologies.js";
import { DEFAULT_TRAFFIC } from "../../traffic/profiles.js";
import { settingOf } from "../request/settings.js";

/** What the menu found out. Lists and numbers are texts, as flags have them. */
export interface Answers {
  /** Clients with their topology where it is not the default: `iovalkey`, `iovalkey:cluster`. */
  clients: string[];
  /** `own` is each client's default store. */
  stores: string[];
  workload: string;
  complexity: string;
  traffic: string[];
  duration: string;
  concurrency: string;
  runs: string;
  runtime: string;
}

const fallback = (key: string): string => settingOf(key).fallback ?? "";

export const FIRST_ANSWERS: Answers = {
  clients: [...(groups.standalone ?? []), ...(groups.controls ?? [])],
  stores: ["own"],
  workload: fallback("workload"),
  complexity: fallback("complexity"),
  traffic: [DEFAULT_TRAFFIC],
  duration: fallback("duration-mode"),
  concurrency: fallback("concurrency"),
  runs: fallback("runs"),
  runtime: fallback("runtime"),
};

/** Clients that talk to a store, by topology, and the controls; every one that there is. */
export function clientGroups(): Record<string, string[]> {
  const measured = clients.filter(({ control }) => !control);
  const byTopology = topologies.flatMap(({ id }, index) => {
    const members = measured
      .filter((client) => client.topologies.includes(id))
      .map((client) => (client.topologies[0] === id ? client.id : `${client.id}:${id}`));
    return members.length > 0 ? [{ id, members, index }] : [];
  });
  const controls = clients.filter(({ control }) => control).map(({ id }) => id);
  return {
    ...Object.fromEntries(byTopology.map(({ id, members }) => [id, members])),
    "controls (the harness itself)": controls,
  };
}

/** Stores that parts can be started for. */
export const startableStores = (): string[] => stores.flatMap(({ id, program }) => (program ? [id] : []));

export const usesStore = ({ clients: asked }: Answers): boolean =>
  asked.some((text) => !clients.find(({ id }) => id === text.split(":")[0])?.control);

/** `iovalkey:cluster` on `redis` is `iovalkey@redis:cluster`; controls have no store. */
function onStore(text: string, store: string): string {
  const [client = "", topology] = text.split(":");
  if (store === "own" || clients.find(({ id }) => id === client)?.control) return text;
  return `${client}@${store}${topology ? `:${topology}` : ""}`;
}

/** The targets in words, with a group's name for a group that is whole. */
function targets({ clients: asked, stores: chosen }: Answers): string {
  let left = [...new Set(chosen.flatMap((store) => asked.map((text) => onStore(text, store))))];
  const words: string[] = [];
  for (const [name, members] of Object.entries(groups)) {
    if (!members.every((member) => left.includes(member))) continue;
    words.push(name);
    left = left.filter((text) => !members.includes(text));
  }
  return [...words, ...left].join(",");
}

/** The words of the command line that ask for the same, without those that say what is said anyway. */
export function wordsOf(answers: Answers): string[] {
  const said: [string, string][] = [
    ["clients", targets(answers)],
    ["workload", answers.workload],
    ...(answers.workload === "light" ? [] : [["complexity", answers.complexity] as [string, string]]),
    ["traffic", answers.traffic.join(",")],
    ["duration-mode", answers.duration],
    ["concurrency", answers.concurrency],
    ["runs", answers.runs],
    ["runtime", answers.runtime],
  ];
  return said.flatMap(([key, value]) => (value === settingOf(key).fallback ? [] : [`--${key}`, value]));
}
