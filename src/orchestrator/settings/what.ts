import { DEFAULT_COMPLEXITY } from "../../contract/server-env.js";
import { clients } from "../../targets/clients/index.js";
import { groups } from "../../targets/groups.js";
import { namedLimiters } from "../../targets/limiters/named.js";
import { DEFAULT_TRAFFIC, profiles } from "../../traffic/profiles/index.js";
import { workloads } from "../../traffic/workloads.js";
import type { SettingGroup } from "./types.js";

const workloadIds = workloads.map(({ id }) => id);

export const what: SettingGroup = {
  title: "What is measured:",
  settings: [
    {
      key: "clients",
      value: "<list>",
      help: "targets and groups, comma or space separated",
      repeatable: true,
      words: () => [...Object.keys(groups), ...clients.map(({ id }) => id)],
    },
    {
      key: "limiter",
      value: "<list>",
      help: "limiters that decide, name[~version]: each target once with each; else the usual one",
      repeatable: true,
      words: namedLimiters,
    },
    {
      key: "workload",
      value: "<list>",
      help: `${workloadIds.join("|")}|both`,
      fallback: "light",
      repeatable: true,
      words: () => [...workloadIds, "both"],
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
      words: () => profiles.map(({ id }) => id),
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
