import type { Environment } from "../contract/env.js";

/** What was said, and where: messages name the flag or the variable that was used. */
export interface Said {
  source: string;
  value: string;
}

/** A variable of the environment, unless the flag says otherwise; when both speak and differ, that is noted. */
export function flagOrVariable(
  flag: string,
  value: string | undefined,
  variable: string,
  env: Environment,
  notices: string[],
): Said | undefined {
  const inherited = env[variable] || undefined;
  if (value !== undefined && inherited !== undefined && value !== inherited) {
    notices.push(`${flag} ${value} wins over ${variable}=${inherited}`);
  }
  if (value !== undefined) return { source: flag, value };
  return inherited === undefined ? undefined : { source: variable, value: inherited };
}
