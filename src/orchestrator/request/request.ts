import { type Arrivals, type Limits, RATE_RANGE } from "../../contract/configuration.js";
import { usageError } from "../../contract/errors.js";
import type { Threshold } from "../../contract/manifest.js";
import { requireKnown } from "../../targets/did-you-mean.js";
import { workloads } from "../../traffic/workloads.js";
import type { RoleCaps } from "../host/caps.js";
import type { OutputMode } from "../ui/types.js";

/** How long a run measures: a fixed time, or by the size of what is measured. */
export type DurationMode = { mode: "dynamic" } | { mode: "fixed"; seconds: number };

/** What a campaign shall do, whoever asked: flags, environment, later the menu and a file. */
export interface Request {
  /** Target texts and group names, as asked. */
  clients: string[];
  /** Limiters that each target is measured with, `name[~version]`; none for the one that it has anyway. */
  limiters: string[];
  workloads: string[];
  duration: DurationMode;
  /** Of a closed loop; in an open one the most that it may use. */
  connections: number[];
  /** Requests/s of open loops; none for closed loops. */
  rates: number[];
  /** How the sends of open loops are spread. */
  arrivals: Arrivals;
  /** What the highest rate is searched for that keeps it; absent where rates are measured as they are given. */
  objectives?: Threshold[];
  complexity: number;
  /** Explicit limits win over the traffic profile's. */
  limits: Partial<Limits>;
  /** Of each configuration; at most, where they are adaptive. */
  runs: number;
  /** The campaign finds out how many runs it needs; absent for a fixed number. */
  adaptive?: { budgetS?: number };
  warmupS: number;
  cooldownS: number;
  clientCooldownS: number;
  traffic: string[];
  runtime: string;
  /** Of each store node, the server and the load generator, where the runtime can apply them. */
  caps: RoleCaps;
  order: "interleaved" | "consecutive";
  seed: number;
  output: string;
  workers: number;
  allowParallel: boolean;
  programPaths: Record<string, string>;
  /** Absolute paths of files and folders that add clients, limiters, options or traffic. */
  plugins: string[];
  /** Variables that name a store which the user already runs (STORE_URL, STORE_CA); secrets, never printed. */
  storeAccess: Record<string, string>;
  /** Where a single run's result is copied to. */
  outputFile?: string;
  /** The command line that repeats it. */
  command: string;
  /** Every setting that bears on what is measured, as text: what repeats the campaign. */
  settings: Record<string, string>;
  thresholds: Threshold[];
  outputMode: OutputMode;
  /** One of the many campaigns of a search: nobody looks for it, so `latest` does not point to it. */
  trial?: true;
  /** Prints the plan and starts nothing. */
  dryRun: boolean;
  /** Refuses to start on a machine that the doctor warns of. */
  strict: boolean;
  /** Goes on with the campaign of this name below `output`, instead of beginning one. */
  resume?: string;
  /** Things to say before the first run. */
  notices: string[];
}

/** Valid ranges; each message names its own. */
export const RANGES = {
  duration: { min: 1, max: 86_400, unit: " seconds" },
  connections: { min: 1, max: 10_000, unit: "" },
  rate: { ...RATE_RANGE, unit: " requests a second" },
  steps: { min: 2, max: 100, unit: " rates" },
  runs: { min: 1, max: 1_000, unit: "" },
  "max-runs": { min: 5, max: 1_000, unit: "" },
  warmup: { min: 0, max: 3_600, unit: " seconds" },
  cooldown: { min: 0, max: 3_600, unit: " seconds" },
  complexity: { min: 1, max: 1_000_000, unit: "" },
  points: { min: 1, max: 1_000_000_000, unit: "" },
  window: { min: 1, max: 86_400, unit: " seconds" },
  block: { min: 0, max: 86_400, unit: " seconds" },
  seed: { min: 0, max: 4_294_967_295, unit: "" },
  workers: { min: 1, max: 64, unit: "" },
} as const;

/**
 * A number from its text, within the range of its name.
 * @param whole whether fractions are refused
 * @throws usageError that names what was given and the range
 */
export function numberIn(name: keyof typeof RANGES, flag: string, text: string, whole = true): number {
  const { min, max, unit } = RANGES[name];
  const value = (whole ? /^\d{1,12}$/ : /^\d{1,9}(\.\d{1,3})?$/).test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  const kind = whole ? "a whole number" : "a number";
  throw usageError(`${flag} ${JSON.stringify(text.slice(0, 60))}: give ${kind} from ${min} to ${max}${unit}`);
}

/**
 * Words of a list that is separated by commas or spaces, each once.
 * @throws usageError when it holds nothing
 */
export function listOf(flag: string, text: string, notices: string[]): string[] {
  const words = text.split(/[,\s]+/).filter(Boolean);
  if (words.length === 0) throw usageError(`${flag}: give at least one value`);
  const once = [...new Set(words)];
  const repeated = words.filter((word, index) => words.indexOf(word) !== index);
  if (repeated.length > 0)
    notices.push(`${flag}: ${[...new Set(repeated)].join(", ")} was given more than once`);
  return once;
}

/** `dynamic`, `fixed30`, `fixed120` or `custom:N`. @throws usageError listing the modes */
export function durationMode(text: string, source = "--duration-mode"): DurationMode {
  if (text === "dynamic") return { mode: "dynamic" };
  if (text === "fixed30") return { mode: "fixed", seconds: 30 };
  if (text === "fixed120") return { mode: "fixed", seconds: 120 };
  if (text.startsWith("custom:")) {
    const seconds = numberIn("duration", `${source} custom:`, text.slice("custom:".length));
    return { mode: "fixed", seconds };
  }
  throw usageError(
    `${source} ${JSON.stringify(text.slice(0, 60))}: give dynamic, fixed30, fixed120 or custom:N (seconds)`,
  );
}

/** The workloads that these words name; `both` is every one. @throws usageError with what was probably meant */
export function workloadsOf(words: readonly string[]): string[] {
  const ids = workloads.map(({ id }) => id);
  for (const word of words) requireKnown("workload", word, [...ids, "both"]);
  return words.includes("both") ? ids : [...words];
}
