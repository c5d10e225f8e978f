import { delimiter } from "node:path";
import { z } from "zod";
import { MOST_APPS } from "../../contract/app.js";
import { AUTO_WARMUP, DEFAULT_POOL, namedArrivals } from "../../contract/configuration.js";
import { DEFAULT_COUNT, dimensions } from "../../contract/dimensions.js";
import { driverLayerIds, layers } from "../../contract/layers.js";
import { namedFaults } from "../../contract/named-faults.js";
import { orders } from "../../contract/plan.js";
import { decimalText, RANGES, wholeText } from "../../contract/ranges.js";
import { RESULTS_ROOT } from "../../contract/report-commands.js";
import { DEFAULT_COMPLEXITY } from "../../contract/server-env.js";
import { MARGIN_SHARE, MIN_PAIRS } from "../../contract/statistics.js";
import { idSchema } from "../../contract/target.js";
import { definedOnly } from "../../kit/defined-only.js";
import { decimalOrAuto, wholeOrAuto } from "../../kit/env.js";
import { runtimeIds } from "../../runtimes/index.js";
import { APP_STORES } from "../../targets/apps.js";
import { clients } from "../../targets/clients/index.js";
import { DEFAULT_FRAMEWORK, frameworks } from "../../targets/frameworks.js";
import { operations } from "../../targets/load-programs/operations.js";
import { stores } from "../../targets/stores/index.js";
import { groups } from "../../targets/target-groups.js";
import { limiterNames } from "../../targets/target-variants.js";
import { DEFAULT_TRAFFIC, profiles } from "../../traffic/profiles.js";
import { workloads } from "../../traffic/workloads.js";
import { progressModes } from "../ui/screen-types.js";
import {
  CUSTOM_DURATION,
  DYNAMIC,
  DYNAMIC_DURATION,
  FIXED_DURATIONS,
  NAMED_DURATIONS,
  REQUESTS_DURATION,
} from "./durations.js";
import { PRESETS } from "./presets.js";
import { AUTO } from "./setting-values.js";

/** A value that a setting can have, for the completion of shells and for the menu. */
export type SettingChoice = {
  value: string;
  /** What the menu shows in place of the value. */
  label?: string;
  hint?: string;
};

/** A variable of single runs, with the value of a setting. */
export interface SingleRunVariable {
  name: string;
  schema: z.ZodType<string>;
  help?: string;
  /** The variable's default, where it differs from the setting's. */
  defaultValue?: string;
  defaultText?: string;
  /** The setting's value for the text of a variable that has another form. */
  toValue?: (text: string) => string;
}

/**
 * A setting of a campaign: the flag `--key`, `key:` in a campaign file, and sometimes a variable.
 * Flags, help, files, environment, completion, menu and resume all read the list of settings. A new
 * setting also needs a member of `Request`, and its reading in `parse-request.ts` or in the file of
 * its topic: docs/extending.md has the steps.
 */
export interface Setting {
  /** The flag without its dashes, and the key in a campaign file, e.g. `duration-mode`. */
  key: string;
  /** Placeholder of the value in the help, e.g. `<n>`; absent for a switch. */
  value?: string;
  help: string;
  defaultValue?: string;
  /** How the help shows a default that is not a value of the setting. */
  defaultText?: string;
  /** An environment variable that sets it too, for campaigns and single runs. */
  variable?: string;
  variableHelp?: string;
  singleRun?: SingleRunVariable;
  /** Whether it can be given several times. The values are joined by commas. */
  repeatable?: true;
  /** Whether its values may hold commas, so that several are joined as a JSON list. */
  isExact?: true;
  /** Values to offer in completion and in the menu; others may be valid too. */
  choices?: () => readonly SettingChoice[];
  /** Whether it does not affect what is measured, so that the manifest does not record it. */
  incidental?: true;
  /**
   * Whether a resumed campaign accepts the setting as a flag, or also as a variable where the
   * manifest does not record it (it may hold a password). Any other flag would contradict the plan.
   */
  onResume?: "flag" | "flag or variable";
  /** Whether its value is never printed, stored or read from a file. */
  secret?: true;
  /** Whether only the command line can set it. */
  flagOnly?: true;
}

/** A group of settings under one topic of the help, which `help TOPIC` prints. */
const group = (topic: string, title: string, settings: readonly Setting[]) => ({
  topic,
  title,
  settings,
});

const ids = (list: readonly { id: string }[]): string[] => list.map(({ id }) => id);
const valuesOnly = (values: readonly string[]): SettingChoice[] =>
  values.map((value) => ({ value }));
const explained = (list: readonly { id: string; summary: string }[]): SettingChoice[] =>
  list.map(({ id, summary }) => ({ value: id, hint: summary }));
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

/** The stores that the store layer measures unless flags name others. */
export const DEFAULT_STORES: readonly string[] = ["valkey", "redis"];
export const DEFAULT_PAYLOAD_BYTES = 100;

/** The caps of a store node and of a service. Servers and generators have only the memory cap. */
export const DEFAULT_CAPS = { cpus: "2", memory: "2g" } as const;

/** The most runs of a configuration with `--runs auto`. */
export const DEFAULT_MAX_RUNS = "20";

/** The value of `diagnose` for runs with instruments and no others. */
export const ALONE = "alone";

/**
 * The setting of a dimension. It has no default value, so that a campaign at another layer can be
 * resumed and repeated without it.
 */
const dimensionSetting = (dimension: (typeof dimensions)[number]): Setting => {
  const { key, help, other, max } = dimension;
  const canBeFound = "canBeFound" in dimension;
  const setting = flag(`${key} <list>`, `${help} (${DEFAULT_COUNT} to ${max})`, {
    defaultText: String(DEFAULT_COUNT),
    singleRun: {
      name: key.toUpperCase(),
      schema: canBeFound ? wholeOrAuto(DEFAULT_COUNT, max) : wholeText(key),
      help: `number of ${other}`,
    },
  });
  return canBeFound ? { ...setting, choices: () => valuesOnly([AUTO]) } : setting;
};

/**
 * A setting with the name of its flag.
 * @param name the flag with the placeholder of its value, e.g. `rate <list>`. The placeholder
 *   `<list>` says that the flag can be given several times.
 */
function flag(
  name: string,
  help: string,
  more: Omit<Setting, "key" | "value" | "help"> = {},
): Setting {
  const [key = "", value] = name.split(" ");
  if (value === undefined) return { key, help, ...more };
  const setting: Setting = { key, value, help };
  if (value === "<list>") setting.repeatable = true;
  return { ...setting, ...more };
}

/** A setting whose variable has the same name, e.g. `store-cpus` and `STORE_CPUS`. */
const cap = (key: string, value: string, help: string, defaultText?: string): Setting =>
  definedOnly({
    key,
    value,
    help,
    defaultText,
    variable: key.toUpperCase().replace("-", "_"),
  });

const targets = group("targets", "what is measured", [
  flag("clients <list>", "targets and groups, comma or space separated", {
    choices: () => valuesOnly([...Object.keys(groups), ...targetTexts]),
  }),
  flag(
    "limiter <list>",
    "limiters that decide, name[~version]; each target is measured with each",
    {
      defaultText: "its own",
      choices: () => valuesOnly(limiterNames()),
    },
  ),
  flag(
    "store-versions <list>",
    "versions of stores that each target is measured on, e.g. valkey~8.1,valkey~9.1 (tags of images), or name~version=path",
    { defaultText: "its own" },
  ),
  flag("framework <list>", "web frameworks of the server; each target is measured with each", {
    defaultText: DEFAULT_FRAMEWORK,
    choices: () => explained(frameworks),
  }),
  flag("compare-frameworks", "targets on several web frameworks are ranked together"),
  flag(
    "layer <list>",
    `where the load enters: ${layers.map(({ id, hint }) => `${id} (${hint})`).join(", ")}`,
    {
      defaultValue: "server",
      choices: () => layers.map(({ id, hint }) => ({ value: id, hint })),
      singleRun: {
        name: "LAYER",
        schema: z.enum(driverLayerIds, `must be ${driverLayerIds.join(" or ")}`),
        help: `where the load enters: ${driverLayerIds.join(" or ")}`,
      },
    },
  ),
  ...dimensions.map(dimensionSetting),
  flag(
    "stores <list>",
    "store layer: servers, e.g. redis,valkey; any other with --program or --image",
    {
      defaultText: DEFAULT_STORES.join(","),
      choices: () =>
        valuesOnly(stores.flatMap(({ id, engine }) => (engine === "resp" ? [id] : []))),
    },
  ),
  flag(
    "operations <list>",
    `store layer: ${operations.map(({ id, summary }) => `${id} (${summary})`).join(", ")}`,
    { defaultText: "all", choices: () => explained(operations) },
  ),
  flag("payload-bytes <list>", "store layer: sizes of the values of set and get", {
    defaultText: String(DEFAULT_PAYLOAD_BYTES),
  }),
  flag(
    "service-env <service:NAME=value>",
    "setting of a service, e.g. envoy-ratelimit:REDIS_POOL_SIZE=20; repeatable",
    { repeatable: true },
  ),
  flag(
    "plugin <path>",
    "file or folder that adds stores, clients, limiters, options or traffic; repeatable",
    {
      variable: "PLUGINS",
      variableHelp: `files and folders that add stores, clients, limiters, options or traffic, separated by "${delimiter}"`,
      repeatable: true,
    },
  ),
]);

const apps = group("apps", "HTTP servers of your own", [
  flag(
    "app <name=command>",
    `an HTTP server that listens at the port that PORT names, e.g. before="node a/server.js", or an image, e.g. before=my-api:1.2; repeatable, up to ${MOST_APPS}`,
    { repeatable: true, isExact: true },
  ),
  flag(
    "url <name=address>",
    "a server that already runs, e.g. now=http://127.0.0.1:3000, and so has no fresh process each round; repeatable",
    { repeatable: true, isExact: true },
  ),
  flag("path <path>", "the path that is asked for; {key} in it stands for the request's key", {
    defaultText: "/",
  }),
  flag(
    "header <name:value>",
    "a header of each request; {key} in it stands for the key; other values are neither printed nor stored; repeatable",
    { repeatable: true, isExact: true, secret: true, onResume: "flag" },
  ),
  flag("ready <path>", "the path that answers below 500 once an app is ready", {
    defaultText: "the measured one",
  }),
  flag(
    "app-store <variable=store>",
    `a fresh store for each app, whose address is in that variable, e.g. REDIS_URL=valkey: ${APP_STORES.join(", ")}`,
  ),
  flag("app-folder <dir>", "the folder that apps are started in", { defaultText: "this one" }),
]);

const traffic = group("traffic", "what the requests are", [
  flag("workload <list>", `${workloadIds.join("|")}|both`, {
    defaultValue: "light",
    choices: () =>
      [...workloadIds, "both"].map((value) => definedOnly({ value, hint: workloadHints[value] })),
    singleRun: { name: "REQUEST_TYPE", schema: idSchema, help: workloadIds.join(" or ") },
  }),
  flag("complexity <n>", "rounds of CPU work of the heavy workload", {
    defaultValue: String(DEFAULT_COMPLEXITY),
    singleRun: { name: "COMPUTATION_COMPLEXITY", schema: wholeText("complexity") },
  }),
  flag("traffic <list>", "keys of the requests", {
    defaultValue: DEFAULT_TRAFFIC,
    choices: () => explained(profiles),
    singleRun: {
      name: "TRAFFIC",
      schema: idSchema,
      help: `keys of the requests: ${ids(profiles).join(", ")}`,
    },
  }),
  flag(
    "trace <file>",
    "the keys of a file, in its order: CSV or JSON lines of time, key and cost, or an access log",
  ),
  flag(
    "trace-speed <list>",
    "open loop: with --trace, at its times; 1: as fast as they were, 10: ten times",
  ),
  flag(
    "key <list>",
    "with --trace, the field that is the key; of several, the first that has a value",
  ),
  flag(
    "trace-zone <zone>",
    "with --trace, the zone of times that name none: +02:00, Europe/Berlin",
    {
      defaultText: "UTC",
    },
  ),
  flag("points <list>", "explicit quota of each key", { variable: "RATE_LIMIT_POINTS" }),
  flag("window <list>", "explicit window of the quota, seconds", {
    variable: "RATE_LIMIT_DURATION",
  }),
  flag("cost <list>", "points that a request uses for each of its keys", {
    defaultText: "1",
    variable: "RATE_LIMIT_COST",
  }),
  flag("block <s>", "explicit block once the quota is exceeded, seconds", {
    variable: "RATE_LIMIT_BLOCK_DURATION",
  }),
]);

const measure = group("measure", "how it is measured", [
  flag("preset <name>", `${ids(PRESETS).join("|")}; every other flag overrides it`, {
    choices: () => valuesOnly(ids(PRESETS)),
  }),
  flag("quick", "same as --preset quick", { flagOnly: true }),
  flag(
    "duration-mode <mode>",
    `${NAMED_DURATIONS.join("|")}|${CUSTOM_DURATION}N|${REQUESTS_DURATION}N,… (requests instead of seconds)`,
    {
      defaultValue: DYNAMIC_DURATION,
      choices: () => [
        {
          value: DYNAMIC_DURATION,
          hint: `${DYNAMIC.seconds} s, ${DYNAMIC.seconds_above} s above ${DYNAMIC.most_connections} connections, ${DYNAMIC.more_in_a_cluster} s more for clusters`,
        },
        ...Object.entries(FIXED_DURATIONS).map(([value, seconds]) => ({
          value,
          label: `${seconds} s`,
        })),
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
  ),
  flag("concurrency <list>", "connections", {
    defaultValue: "50 100",
    singleRun: {
      name: "CONNECTIONS",
      schema: wholeText("connections"),
      defaultValue: "10",
      defaultText: `10; with RATE at most ${DEFAULT_POOL}`,
    },
  }),
  flag(
    "rate <list>",
    `open loop: requests/s, over up to --concurrency connections (${DEFAULT_POOL})`,
    {
      singleRun: { name: "RATE", schema: decimalText("rate"), help: "open loop: requests/s" },
    },
  ),
  flag(
    "rate-sweep <from:to:n>",
    "open loop at n rates, each the same factor above the last, e.g. 1000:20000:8",
  ),
  flag(
    "load-curve",
    "CPU and latency at several rates and at full load, by turns; without --rates, at 2 to 75 % of the slowest target's throughput",
  ),
  flag(
    "rates <list>",
    "load curve at these requests/s, e.g. 500,2000,8000; full load only with --load-curve",
  ),
  flag("arrivals <spread>", "spacing of the sends of an open loop: constant|poisson", {
    defaultText: "constant",
    choices: () => valuesOnly(namedArrivals),
    singleRun: { name: "ARRIVALS", schema: z.enum(namedArrivals, "must be constant or poisson") },
  }),
  flag("find-max-rate", "open loop: search the highest rate that meets --slo, starting at --rate"),
  flag(
    "slo <list>",
    'objectives of --find-max-rate, written like --threshold, e.g. "p99<10ms,errors<0.1%"',
  ),
  flag("runs <n>", "runs of each configuration; auto: as many as it takes to rank them", {
    defaultValue: "3",
    choices: () => valuesOnly([AUTO]),
    singleRun: {
      name: "RUNS",
      schema: wholeText("runs"),
      help: "number of runs",
      defaultValue: "1",
    },
  }),
  flag("max-runs <n>", "with --runs auto: most runs of each configuration", {
    defaultText: DEFAULT_MAX_RUNS,
  }),
  flag(
    "tolerate <percent>",
    "with --runs auto: a gate, which ends when every loss against the reference is bounded below this, or one is shown; compare --tolerate gives the verdict",
  ),
  flag(
    "budget <time>",
    "with --runs auto or --find-max-rate: time for the whole campaign, e.g. 90s, 20m, 1.5h",
  ),
  flag(
    "diagnose [alone]",
    "one more run of each configuration, with instruments: it never counts, and the report says where a request's time goes; alone: no other runs",
    { choices: () => valuesOnly([ALONE]) },
  ),
  flag(
    "warmup <s>",
    `seconds of load before each run, discarded; auto: until it is steady, up to ${AUTO_WARMUP.max_s} s of each target`,
    {
      defaultValue: "10",
      choices: () => [{ value: AUTO, hint: "until the load is steady" }],
      singleRun: { name: "WARMUP", schema: decimalOrAuto(RANGES.warmup.min, RANGES.warmup.max) },
    },
  ),
  flag("cooldown <a[,b]>", "seconds between runs, and between clients in consecutive order", {
    defaultValue: "5,10",
    singleRun: {
      name: "COOLDOWN",
      schema: decimalText("cooldown"),
      help: "seconds between runs",
      defaultValue: "5",
      toValue: (text) => `${text},0`,
    },
  }),
  flag("order <order>", orders.join("|"), {
    defaultValue: "turns",
    choices: () => valuesOnly(orders),
  }),
  flag(
    "turn <lead-in,slice>",
    "by turns: the shortest lead-in and slice of a turn, in milliseconds",
    { defaultText: "5,100, or 5,500 at the limiter layer" },
  ),
  flag(
    "reference <target>",
    "the target, or at the store layer the store, with which the others of its ranking are compared; auto adds one to a single target",
    { defaultText: "the first named", choices: () => valuesOnly([AUTO, ...targetTexts]) },
  ),
  flag(
    "no-copy",
    `leave out the copy of each ranking's reference, which shows what the campaign cannot tell apart; it is measured from ${MIN_PAIRS} rounds on`,
  ),
  flag("margin <percent>", "a difference that is no larger does not matter to you", {
    defaultValue: `${100 * MARGIN_SHARE}%`,
  }),
  flag("seed <n>", "seed of order and traffic", {
    defaultText: "random",
    singleRun: { name: "SEED", schema: wholeText("seed"), defaultValue: "1" },
  }),
  flag("workers <n>", "threads of the load generator", {
    defaultValue: "1",
    singleRun: { name: "WORKERS", schema: wholeText("workers") },
  }),
  flag(
    "threshold <list>",
    'limits for every client, e.g. "p99<10ms,errors<0.1%,limited_share=0.1±0.01", by a load curve also "server_cores<0.3@1000/s"; exit code 6 if one is missed',
  ),
  flag(
    "plan-for <rate>",
    "by a load curve: the cores of server and store at this rate, e.g. 5000/s",
  ),
]);

const faults = group("faults", "what breaks in the window", [
  flag(
    "fault <list>",
    "open loop, by default at a rate found by calibration: faults in the window; each a configuration of its own, none: without one; / joins those of one run",
    {
      choices: () => [{ value: "none" }, ...explained(namedFaults)],
      singleRun: {
        name: "FAULT",
        schema: z
          .string()
          .max(400)
          .regex(/^[^,\s]*$/, "must be one fault, or several joined by /"),
        help: "open loop: fault in the window, e.g. store-restart or pause:store-1@5s+2s",
      },
    },
  ),
]);

const machines = group("machines", "where it runs, and the caps of each part", [
  flag("runtime <runtime>", `auto|${runtimeIds.join("|")}`, {
    defaultValue: "auto",
    choices: () => [
      { value: "auto", hint: "the first of these that works" },
      ...valuesOnly(runtimeIds),
    ],
    singleRun: {
      name: "RUNTIME",
      schema: z.string().max(40),
      help: ["auto", ...runtimeIds].join(", "),
    },
    onResume: "flag",
  }),
  flag(
    "hosts <file>",
    "YAML file that names Docker engines of several machines, by role: see docs/hosts.md",
  ),
  flag("kube-context <name>", "context of the kubeconfig, for --runtime kubernetes", {
    defaultText: "the current one",
    onResume: "flag",
  }),
  flag("namespace <name>", "namespace of the cluster in which pods run", {
    defaultText: "the context's",
    onResume: "flag",
  }),
  flag(
    "node-store <labels>",
    "labels of the cluster's nodes for stores and services, e.g. disk=ssd; roles are spread without",
  ),
  flag("node-server <labels>", "labels of the nodes for servers"),
  flag("node-generator <labels>", "labels of the nodes for load generators"),
  flag(
    "host-network",
    "pods share the network of their nodes: faster, and not like most clusters; every result says so",
  ),
  flag(
    "registry <prefix>",
    "registry with the images that `npm run images` builds, e.g. registry.example.org/bench",
    { defaultText: "they are on the nodes" },
  ),
  cap("store-cpus", "<n>", "CPU cap of a store node in a container", DEFAULT_CAPS.cpus),
  cap(
    "store-memory",
    "<size>",
    "memory cap of a store node in a container, e.g. 512m",
    DEFAULT_CAPS.memory,
  ),
  cap("service-cpus", "<n>", "CPU cap of a service in a container", DEFAULT_CAPS.cpus),
  cap(
    "service-memory",
    "<size>",
    "memory cap of a service in a container, e.g. 512m",
    DEFAULT_CAPS.memory,
  ),
  cap("server-cpus", "<n>", "CPU cap of the server", "none"),
  cap("loadtest-cpus", "<n>", "CPU cap of the load generator", "none"),
  cap("cpuset-store", "<list>", "CPUs of the store nodes, e.g. 0-1"),
  cap("cpuset-service", "<list>", "CPUs of a service"),
  cap("cpuset-server", "<list>", "CPUs of the server"),
  cap("cpuset-loadtest", "<list>", "CPUs of the load generator"),
]);

const programs = group("programs", "which programs, images or running stores it uses", [
  flag("valkey-server <path>", "Valkey program", {
    defaultText: "from PATH, else embedded",
    variable: "VALKEY_SERVER",
    onResume: "flag or variable",
  }),
  flag("redis-server <path>", "Redis program", {
    defaultText: "from PATH",
    variable: "REDIS_SERVER",
    onResume: "flag or variable",
  }),
  flag(
    "program <name=path>",
    "program of any store, service or load program on this machine, e.g. memcached=/opt/memcached, or the file of a module, e.g. redis-cell=/opt/libredis_cell.so; repeatable",
    { defaultText: "from PATH", repeatable: true, onResume: "flag" },
  ),
  flag(
    "node <list>",
    "paths of several Nodes of this machine: each target is measured with its server in each (runtime local)",
    { defaultText: "the one that runs this" },
  ),
  flag(
    "image <name=ref>",
    "container image of any store or service, e.g. redis=redis:7.4; repeatable",
    {
      defaultText: "its own, or that of its variable, e.g. REDIS_IMAGE",
      repeatable: true,
      onResume: "flag",
    },
  ),
  flag(
    "store-url <url>",
    "measure a store that you already run: redis[s]://[user:password@]host[:port]; process lists show the flag, but not STORE_URL",
    {
      variable: "STORE_URL",
      variableHelp: "measure a store that you already run: redis[s]://[user:password@]host[:port]",
      secret: true,
      onResume: "flag or variable",
    },
  ),
  flag("store-ca <file>", "CA certificate (PEM) for rediss://", {
    variable: "STORE_CA",
    onResume: "flag or variable",
  }),
  flag("store-cert <file>", "own certificate (PEM), for a store that asks its clients for one", {
    variable: "STORE_CERT",
    onResume: "flag or variable",
  }),
  flag("store-key <file>", "private key (PEM) of --store-cert", {
    variable: "STORE_KEY",
    onResume: "flag or variable",
  }),
]);

const output = group("output", "files, resuming, and what is printed", [
  flag("output <dir>", "results root", {
    defaultValue: RESULTS_ROOT,
    singleRun: { name: "OUTPUT_DIR", schema: z.string().max(4096) },
    incidental: true,
    onResume: "flag",
  }),
  flag(
    "junit <file>",
    "also write what the thresholds say as JUnit's XML, a case for each, for CI; needs --threshold",
    { incidental: true, onResume: "flag" },
  ),
  flag(
    "resume [campaign]",
    "continue a campaign of --output (default: the newest); refuses flags that change its plan",
    { flagOnly: true, onResume: "flag" },
  ),
  flag("allow-parallel", "start even if another campaign is running", {
    incidental: true,
    onResume: "flag",
  }),
  flag("force", "start even if the preset refuses a machine with warnings", { incidental: true }),
  flag(
    "config <file>",
    "read settings from a YAML file, or from the manifest.json of a campaign to repeat; flags override them",
    { flagOnly: true },
  ),
  flag(
    "json",
    "one JSON object per line on standard output, everything else on standard error; one document with --dry-run",
    { flagOnly: true, onResume: "flag" },
  ),
  flag("quiet", "only warnings, problems and the path of the report", {
    flagOnly: true,
    onResume: "flag",
  }),
  flag(
    "progress <mode>",
    "live|run|phase (redrawn in place, one line per run, one line per phase); default: live on a terminal, else run",
    { flagOnly: true, choices: () => valuesOnly(progressModes), onResume: "flag" },
  ),
  flag("verbose", "also the figures of each second and the output of the programs", {
    flagOnly: true,
    onResume: "flag",
  }),
  flag("legacy", "three plain prompts: duration, concurrency, workload", { flagOnly: true }),
  flag("dry-run", "print the plan and its estimate; start nothing", { flagOnly: true }),
]);

/** All settings by topic, in the order of the help. */
export const GROUPS = [targets, apps, traffic, measure, faults, machines, programs, output];

export const SETTINGS: readonly Setting[] = GROUPS.flatMap(({ settings }) => settings);

/** @throws Error for a key that no setting has, which is a defect */
export function settingOf(key: string): Setting {
  const setting = SETTINGS.find((candidate) => candidate.key === key);
  if (!setting) throw new Error(`there is no setting ${key}`);
  return setting;
}

/** The default of a setting. @throws Error where it has none, which is a defect */
export function defaultOf(key: string): string {
  const { defaultValue } = settingOf(key);
  if (defaultValue === undefined) throw new Error(`--${key} has no default`);
  return defaultValue;
}

/** The settings that a campaign file can have. */
export const FILE_SETTINGS: readonly Setting[] = SETTINGS.filter(
  ({ secret, flagOnly }) => !(secret || flagOnly),
);
