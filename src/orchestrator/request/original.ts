import type { Environment } from "../../contract/env.js";
import { flagLayer } from "./flags.js";
import { parseCampaign } from "./parse-request.js";
import type { Request } from "./request.js";
import { GROUPS } from "./settings.js";

/** What run-all.sh of the original took for each of its flags that was left out. */
const ORIGINAL: Readonly<Record<string, string>> = {
  clients: "all",
  workload: "both",
  concurrency: "50 100 500 1000",
  "duration-mode": "dynamic",
};

/** Where a campaign runs and what it prints, not what it measures. */
const BESIDE: readonly string[] = GROUPS.filter(({ topic }) =>
  ["machines", "programs", "output"].includes(topic),
)
  .flatMap(({ settings }) => settings.map(({ key }) => key))
  .filter((key) => !["config", "resume", "legacy"].includes(key));

export const filledInNotice = (filled: readonly (readonly [key: string, value: string])[]): string[] =>
  filled.length > 0
    ? [`filled in as the original does: ${filled.map(([key, value]) => `--${key} "${value}"`).join(" ")}`]
    : [];

/**
 * A campaign from flags. A line that has only flags of the original, beside those that change nothing in the plan, means
 * what it meant there: the rest is filled in, and the plan is shown before the start.
 * @returns undefined if the flags asked for help, which has been printed
 * @throws usageError in one line
 */
export function parseRunAll(argv: readonly string[], env: Environment): Request | undefined {
  const given = flagLayer(argv);
  if (!given) return undefined;
  const keys = [...given.keys()];
  const isOriginal =
    keys.some((key) => key in ORIGINAL) && keys.every((key) => key in ORIGINAL || BESIDE.includes(key));
  if (!isOriginal) return parseCampaign(argv, env);
  const filled = Object.entries(ORIGINAL).filter(([key]) => !given.has(key));
  const request = parseCampaign([...argv, ...filled.flatMap(([key, value]) => [`--${key}`, value])], env);
  return request && { ...request, planFirst: true, notices: [...filledInNotice(filled), ...request.notices] };
}
