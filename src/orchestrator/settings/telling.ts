import type { SettingGroup } from "./types.js";

/** How a campaign tells of its runs. */
export const progressModes = ["live", "run", "phase"] as const;
export type ProgressMode = (typeof progressModes)[number];

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
    {
      key: "quiet",
      help: "nothing but warnings, what went wrong, and the path of the report",
      flagOnly: true,
    },
    {
      key: "progress",
      value: "<mode>",
      help: "live|run|phase (redrawn in place, a line a run, a line a phase); else live on a terminal, run elsewhere",
      flagOnly: true,
      words: () => progressModes,
    },
    { key: "verbose", help: "also each second and the lines of the programs", flagOnly: true },
    { key: "legacy", help: "three plain prompts: duration, concurrency, workload", flagOnly: true },
    { key: "dry-run", help: "print the plan and its estimate, and start nothing", flagOnly: true },
  ],
};
