import { arrivalsSchema } from "../../contract/configuration.js";
import { PRESETS } from "./presets.js";
import type { SettingGroup } from "./types.js";

export const how: SettingGroup = {
  title: "How it is measured:",
  settings: [
    {
      key: "preset",
      value: "<name>",
      help: `${PRESETS.map(({ id }) => id).join("|")}, see below; every other flag wins over it`,
      words: () => PRESETS.map(({ id }) => id),
    },
    { key: "quick", help: "the preset of that name", flagOnly: true },
    {
      key: "duration-mode",
      value: "<mode>",
      help: "dynamic|fixed30|fixed120|custom:N",
      fallback: "dynamic",
      words: () => ["dynamic", "fixed30", "fixed120", "custom:"],
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
      words: () => arrivalsSchema.options,
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
      words: () => ["auto"],
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
      words: () => ["interleaved", "consecutive"],
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
