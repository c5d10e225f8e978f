import { delimiter } from "node:path";
import { z } from "zod";
import { AUTO_WARMUP, DEFAULT_POOL, namedArrivals } from "../../contract/configuration.js";
import { dimensions, USUAL } from "../../contract/dimensions.js";
import { decimalNumber, decimalOrAuto, wholeNumber, wholeOrAuto } from "../../contract/env.js";
import { namedFaults } from "../../contract/faults.js";
import { driverLayerIds, layers } from "../../contract/layers.js";
import { orders } from "../../contract/plan.js";
import { DEFAULT_COMPLEXITY } from "../../contract/server-env.js";
import { idSchema } from "../../contract/target.js";
import { runtimeIds } from "../../runtimes/index.js";
import { operations } from "../../targets/benchmarks/operations.js";
import { clients } from "../../targets/clients/index.js";
import { frameworks, USUAL_FRAMEWORK } from "../../targets/frameworks.js";
import { groups } from "../../targets/groups.js";
import { limiterNames } from "../../targets/resolve.js";
import { stores } from "../../targets/stores/index.js";
import { DEFAULT_TRAFFIC, profiles } from "../../traffic/profiles.js";
import { workloads } from "../../traffic/workloads.js";
import { progressModes } from "../ui/types.js";
import { PRESETS } from "./presets.js";
import { AUTO, CUSTOM_DURATION, type NumberName, RANGES, REQUESTS_DURATION } from "./request.js";

/** A value that a setting can have. The shells complete `value`; the menu shows `label` (else `value`) and `hint`. */
export interface SettingChoice {
  value: string;
  label?: string;
  hint?: string;
}

export interface SingleRunVariable {
  name: string;
  schema: z.ZodType<string>;
  help?: string;
  /** The variable's default, if it differs from the setting's. */
  defaultValue?: string;
  defaultText?: string;
  /** The setting's value for a variable of another form. */
  toValue?: (text: string) => string;
}

/**
 * A flag `--key`, `key:` in a campaign file, and sometimes a variable. Flags, help, files, environment, completion,
 * menu and resume all read this list. To add a setting, add an entry to a group of this file.
 */
export interface Setting {
  /** E.g. `duration-mode`: the flag without its dashes, and the key in a campaign file. */
  key: string;
  /** Placeholder of the value in the help, e.g. `<n>`; absent for a switch. */
  value?: string;
  help: string;
  defaultValue?: string;
  /** How the help shows a default that is not a value of the setting. */
  defaultText?: string;
  /** Environment variable that sets it too, for campaigns and single runs. */
  variable?: string;
  variableHelp?: string;
  singleRun?: SingleRunVariable;
  /** It can be given several times; the values are joined by commas. */
  repeatable?: true;
  /** Values to offer in completion and in the menu; others may be valid too. */
  choices?: () => readonly SettingChoice[];
  /** It does not affect what is measured, so the manifest does not record it. */
  incidental?: true;
  /**
   * What a resumed campaign accepts: `flag` from the command line; `flag or variable` also from the environment, because
   * the manifest does not record it (it may hold a password). Any other flag would contradict the plan.
   */
  onResume?: "flag" | "flag or variable";
  /** Its value is never printed, stored or read from a file. */
  secret?: true;
  /** Only the command line can set it. */
  flagOnly?: true;
}

/** Settings under one topic of the help, which `help TOPIC` prints. */
export interface SettingGroup {
  topic: string;
  title: string;
  settings: readonly Setting[];
}

const wholeText = (name: NumberName) => wholeNumber(RANGES[name].min, RANGES[name].max);
const decimalText = (name: NumberName) => decimalNumber(RANGES[name].min, RANGES[name].max);

const ids = (list: readonly { id: string }[]): string[] => list.map(({ id }) => id);
const valuesOnly = (values: readonly string[]): SettingChoice[] => values.map((value) => ({ value }));
const workloadIds = ids(workloads);
const workloadHints: Readonly<Record<string, string>> = {
  light: "a minimal answer: the limiter is most of the work",
  heavy: "CPU work in each request",
};

const targetTexts = clients.flatMap(({ id, stores, topologies }) =>
  [id, ...stores.slice(1).map((store) => `${id}@${store}`)].flatMap((text) => [
    text,
    ...topologies.slice(1).map((topology) => `${text}:${topology}`),
  ]),
);

/** At the store layer, unless flags name others. */
export const DEFAULT_STORES: readonly string[] = ["valkey", "redis"];
export const DEFAULT_PAYLOAD_BYTES = 100;

/** Value of `diagnose`: these runs and no others. */
export const ALONE = "alone";

/** It has no default, so that a campaign at another layer can be resumed and repeated without it. */
const dimensionSetting = (dimension: (typeof dimensions)[number]): Setting => {
  const { key, help, other, max } = dimension;
  const canBeFound = "canBeFound" in dimension;
  return {
    key,
    value: "<list>",
    help,
    defaultText: String(USUAL),
    repeatable: true,
    ...(canBeFound ? { choices: () => valuesOnly([AUTO]) } : {}),
    singleRun: {
      name: key.toUpperCase(),
      schema: canBeFound ? wholeOrAuto(USUAL, max) : wholeText(key),
      help: `number of ${other}`,
    },
  };
};

/** Its variable has the same name: `store-cpus`, `STORE_CPUS`. */
const cap = (key: string, value: string, help: string, defaultText?: string): Setting => ({
  key,
  value,
  help,
  ...(defaultText === undefined ? {} : { defaultText }),
  variable: key.toUpperCase().replace("-", "_"),
});

const targets: SettingGroup = {
  topic: "targets",
  title: "what is measured",
  settings: [
    {
      key: "clients",
      value: "<list>",
      help: "targets and groups, comma or space separated",
      repeatable: true,
      choices: () => valuesOnly([...Object.keys(groups), ...targetTexts]),
    },
    {
      key: "limiter",
      value: "<list>",
      help: "limiters that decide, name[~version]; each target is measured with each",
      defaultText: "its own",
      repeatable: true,
      choices: () => valuesOnly(limiterNames()),
    },
    {
      key: "store-versions",
      value: "<list>",
      help: "versions of stores that each target is measured on, e.g. valkey~8.1,valkey~9.1 (tags of images), or name~version=path",
      defaultText: "its own",
      repeatable: true,
    },
    {
      key: "framework",
      value: "<list>",
      help: "web frameworks of the server; each target is measured with each",
      defaultText: USUAL_FRAMEWORK,
      repeatable: true,
      choices: () => frameworks.map(({ id, summary }) => ({ value: id, hint: summary })),
    },
    {
      key: "compare-frameworks",
      help: "targets on several web frameworks are ranked together",
    },
    {
      key: "layer",
      value: "<list>",
      help: `where the load enters: ${layers.map(({ id, hint }) => `${id} (${hint})`).join(", ")}`,
      defaultValue: "server",
      repeatable: true,
      choices: () => layers.map(({ id, hint }) => ({ value: id, hint })),
      singleRun: {
        name: "LAYER",
        schema: z.enum(driverLayerIds, `must be ${driverLayerIds.join(" or ")}`),
        help: `where the load enters: ${driverLayerIds.join(" or ")}`,
      },
    },
    ...dimensions.map(dimensionSetting),
    {
      key: "stores",
      value: "<list>",
      help: "store layer: servers, e.g. redis,valkey; any other with --program or --image",
      defaultText: DEFAULT_STORES.join(","),
      repeatable: true,
      choices: () => valuesOnly(stores.flatMap(({ id, engine }) => (engine === "resp" ? [id] : []))),
    },
    {
      key: "operations",
      value: "<list>",
      help: `store layer: ${operations.map(({ id, summary }) => `${id} (${summary})`).join(", ")}`,
      defaultText: "all",
      repeatable: true,
      choices: () => operations.map(({ id, summary }) => ({ value: id, hint: summary })),
    },
    {
      key: "payload-bytes",
      value: "<list>",
      help: "store layer: sizes of the values of set and get",
      defaultText: String(DEFAULT_PAYLOAD_BYTES),
      repeatable: true,
    },
    {
      key: "service-env",
      value: "<service:NAME=value>",
      help: "setting of a service, e.g. envoy-ratelimit:REDIS_POOL_SIZE=20; repeatable",
      repeatable: true,
    },
    {
      key: "plugin",
      value: "<path>",
      help: "file or folder that adds stores, clients, limiters, options or traffic; repeatable",
      variable: "PLUGINS",
      variableHelp: `files and folders that add stores, clients, limiters, options or traffic, separated by "${delimiter}"`,
      repeatable: true,
    },
  ],
};

const traffic: SettingGroup = {
  topic: "traffic",
  title: "what the requests are",
  settings: [
    {
      key: "workload",
      value: "<list>",
      help: `${workloadIds.join("|")}|both`,
      defaultValue: "light",
      repeatable: true,
      choices: () =>
        [...workloadIds, "both"].map((value) => ({
          value,
          ...(workloadHints[value] ? { hint: workloadHints[value] } : {}),
        })),
      singleRun: { name: "REQUEST_TYPE", schema: idSchema, help: workloadIds.join(" or ") },
    },
    {
      key: "complexity",
      value: "<n>",
      help: "rounds of CPU work of the heavy workload",
      defaultValue: String(DEFAULT_COMPLEXITY),
      singleRun: { name: "COMPUTATION_COMPLEXITY", schema: wholeText("complexity") },
    },
    {
      key: "traffic",
      value: "<list>",
      help: "keys of the requests",
      defaultValue: DEFAULT_TRAFFIC,
      repeatable: true,
      choices: () => profiles.map(({ id, summary }) => ({ value: id, hint: summary })),
      singleRun: {
        name: "TRAFFIC",
        schema: idSchema,
        help: `keys of the requests: ${ids(profiles).join(", ")}`,
      },
    },
    {
      key: "trace",
      value: "<file>",
      help: "the keys of a file, in its order: CSV or JSON lines of time, key and cost, or an access log",
    },
    {
      key: "trace-speed",
      value: "<list>",
      help: "open loop: with --trace, at its times; 1: as fast as they were, 10: ten times",
      repeatable: true,
    },
    {
      key: "points",
      value: "<list>",
      help: "explicit quota of each key",
      repeatable: true,
      variable: "RATE_LIMIT_POINTS",
    },
    {
      key: "window",
      value: "<list>",
      help: "explicit window of the quota, seconds",
      repeatable: true,
      variable: "RATE_LIMIT_DURATION",
    },
    {
      key: "cost",
      value: "<list>",
      help: "points that a request uses for each of its keys",
      defaultText: "1",
      repeatable: true,
      variable: "RATE_LIMIT_COST",
    },
    {
      key: "block",
      value: "<s>",
      help: "explicit block once the quota is exceeded, seconds",
      variable: "RATE_LIMIT_BLOCK_DURATION",
    },
  ],
};

const measure: SettingGroup = {
  topic: "measure",
  title: "how it is measured",
  settings: [
    {
      key: "preset",
      value: "<name>",
      help: `${ids(PRESETS).join("|")}; every other flag overrides it`,
      choices: () => valuesOnly(ids(PRESETS)),
    },
    { key: "quick", help: "same as --preset quick", flagOnly: true },
    {
      key: "duration-mode",
      value: "<mode>",
      help: "dynamic|fixed30|fixed120|custom:N|requests:N,… (requests instead of seconds)",
      defaultValue: "dynamic",
      choices: () => [
        { value: "dynamic", hint: "120 s, 180 s above 100 connections, 30 s more for clusters" },
        { value: "fixed30", label: "30 s" },
        { value: "fixed120", label: "120 s" },
        { value: CUSTOM_DURATION },
        { value: REQUESTS_DURATION },
      ],
      singleRun: {
        name: "DURATION",
        schema: wholeText("duration"),
        help: "measured seconds of a run",
        defaultValue: "30",
        toValue: (text) => `${CUSTOM_DURATION}${text}`,
      },
    },
    {
      key: "concurrency",
      value: "<list>",
      help: "connections",
      defaultValue: "50 100",
      repeatable: true,
      singleRun: {
        name: "CONNECTIONS",
        schema: wholeText("connections"),
        defaultValue: "10",
        defaultText: `10; with RATE at most ${DEFAULT_POOL}`,
      },
    },
    {
      key: "rate",
      value: "<list>",
      help: "open loop: requests/s, over up to --concurrency connections (200)",
      repeatable: true,
      singleRun: { name: "RATE", schema: decimalText("rate"), help: "open loop: requests/s" },
    },
    {
      key: "rate-sweep",
      value: "<from:to:n>",
      help: "open loop at n rates, each the same factor above the last, e.g. 1000:20000:8",
    },
    {
      key: "arrivals",
      value: "<spread>",
      help: "spacing of the sends of an open loop: constant|poisson",
      defaultText: "constant",
      choices: () => valuesOnly(namedArrivals),
      singleRun: {
        name: "ARRIVALS",
        schema: z.enum(namedArrivals, "must be constant or poisson"),
      },
    },
    {
      key: "find-max-rate",
      help: "open loop: search the highest rate that meets --slo, starting at --rate",
    },
    {
      key: "slo",
      value: "<list>",
      help: 'objectives of --find-max-rate, written like --threshold, e.g. "p99<10ms,errors<0.1%"',
      repeatable: true,
    },
    {
      key: "runs",
      value: "<n>",
      help: "runs of each configuration; auto: as many as it takes to rank them",
      defaultValue: "3",
      choices: () => valuesOnly([AUTO]),
      singleRun: { name: "RUNS", schema: wholeText("runs"), help: "number of runs", defaultValue: "1" },
    },
    {
      key: "max-runs",
      value: "<n>",
      help: "with --runs auto: most runs of each configuration",
      defaultText: "20",
    },
    {
      key: "budget",
      value: "<time>",
      help: "with --runs auto or --find-max-rate: time for the whole campaign, e.g. 90s, 20m, 1.5h",
    },
    {
      key: "diagnose",
      value: "[alone]",
      help: "one more run of each configuration, with instruments: it never counts, and the report says where a request's time goes; alone: no other runs",
      choices: () => valuesOnly([ALONE]),
    },
    {
      key: "warmup",
      value: "<s>",
      help: `seconds of load before each run, discarded; auto: until it is steady, ${AUTO_WARMUP.min_s} to ${AUTO_WARMUP.max_s} s, by turns from ${AUTO_WARMUP.min_by_turns_s} s on`,
      defaultValue: "10",
      choices: () => [{ value: AUTO, hint: "until the load is steady" }],
      singleRun: { name: "WARMUP", schema: decimalOrAuto(RANGES.warmup.min, RANGES.warmup.max) },
    },
    {
      key: "cooldown",
      value: "<a[,b]>",
      help: "seconds between runs, and between clients in consecutive order",
      defaultValue: "5,10",
      singleRun: {
        name: "COOLDOWN",
        schema: decimalText("cooldown"),
        help: "seconds between runs",
        defaultValue: "5",
        toValue: (text) => `${text},0`,
      },
    },
    {
      key: "order",
      value: "<order>",
      help: orders.join("|"),
      defaultValue: "turns",
      choices: () => valuesOnly(orders),
    },
    {
      key: "reference",
      value: "<target>",
      help: "the target, or at the store layer the store, with which the others of its ranking are compared",
      defaultText: "the first named",
      choices: () => valuesOnly(targetTexts),
    },
    {
      key: "no-reference",
      help: "measure one target alone, without the reference by which campaigns are compared",
    },
    {
      key: "no-copy",
      help: "leave out the copy of each ranking's reference, which shows what the campaign cannot tell apart; it is measured from 6 rounds on",
    },
    {
      key: "seed",
      value: "<n>",
      help: "seed of order and traffic",
      defaultText: "random",
      singleRun: { name: "SEED", schema: wholeText("seed"), defaultValue: "1" },
    },
    {
      key: "workers",
      value: "<n>",
      help: "threads of the load generator",
      defaultValue: "1",
      singleRun: { name: "WORKERS", schema: wholeText("workers") },
    },
    {
      key: "threshold",
      value: "<list>",
      help: 'limits for every client, e.g. "p99<10ms,errors<0.1%,limited_share=0.1±0.01"; exit code 6 if one is missed',
      repeatable: true,
    },
  ],
};

const faults: SettingGroup = {
  topic: "faults",
  title: "what breaks in the window",
  settings: [
    {
      key: "fault",
      value: "<list>",
      help: "open loop, by default at a rate found by calibration: faults in the window; each a configuration of its own, none: without one; / joins those of one run",
      repeatable: true,
      choices: () => [
        { value: "none" },
        ...namedFaults.map(({ id, summary }) => ({ value: id, hint: summary })),
      ],
      singleRun: {
        name: "FAULT",
        schema: z
          .string()
          .max(400)
          .regex(/^[^,\s]*$/, "must be one fault, or several joined by /"),
        help: "open loop: fault in the window, e.g. store-restart or pause:store-1@5s+2s",
      },
    },
  ],
};

const machines: SettingGroup = {
  topic: "machines",
  title: "where it runs, and the caps of each part",
  settings: [
    {
      key: "runtime",
      value: "<runtime>",
      help: `auto|${runtimeIds.join("|")}`,
      defaultValue: "auto",
      choices: () => [{ value: "auto", hint: "the first of these that works" }, ...valuesOnly(runtimeIds)],
      singleRun: {
        name: "RUNTIME",
        schema: z.string().max(40),
        help: ["auto", ...runtimeIds].join(", "),
      },
      onResume: "flag",
    },
    {
      key: "hosts",
      value: "<file>",
      help: "YAML file that names Docker engines of several machines, by role: see docs/hosts.md",
    },
    {
      key: "kube-context",
      value: "<name>",
      help: "context of the kubeconfig, for --runtime kubernetes",
      defaultText: "the current one",
      onResume: "flag",
    },
    {
      key: "namespace",
      value: "<name>",
      help: "namespace of the cluster in which pods run",
      defaultText: "the context's",
      onResume: "flag",
    },
    {
      key: "node-store",
      value: "<labels>",
      help: "labels of the cluster's nodes for stores and services, e.g. disk=ssd; roles are spread without",
    },
    { key: "node-server", value: "<labels>", help: "labels of the nodes for servers" },
    { key: "node-generator", value: "<labels>", help: "labels of the nodes for load generators" },
    {
      key: "host-network",
      help: "pods share the network of their nodes: faster, and not like most clusters; every result says so",
    },
    {
      key: "registry",
      value: "<prefix>",
      help: "registry with the images that `npm run images` builds, e.g. registry.example.org/bench",
      defaultText: "they are on the nodes",
    },
    cap("store-cpus", "<n>", "CPU cap of a store node in a container", "2"),
    cap("store-memory", "<size>", "memory cap of a store node in a container, e.g. 512m", "2g"),
    cap("service-cpus", "<n>", "CPU cap of a service in a container", "2"),
    cap("service-memory", "<size>", "memory cap of a service in a container, e.g. 512m", "2g"),
    cap("server-cpus", "<n>", "CPU cap of the server", "none"),
    cap("loadtest-cpus", "<n>", "CPU cap of the load generator", "none"),
    cap("cpuset-store", "<list>", "CPUs of the store nodes, e.g. 0-1"),
    cap("cpuset-service", "<list>", "CPUs of a service"),
    cap("cpuset-server", "<list>", "CPUs of the server"),
    cap("cpuset-loadtest", "<list>", "CPUs of the load generator"),
  ],
};

const programs: SettingGroup = {
  topic: "programs",
  title: "which programs, images or running stores it uses",
  settings: [
    {
      key: "valkey-server",
      value: "<path>",
      help: "Valkey program",
      defaultText: "from PATH, else embedded",
      variable: "VALKEY_SERVER",
      onResume: "flag or variable",
    },
    {
      key: "redis-server",
      value: "<path>",
      help: "Redis program",
      defaultText: "from PATH",
      variable: "REDIS_SERVER",
      onResume: "flag or variable",
    },
    {
      key: "program",
      value: "<name=path>",
      help: "program of any store, service or load program on this machine, e.g. memcached=/opt/memcached, or the file of a module, e.g. redis-cell=/opt/libredis_cell.so; repeatable",
      defaultText: "from PATH",
      repeatable: true,
      onResume: "flag",
    },
    {
      key: "node",
      value: "<list>",
      help: "paths of several Nodes of this machine: each target is measured with its server in each (runtime local)",
      defaultText: "the one that runs this",
      repeatable: true,
    },
    {
      key: "image",
      value: "<name=ref>",
      help: "container image of any store or service, e.g. redis=redis:7.4; repeatable",
      defaultText: "its own, or that of its variable, e.g. REDIS_IMAGE",
      repeatable: true,
      onResume: "flag",
    },
    {
      key: "store-url",
      value: "<url>",
      help: "measure a store that you already run: redis[s]://[user:password@]host[:port]; process lists show the flag, but not STORE_URL",
      variable: "STORE_URL",
      variableHelp: "measure a store that you already run: redis[s]://[user:password@]host[:port]",
      secret: true,
      onResume: "flag or variable",
    },
    {
      key: "store-ca",
      value: "<file>",
      help: "CA certificate (PEM) for rediss://",
      variable: "STORE_CA",
      onResume: "flag or variable",
    },
    {
      key: "store-cert",
      value: "<file>",
      help: "own certificate (PEM), for a store that asks its clients for one",
      variable: "STORE_CERT",
      onResume: "flag or variable",
    },
    {
      key: "store-key",
      value: "<file>",
      help: "private key (PEM) of --store-cert",
      variable: "STORE_KEY",
      onResume: "flag or variable",
    },
  ],
};

const output: SettingGroup = {
  topic: "output",
  title: "files, resuming, and what is printed",
  settings: [
    {
      key: "output",
      value: "<dir>",
      help: "results root",
      defaultValue: "results",
      singleRun: { name: "OUTPUT_DIR", schema: z.string().max(4096) },
      incidental: true,
      onResume: "flag",
    },
    {
      key: "resume",
      value: "[campaign]",
      help: "continue a campaign of --output (default: the newest); refuses flags that change its plan",
      flagOnly: true,
      onResume: "flag",
    },
    {
      key: "allow-parallel",
      help: "start even if another campaign is running",
      incidental: true,
      onResume: "flag",
    },
    {
      key: "force",
      help: "start even if the preset refuses a machine with warnings",
      incidental: true,
    },
    {
      key: "config",
      value: "<file>",
      help: "read settings from a YAML file, or from the manifest.json of a campaign to repeat; flags override them",
      flagOnly: true,
    },
    {
      key: "json",
      help: "one JSON object per line on standard output, everything else on standard error; one document with --dry-run",
      flagOnly: true,
      onResume: "flag",
    },
    {
      key: "quiet",
      help: "only warnings, problems and the path of the report",
      flagOnly: true,
      onResume: "flag",
    },
    {
      key: "progress",
      value: "<mode>",
      help: "live|run|phase (redrawn in place, one line per run, one line per phase); default: live on a terminal, else run",
      flagOnly: true,
      choices: () => valuesOnly(progressModes),
      onResume: "flag",
    },
    {
      key: "verbose",
      help: "also the figures of each second and the output of the programs",
      flagOnly: true,
      onResume: "flag",
    },
    { key: "legacy", help: "three plain prompts: duration, concurrency, workload", flagOnly: true },
    { key: "dry-run", help: "print the plan and its estimate; start nothing", flagOnly: true },
  ],
};

export const GROUPS: readonly SettingGroup[] = [
  targets,
  traffic,
  measure,
  faults,
  machines,
  programs,
  output,
];

export const SETTINGS: readonly Setting[] = GROUPS.flatMap(({ settings }) => settings);

export function settingOf(key: string): Setting {
  const found = SETTINGS.find((setting) => setting.key === key);
  if (!found) throw new Error(`there is no setting ${key}`);
  return found;
}

/** The default of a setting that has one. @throws Error if it has none, which is a defect */
export function defaultOf(key: string): string {
  const { defaultValue } = settingOf(key);
  if (defaultValue === undefined) throw new Error(`--${key} has no default`);
  return defaultValue;
}

export const FILE_SETTINGS: readonly Setting[] = SETTINGS.filter(
  ({ secret, flagOnly }) => !(secret || flagOnly),
);
