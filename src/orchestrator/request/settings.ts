import { arrivalsSchema } from "../../contract/configuration.js";
import { DEFAULT_COMPLEXITY } from "../../contract/server-env.js";
import { runtimes } from "../../runtimes/index.js";
import { clients } from "../../targets/clients/index.js";
import { groups } from "../../targets/groups.js";
import { limiterNames } from "../../targets/resolve.js";
import { DEFAULT_TRAFFIC, profiles } from "../../traffic/profiles.js";
import { workloads } from "../../traffic/workloads.js";
import { progressModes } from "../ui/types.js";
import { PRESETS } from "./presets.js";

/**
 * One thing that a user can set for a campaign: as flag `--key`, as `key:` in a campaign file, and by a variable where
 * it has one. A new setting is one entry in a group of this file.
 */
export interface Setting {
  /** E.g. `duration-mode`: the flag without its dashes, and the key in a campaign file. */
  key: string;
  /** What a value looks like in the help, e.g. `<n>`; absent for a switch. */
  value?: string;
  help: string;
  /** The value when nobody sets one. */
  fallback?: string;
  /** Variable of the environment that sets it too. */
  variable?: string;
  /** It may be given several times; the values are joined by commas. */
  repeatable?: true;
  /** Values that a shell offers for completion. */
  choices?: () => readonly string[];
  /** It does not change what is measured: no campaign that repeats this one needs it. */
  incidental?: true;
  /**
   * A resumed campaign takes it: `flag` from the command line, `anew` from command line and environment, because the
   * campaign does not keep it (it may hold a password). Every other flag would contradict the plan.
   */
  onResume?: "flag" | "anew";
  /** Its value is never printed, stored or taken from a file. */
  secret?: true;
  /** Only the command line can set it. */
  flagOnly?: true;
}

/** Settings that stand together in the help. */
export interface SettingGroup {
  title: string;
  settings: readonly Setting[];
}

const ids = (list: readonly { id: string }[]): string[] => list.map(({ id }) => id);
const workloadIds = ids(workloads);

/** Each client as a target: alone, on its other stores, in its other topologies. */
const targetTexts = clients.flatMap(({ id, stores, topologies }) =>
  [id, ...stores.slice(1).map((store) => `${id}@${store}`)].flatMap((text) => [
    text,
    ...topologies.slice(1).map((topology) => `${text}:${topology}`),
  ]),
);

const target: SettingGroup = {
  title: "What is measured:",
  settings: [
    {
      key: "clients",
      value: "<list>",
      help: "targets and groups, comma or space separated",
      repeatable: true,
      choices: () => [...Object.keys(groups), ...targetTexts],
    },
    {
      key: "limiter",
      value: "<list>",
      help: "limiters that decide, name[~version]: each target once with each; else the usual one",
      repeatable: true,
      choices: limiterNames,
    },
    {
      key: "workload",
      value: "<list>",
      help: `${workloadIds.join("|")}|both`,
      fallback: "light",
      repeatable: true,
      choices: () => [...workloadIds, "both"],
    },
    {
      key: "complexity",
      value: "<n>",
      help: "rounds of CPU work of the heavy workload",
      fallback: String(DEFAULT_COMPLEXITY),
    },
    {
      key: "traffic",
      value: "<list>",
      help: "which keys the requests carry, see below",
      fallback: DEFAULT_TRAFFIC,
      repeatable: true,
      choices: () => ids(profiles),
    },
    {
      key: "points",
      value: "<n>",
      help: "explicit quota of each key",
      variable: "RATE_LIMIT_POINTS",
    },
    {
      key: "window",
      value: "<s>",
      help: "explicit window of the quota, seconds",
      variable: "RATE_LIMIT_DURATION",
    },
    {
      key: "block",
      value: "<s>",
      help: "explicit block once the quota is exceeded, seconds",
      variable: "RATE_LIMIT_BLOCK_DURATION",
    },
  ],
};

const method: SettingGroup = {
  title: "How it is measured:",
  settings: [
    {
      key: "preset",
      value: "<name>",
      help: `${ids(PRESETS).join("|")}, see below; every other flag wins over it`,
      choices: () => ids(PRESETS),
    },
    { key: "quick", help: "the preset of that name", flagOnly: true },
    {
      key: "duration-mode",
      value: "<mode>",
      help: "dynamic|fixed30|fixed120|custom:N",
      fallback: "dynamic",
      choices: () => ["dynamic", "fixed30", "fixed120", "custom:"],
    },
    { key: "concurrency", value: "<list>", help: "connections", fallback: "50 100", repeatable: true },
    {
      key: "rate",
      value: "<list>",
      help: "open loop: requests/s, over up to --concurrency connections (200)",
      repeatable: true,
    },
    {
      key: "rate-sweep",
      value: "<from:to:n>",
      help: "open loop at n rates, each the same factor above the last, e.g. 1000:20000:8",
    },
    {
      key: "arrivals",
      value: "<spread>",
      help: "sends of an open loop: constant (default) or poisson",
      choices: () => arrivalsSchema.options,
    },
    {
      key: "find-max-rate",
      help: "open loop: search the highest rate that keeps --slo, beginning at --rate",
      flagOnly: true,
    },
    {
      key: "slo",
      value: "<list>",
      help: 'what --find-max-rate keeps, as --threshold, e.g. "p99<10ms,errors<0.1%"',
      repeatable: true,
      flagOnly: true,
    },
    {
      key: "runs",
      value: "<n>",
      help: "runs of each configuration; auto: as many as it takes to tell them apart",
      fallback: "3",
      choices: () => ["auto"],
    },
    { key: "max-runs", value: "<n>", help: "with --runs auto: of each configuration; else 20" },
    { key: "budget", value: "<time>", help: "with --runs auto: for the whole campaign, e.g. 90s, 20m, 1.5h" },
    { key: "warmup", value: "<s>", help: "seconds of load before each run, discarded", fallback: "10" },
    {
      key: "cooldown",
      value: "<a[,b]>",
      help: "seconds between runs, and between clients in consecutive order",
      fallback: "5,10",
    },
    {
      key: "order",
      value: "<order>",
      help: "interleaved|consecutive",
      fallback: "interleaved",
      choices: () => ["interleaved", "consecutive"],
    },
    { key: "seed", value: "<n>", help: "of order and traffic; random if not given" },
    { key: "workers", value: "<n>", help: "threads of the load generator", fallback: "1" },
    {
      key: "threshold",
      value: "<list>",
      help: 'what must hold for every client, e.g. "p99<10ms,errors<0.1%,limited_share=0.1±0.01"; else exit 6',
      repeatable: true,
    },
  ],
};

const placement: SettingGroup = {
  title: "Where it runs:",
  settings: [
    {
      key: "runtime",
      value: "<runtime>",
      help: `auto|${ids(runtimes).join("|")}`,
      fallback: "auto",
      choices: () => ["auto", ...ids(runtimes)],
      onResume: "flag",
    },
    {
      key: "plugin",
      value: "<path>",
      help: "a file or folder that adds clients, limiters, options or traffic; several times for several",
      variable: "PLUGINS",
      repeatable: true,
    },
    {
      key: "store-cpus",
      value: "<n>",
      help: "CPU cap of a store node in a container; else 2",
      variable: "STORE_CPUS",
    },
    {
      key: "store-memory",
      value: "<size>",
      help: "its memory cap, e.g. 512m; else 2g",
      variable: "STORE_MEMORY",
    },
    {
      key: "server-cpus",
      value: "<n>",
      help: "CPU cap of the server; else none",
      variable: "SERVER_CPUS",
    },
    {
      key: "loadtest-cpus",
      value: "<n>",
      help: "CPU cap of the load generator; else none",
      variable: "LOADTEST_CPUS",
    },
    {
      key: "cpuset-store",
      value: "<list>",
      help: "CPUs of the store nodes, e.g. 0-1",
      variable: "CPUSET_STORE",
    },
    { key: "cpuset-server", value: "<list>", help: "CPUs of the server", variable: "CPUSET_SERVER" },
    {
      key: "cpuset-loadtest",
      value: "<list>",
      help: "CPUs of the load generator",
      variable: "CPUSET_LOADTEST",
    },
    {
      key: "valkey-server",
      value: "<path>",
      help: "store program; else PATH, else embedded",
      variable: "VALKEY_SERVER",
      onResume: "anew",
    },
    {
      key: "redis-server",
      value: "<path>",
      help: "store program; else PATH",
      variable: "REDIS_SERVER",
      onResume: "anew",
    },
    {
      key: "store-url",
      value: "<url>",
      help: "measure a store that you already run: redis[s]://[user:password@]host[:port]; better as STORE_URL, which no process list shows",
      variable: "STORE_URL",
      secret: true,
      onResume: "anew",
    },
    {
      key: "store-ca",
      value: "<file>",
      help: "certificate (PEM) that vouches for rediss://",
      variable: "STORE_CA",
      onResume: "anew",
    },
    {
      key: "output",
      value: "<dir>",
      help: "results root",
      fallback: "results",
      incidental: true,
      onResume: "flag",
    },
    {
      key: "resume",
      value: "[campaign]",
      help: "go on with a campaign of --output where it stopped, by default the newest: takes no flag that bears on its plan",
      flagOnly: true,
      onResume: "flag",
    },
    {
      key: "allow-parallel",
      help: "start although another campaign is running",
      incidental: true,
      onResume: "flag",
    },
    {
      key: "force",
      help: "start although the preset asks for a machine without warnings",
      incidental: true,
    },
  ],
};

const output: SettingGroup = {
  title: "What it tells:",
  settings: [
    {
      key: "config",
      value: "<file>",
      help: "the same settings from a YAML file, or from the manifest.json of a campaign to repeat; flags win",
      flagOnly: true,
    },
    {
      key: "json",
      help: "one JSON object a line on standard output, all else on standard error; one document with --dry-run",
      flagOnly: true,
      onResume: "flag",
    },
    {
      key: "quiet",
      help: "nothing but warnings, what went wrong, and the path of the report",
      flagOnly: true,
      onResume: "flag",
    },
    {
      key: "progress",
      value: "<mode>",
      help: "live|run|phase (redrawn in place, a line a run, a line a phase); else live on a terminal, run elsewhere",
      flagOnly: true,
      choices: () => progressModes,
      onResume: "flag",
    },
    {
      key: "verbose",
      help: "also each second and the lines of the programs",
      flagOnly: true,
      onResume: "flag",
    },
    { key: "legacy", help: "three plain prompts: duration, concurrency, workload", flagOnly: true },
    { key: "dry-run", help: "print the plan and its estimate, and start nothing", flagOnly: true },
  ],
};

export const GROUPS: readonly SettingGroup[] = [target, method, placement, output];

export const SETTINGS: readonly Setting[] = GROUPS.flatMap(({ settings }) => settings);

/** @throws Error for an unknown key, which is a defect */
export function settingOf(key: string): Setting {
  const found = SETTINGS.find((setting) => setting.key === key);
  if (!found) throw new Error(`there is no setting ${key}`);
  return found;
}

/** Those that a campaign file may hold. */
export const FILE_SETTINGS: readonly Setting[] = SETTINGS.filter(
  ({ secret, flagOnly }) => !(secret || flagOnly),
);
