import type { SettingGroup } from "./types.js";

export const telling: SettingGroup = {
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
    },
    { key: "quiet", help: "nothing but warnings and the path of the report", flagOnly: true },
    { key: "verbose", help: "also what happens within each run", flagOnly: true },
    { key: "legacy", help: "three plain prompts: duration, concurrency, workload", flagOnly: true },
    { key: "dry-run", help: "print the plan and its estimate, and start nothing", flagOnly: true },
  ],
};
