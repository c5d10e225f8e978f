import { delimiter } from "node:path";
import { z } from "zod";
import { MOST_APPS } from "../../contract/app.js";
import { DEFAULT_COUNT, dimensions } from "../../contract/dimensions.js";
import { driverLayerIds, layers } from "../../contract/layers.js";
import { wholeText } from "../../contract/ranges.js";
import { DEFAULT_COMPLEXITY } from "../../contract/server-env.js";
import { idSchema } from "../../contract/target.js";
import { definedOnly } from "../../kit/defined-only.js";
import { wholeOrAuto } from "../../kit/env.js";
import { APP_STORES } from "../../targets/apps.js";
import { clients } from "../../targets/clients/index.js";
import { DEFAULT_FRAMEWORK, frameworks } from "../../targets/frameworks.js";
import { operations } from "../../targets/load-programs/operations.js";
import { stores } from "../../targets/stores/index.js";
import { groups } from "../../targets/target-groups.js";
import { limiterNames } from "../../targets/target-variants.js";
import { DEFAULT_TRAFFIC, profiles } from "../../traffic/profiles.js";
import { workloads } from "../../traffic/workloads.js";
import { explained, flag, group, ids, type Setting, valuesOnly } from "./setting-types.js";
import { AUTO } from "./setting-values.js";

const workloadIds = ids(workloads);
const workloadHints: Readonly<Record<string, string>> = {
  light: "a minimal answer: the limiter is most of the work",
  heavy: "CPU work in each request",
};

/** Each client on each store and topology that it takes, as completion and menu offer them. */
export const offeredTargets = clients.flatMap(({ id, stores, topologies }) =>
  [id, ...stores.slice(1).map((store) => `${id}@${store}`)].flatMap((text) => [
    text,
    ...topologies.slice(1).map((topology) => `${text}:${topology}`),
  ]),
);

/** The stores that the store layer measures unless flags name others. */
export const DEFAULT_STORES: readonly string[] = ["valkey", "redis"];
export const DEFAULT_PAYLOAD_BYTES = 100;

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

export const targets = group("targets", "what is measured", [
  flag("clients <list>", "targets and groups, comma or space separated", {
    choices: () => valuesOnly([...Object.keys(groups), ...offeredTargets]),
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

export const apps = group("apps", "HTTP servers of your own", [
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

export const traffic = group("traffic", "what the requests are", [
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
