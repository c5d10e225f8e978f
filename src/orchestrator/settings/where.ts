import { runtimes } from "../../runtimes/index.js";
import type { SettingGroup } from "./types.js";

export const where: SettingGroup = {
  title: "Where it runs:",
  settings: [
    {
      key: "runtime",
      value: "<runtime>",
      help: `auto|${runtimes.map(({ id }) => id).join("|")}`,
      fallback: "auto",
      words: () => ["auto", ...runtimes.map(({ id }) => id)],
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
    },
    { key: "redis-server", value: "<path>", help: "store program; else PATH", variable: "REDIS_SERVER" },
    {
      key: "store-url",
      value: "<url>",
      help: "measure a store that you already run: redis[s]://[user:password@]host[:port]; better as STORE_URL, which no process list shows",
      variable: "STORE_URL",
      secret: true,
    },
    {
      key: "store-ca",
      value: "<file>",
      help: "certificate (PEM) that vouches for rediss://",
      variable: "STORE_CA",
    },
    { key: "output", value: "<dir>", help: "results root", fallback: "results", incidental: true },
    {
      key: "resume",
      value: "[campaign]",
      help: "go on with a campaign of --output where it stopped, by default the newest: takes no flag that bears on its plan",
      flagOnly: true,
    },
    {
      key: "allow-parallel",
      help: "start although another campaign is running",
      incidental: true,
    },
    {
      key: "force",
      help: "start although the preset asks for a machine without warnings",
      incidental: true,
    },
  ],
};
