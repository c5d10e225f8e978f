import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Environment } from "./env.js";
import { environmentError } from "./errors.js";

/** Below the home folder, where the variable is not set. */
const BASES = { XDG_STATE_HOME: [".local", "state"], XDG_CACHE_HOME: [".cache"] } as const;

/** This user's folder by the XDG rules: a relative path counts as unset. @throws environmentError */
export function userFolder(env: Environment, variable: keyof typeof BASES): string {
  const named = env[variable] ?? "";
  return join(isAbsolute(named) ? named : join(homeFor(variable), ...BASES[variable]), "ratelimit-bench");
}

function homeFor(variable: string): string {
  let home = "";
  try {
    home = homedir();
  } catch {
    // Neither HOME nor the system's list of users names one.
  }
  if (isAbsolute(home)) return home;
  throw environmentError(
    `this user has no home folder: set HOME or ${variable} to a folder that can be written`,
  );
}
