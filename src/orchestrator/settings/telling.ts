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
    { key: "dry-run", help: "print the plan and its estimate, and start nothing", flagOnly: true },
  ],
};
