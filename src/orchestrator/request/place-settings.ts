import { z } from "zod";
import { RESULTS_ROOT } from "../../contract/report-commands.js";
import { runtimeIds } from "../../runtimes/index.js";
import { progressModes } from "../ui/screen-types.js";
import { cap, flag, group, valuesOnly } from "./setting-types.js";

/** The caps of a store node and of a service. Servers and generators have only the memory cap. */
export const DEFAULT_CAPS = { cpus: "2", memory: "2g" } as const;

export const machines = group("machines", "where it runs, and the caps of each part", [
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

export const programs = group("programs", "which programs, images or running stores it uses", [
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

export const output = group("output", "files, resuming, and what is printed", [
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
