/**
 * What makes a store comparable and clean: no persistence, a bounded memory, the eviction that suits counters.
 * Each is what the published configuration says, whatever the binary's defaults are.
 */
export const fairArguments = [
  "--save",
  "",
  "--appendonly",
  "no",
  "--maxmemory",
  "1gb",
  "--maxmemory-policy",
  "volatile-lru",
] as const;

/** Both stores count a script call under the command that carried it. */
export const scriptCommands = ["eval", "evalsha", "fcall"] as const;
