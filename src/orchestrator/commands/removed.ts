/** Commands that no longer exist, with what replaces each. */
export const REMOVED: Readonly<Record<string, string>> = {
  "plan-capacity":
    "measure with `run --servers 1,2,4` and read the report's table of several servers (servers.csv)",
};
