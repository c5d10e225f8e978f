import type { Arrivals, KindCaps, Warmup } from "../../contract/configuration.js";
import type { DimensionKey, dimensions } from "../../contract/dimensions.js";
import type { Fault } from "../../contract/fault-schemas.js";
import type { Layer } from "../../contract/layers.js";
import type { RuntimeAccess } from "../../contract/machines.js";
import type { Threshold } from "../../contract/manifest.js";
import type { Order } from "../../contract/plan.js";
import { type NumberName, RANGES } from "../../contract/ranges.js";
import { parseStoreText } from "../../contract/target.js";
import { type BenchError, usageError } from "../../kit/errors.js";
import { requireKnown } from "../../targets/did-you-mean.js";
import { groups } from "../../targets/target-groups.js";
import {
  parseLimiterText,
  withFrameworks,
  withLimiters,
  withNodes,
  withStoreVersions,
} from "../../targets/target-variants.js";
import { workloads } from "../../traffic/workloads.js";
import type { ReadTrace } from "../files/trace-log.js";
import type { OutputMode } from "../ui/screen-types.js";
import {
  CUSTOM_DURATION,
  DYNAMIC_DURATION,
  FIXED_DURATIONS,
  NAMED_DURATIONS,
  REQUESTS_DURATION,
} from "./durations.js";

/**
 * How long a run measures: a fixed time, by topology and number of connections, or a number of
 * requests; each number is a configuration of its own.
 */
export type DurationMode =
  | { mode: "dynamic" }
  | { mode: "fixed"; seconds: number }
  | { mode: "requests"; counts: number[] };

/** Programs, modules and images that the user names, by id of the store, service or module. */
export interface NamedPrograms {
  /** Paths of programs and modules on this machine; of a store's version by `valkey~8.1`. */
  paths: Record<string, string>;
  images: Record<string, string>;
}

/** Settings of services as environment variables, by the service's id. */
export type ServiceEnv = Record<string, Record<string, string>>;
export const LISTED_LIMITS = ["points", "window", "cost"] as const;

/**
 * Limits that override those of the traffic profile; empty lists and absent members override
 * nothing. Each combination of the lists is a configuration of its own.
 */
export interface RequestedLimits {
  points: number[];
  windowsS: number[];
  /** Points that a request uses. */
  costs: number[];
  blockS?: number;
}

/**
 * What a campaign does, wherever its settings come from: flags, environment, file, preset or menu.
 */
export interface Request {
  clients: string[];
  /**
   * Limiters that each target is measured with, `name[~version]`; empty for each target's default.
   */
  limiters: string[];
  /** Stores that each target is measured on, `name[~version]`; empty for each target's own. */
  storeVersions: string[];
  /** Versions of Node that servers run in; empty for the project's own. */
  nodes: string[];
  /** Web frameworks that each target is measured with; empty for the usual one. */
  frameworks: string[];
  /** Targets on several of them are ranked together. */
  comparesFrameworks: boolean;
  layers: Layer[];
  /** Stores of the store layer; empty without it, like the two below. */
  stores: string[];
  operations: string[];
  payloadBytes: number[];
  /**
   * Target, or store of the store layer, with which the others are compared; absent: the first that
   * is named.
   */
  reference?: string;
  /** A single target gets a reference, by which campaigns are compared (M22). */
  addsReference: boolean;
  /**
   * Each ranking has a copy of its reference, if the rounds are enough for one
   * (`MIN_ROUNDS_FOR_A_COPY`).
   */
  copies: boolean;
  counts: Record<DimensionKey, number[]>;
  /** The number of generators is found before the first run: `counts` only fill its place. */
  findsGenerators?: true;
  workloads: string[];
  duration: DurationMode;
  /** Connections of a closed loop; the maximum for an open one. */
  connections: number[];
  rates: number[];
  /** The rate is found by a calibration: `rates` only fill its place. */
  calibrates?: true;
  arrivals: Arrivals;
  /** The faults of each configuration; one empty list without any. */
  faults: Fault[][];
  /** Objectives of a search for the highest rate; absent if the given rates are measured. */
  objectives?: Threshold[];
  /** The seconds that the search may take; absent: as long as it takes. */
  searchBudgetS?: number;
  complexity: number;
  limits: RequestedLimits;
  serviceEnv: ServiceEnv;
  runs: number;
  /** The campaign decides how many runs it needs; absent for a fixed number. */
  adaptive?: { budgetS?: number };
  /**
   * One more run of each configuration, with instruments, after the others or without them; absent:
   * none.
   */
  diagnose?: "after" | "alone";
  warmupS: Warmup;
  cooldownS: number;
  clientCooldownS: number;
  traffic: string[];
  runtime: string;
  /** How its machines are reached, where there are several. */
  access: RuntimeAccess;
  /** Caps of each role by its kind, if the runtime can apply them. */
  caps: KindCaps;
  order: Order;
  seed: number;
  output: string;
  workers: number;
  allowParallel: boolean;
  programs: NamedPrograms;
  /** Absolute paths of files and folders that add stores, clients, limiters, options or traffic. */
  plugins: string[];
  trace?: ReadTrace;
  /** STORE_URL and STORE_CA of a store that the user already runs. Secret: never printed. */
  storeAccess: Record<string, string>;
  outputFile?: string;
  command: string;
  /** Every setting that affects what is measured, as text. They repeat the campaign. */
  settings: Record<string, string>;
  thresholds: Threshold[];
  outputMode: OutputMode;
  /**
   * The command prints a result of its own: standard output is left to it, progress goes to
   * standard error.
   */
  ownResult?: true;
  /** The promises of its targets are checked instead of their speed: chosen in the menu. */
  audit?: true;
  /** Prints the plan and starts nothing. */
  dryRun: boolean;
  /**
   * The original filled in what its flags left open: the plan is shown first, with time to stop.
   */
  planFirst?: true;
  /** Refuses to start on a machine that the doctor warns about. */
  strict: boolean;
  /** Continues the campaign of this name below `output` instead of starting a new one. */
  resume?: string;
  notices: string[];
}

/** Value of settings that the run or the campaign decides itself. */
export const AUTO = "auto";

/** A value that its setting does not take. */
export const badValue = (source: string, value: string, why: string): BenchError =>
  usageError(`${source} ${JSON.stringify(value.slice(0, 60))}: ${why}`);

/**
 * @param whole no fractions @param orElse a word that is valid too, for the message @throws
 *   usageError
 */
export function numberIn(
  name: NumberName,
  flag: string,
  text: string,
  whole = true,
  orElse = "",
): number {
  const { min, max, unit } = RANGES[name];
  const value = (whole ? /^\d{1,12}$/ : /^\d{1,9}(\.\d{1,3})?$/).test(text)
    ? Number(text)
    : Number.NaN;
  if (value >= min && value <= max) return value;
  const kind = whole ? "a whole number" : "a number";
  throw badValue(
    flag,
    text,
    `give ${kind} from ${min} to ${max}${unit}${orElse && `, or ${orElse}`}`,
  );
}

/** The numbers that a text lists; `auto` where the campaign finds it. @throws usageError */
export function countsIn(
  dimension: (typeof dimensions)[number],
  flag: string,
  text: string,
  notices: string[],
): number[] | typeof AUTO {
  const orElse = "canBeFound" in dimension ? AUTO : "";
  if (orElse && text.trim() === AUTO) return AUTO;
  return listOf(flag, text, notices).map((each) =>
    numberIn(dimension.key, flag, each, true, orElse),
  );
}

/** Seconds, or `auto`. @throws usageError that mentions both */
export const warmupIn = (flag: string, text: string): Warmup =>
  text === AUTO ? AUTO : numberIn("warmup", flag, text, false, AUTO);

/** The words of a list, by commas or spaces, each once. @throws usageError if empty */
export function listOf(flag: string, text: string, notices: string[]): string[] {
  const words = text.split(/[,\s]+/).filter(Boolean);
  if (words.length === 0) throw usageError(`${flag}: give at least one value`);
  const once = [...new Set(words)];
  const repeated = words.filter((word, index) => words.indexOf(word) !== index);
  if (repeated.length > 0)
    notices.push(`${flag}: ${[...new Set(repeated)].join(", ")} was given more than once`);
  return once;
}

/**
 * `dynamic`, `fixed30`, `fixed120`, `custom:N` or `requests:N,…`. @throws usageError listing the
 * modes
 */
export function durationMode(text: string, source = "--duration-mode"): DurationMode {
  if (text === DYNAMIC_DURATION) return { mode: "dynamic" };
  const named = Object.hasOwn(FIXED_DURATIONS, text) ? FIXED_DURATIONS[text] : undefined;
  if (named !== undefined) return { mode: "fixed", seconds: named };
  if (text.startsWith(CUSTOM_DURATION)) {
    const flag = `${source} ${CUSTOM_DURATION}`;
    return {
      mode: "fixed",
      seconds: numberIn("duration", flag, text.slice(CUSTOM_DURATION.length)),
    };
  }
  if (text.startsWith(REQUESTS_DURATION)) {
    const flag = `${source} ${REQUESTS_DURATION}`;
    const words = listOf(flag, text.slice(REQUESTS_DURATION.length), []);
    return { mode: "requests", counts: words.map((word) => numberIn("requests", flag, word)) };
  }
  throw badValue(
    source,
    text,
    `give ${NAMED_DURATIONS.join(", ")} or ${CUSTOM_DURATION}N (seconds), or ${REQUESTS_DURATION}N,…`,
  );
}

/**
 * The workloads of these names; `both` stands for all. @throws usageError that suggests the nearest
 * name
 */
export function workloadsOf(words: readonly string[]): string[] {
  const ids = workloads.map(({ id }) => id);
  for (const word of words) requireKnown("workload", word, [...ids, "both"]);
  return words.includes("both") ? ids : [...words];
}

/** All requested targets: groups expanded, with each limiter, version, Node and framework. */
export function targetTexts(
  request: Pick<Request, "clients" | "limiters" | "storeVersions" | "nodes" | "frameworks">,
): string[] {
  const { clients, limiters, storeVersions, nodes, frameworks } = request;
  const named = limiters.map(parseLimiterText);
  const versions = storeVersions.map(parseStoreText);
  return clients
    .flatMap((word) => groups[word] ?? [word])
    .flatMap((text) => withLimiters(text, named))
    .flatMap((text) => withStoreVersions(text, versions))
    .flatMap((text) => withNodes(text, nodes))
    .flatMap((text) => withFrameworks(text, frameworks));
}
