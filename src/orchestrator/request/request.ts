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
 * How long a run measures: a time by topology and connections, a fixed time, or a number of
 * requests. Each number of requests makes a configuration of its own.
 */
export type DurationMode =
  | { mode: "dynamic" }
  | { mode: "fixed"; seconds: number }
  | { mode: "requests"; counts: number[] };

/** Programs, modules and images that the user names, by id of the store, service or module. */
export interface NamedPrograms {
  /** Paths of programs and modules on this machine. The id of a store's version is `valkey~8.1`. */
  paths: Record<string, string>;
  images: Record<string, string>;
}

/** Settings of services as environment variables, by the service's id. */
export type ServiceEnv = Record<string, Record<string, string>>;

/** The flags of limits that take a list of values, of which each makes configurations of its own. */
export const LIMIT_FLAGS = ["points", "window", "cost"] as const;

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

/** What a campaign does, from the settings of flags, environment, file, preset and menu. */
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
  /** Web frameworks that each target is measured with; empty for the default framework. */
  frameworks: string[];
  /** Whether targets on several web frameworks are ranked together. */
  comparesFrameworks: boolean;
  layers: Layer[];
  /** Stores of the store layer; empty without this layer. */
  stores: string[];
  /** Operations of the store layer; empty without this layer. */
  operations: string[];
  /** Sizes of values of the store layer; empty without this layer. */
  payloadBytes: number[];
  /**
   * The target, or store of the store layer, with which the others are compared. Without it, that is
   * the first one named.
   */
  reference?: string;
  /** Whether a single target gets a reference, by which campaigns are compared (M22). */
  addsReference: boolean;
  /**
   * Whether each ranking gets a copy of its reference, if the rounds are enough for one
   * (`MIN_ROUNDS_FOR_A_COPY`).
   */
  copies: boolean;
  counts: Record<DimensionKey, number[]>;
  /** Whether the number of generators is found before the first run, in place of `counts`. */
  findsGenerators?: true;
  workloads: string[];
  duration: DurationMode;
  /** Numbers of connections. An open loop takes at most as many. */
  connections: number[];
  rates: number[];
  /** Whether a calibration finds the rate, in place of `rates`. */
  calibrates?: true;
  arrivals: Arrivals;
  /** The faults of each configuration. Without faults it holds one empty list. */
  faults: Fault[][];
  /** Objectives of a search for the highest rate; absent where `rates` are measured. */
  objectives?: Threshold[];
  /** The seconds that the search may take; absent where it has no limit. */
  searchBudgetS?: number;
  complexity: number;
  limits: RequestedLimits;
  serviceEnv: ServiceEnv;
  runs: number;
  /** Present where the campaign decides how many runs it needs. */
  adaptive?: { budgetS?: number };
  /**
   * Whether each configuration gets one more run, with instruments, after its other runs or in their
   * place.
   */
  diagnose?: "after" | "alone";
  warmupS: Warmup;
  cooldownS: number;
  clientCooldownS: number;
  traffic: string[];
  runtime: string;
  /** How the machines of the runtime are reached, where there are several. */
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
  /** Variables such as STORE_URL of a store that the user already runs. They are never printed. */
  storeAccess: Record<string, string>;
  outputFile?: string;
  command: string;
  /** Every setting that affects what is measured, as text, so that the campaign can be repeated. */
  settings: Record<string, string>;
  thresholds: Threshold[];
  outputMode: OutputMode;
  /**
   * Whether the command prints its own result to standard output, so that progress goes to standard
   * error.
   */
  ownResult?: true;
  /** Whether the menu was told to check the promises of the targets instead of their speed. */
  audit?: true;
  /** Whether the plan is printed and nothing started. */
  dryRun: boolean;
  /**
   * Whether the plan is shown first, with time to stop. Flags of the original need that, because
   * settings are filled in for them.
   */
  planFirst?: true;
  /** Whether the campaign refuses to start on a machine that the doctor warns about. */
  strict: boolean;
  /** The name of the campaign below `output` that is continued instead of starting a new one. */
  resume?: string;
  notices: string[];
}

/** The value of settings that the run or the campaign decides itself. */
export const AUTO = "auto";

/** The error for a value that its setting does not take. */
export const badValue = (source: string, value: string, remedy: string): BenchError =>
  usageError(`${source} ${JSON.stringify(value.slice(0, 60))}: ${remedy}`);

const WHOLE_NUMBER = /^\d{1,12}$/;
const DECIMAL_NUMBER = /^\d{1,9}(\.\d{1,3})?$/;

/**
 * The number that a text names, in the range of its name.
 * @param isWhole whether the number has no fraction
 * @param otherWord a word that is valid too, for the message
 * @throws usageError
 */
export function numberIn(
  name: NumberName,
  flag: string,
  text: string,
  isWhole = true,
  otherWord = "",
): number {
  const { min, max, unit } = RANGES[name];
  const form = isWhole ? WHOLE_NUMBER : DECIMAL_NUMBER;
  const value = form.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;

  const kind = isWhole ? "a whole number" : "a number";
  const alternative = otherWord && `, or ${otherWord}`;
  throw badValue(flag, text, `give ${kind} from ${min} to ${max}${unit}${alternative}`);
}

/** The numbers that a text lists, or `auto` where the campaign finds the number. @throws usageError */
export function countsIn(
  dimension: (typeof dimensions)[number],
  flag: string,
  text: string,
  notices: string[],
): number[] | typeof AUTO {
  const otherWord = "canBeFound" in dimension ? AUTO : "";
  if (otherWord && text.trim() === AUTO) return AUTO;
  return listOf(flag, text, notices).map((word) =>
    numberIn(dimension.key, flag, word, true, otherWord),
  );
}

/** A warm-up in seconds, or `auto`. @throws usageError that mentions both */
export const warmupIn = (flag: string, text: string): Warmup =>
  text === AUTO ? AUTO : numberIn("warmup", flag, text, false, AUTO);

/** The words of a list by commas or spaces, each once. @throws usageError for an empty list */
export function listOf(flag: string, text: string, notices: string[]): string[] {
  const words = text.split(/[,\s]+/).filter(Boolean);
  if (words.length === 0) throw usageError(`${flag}: give at least one value`);

  const repeated = words.filter((word, index) => words.indexOf(word) !== index);
  if (repeated.length > 0)
    notices.push(`${flag}: ${[...new Set(repeated)].join(", ")} was given more than once`);
  return [...new Set(words)];
}

/**
 * The mode that a text such as `dynamic`, `fixed30`, `custom:N` or `requests:N,…` names.
 * @throws usageError that lists the modes
 */
export function durationMode(text: string, source = "--duration-mode"): DurationMode {
  if (text === DYNAMIC_DURATION) return { mode: "dynamic" };

  const fixedS = Object.hasOwn(FIXED_DURATIONS, text) ? FIXED_DURATIONS[text] : undefined;
  if (fixedS !== undefined) return { mode: "fixed", seconds: fixedS };

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
 * The workloads of these names, where `both` stands for all.
 * @throws usageError that suggests the nearest name
 */
export function workloadsOf(words: readonly string[]): string[] {
  const ids = workloads.map(({ id }) => id);
  for (const word of words) requireKnown("workload", word, [...ids, "both"]);
  return words.includes("both") ? ids : [...words];
}

/** The texts of all requested targets, with each limiter, version, Node and framework. */
export function targetTexts(
  request: Pick<Request, "clients" | "limiters" | "storeVersions" | "nodes" | "frameworks">,
): string[] {
  const { clients, limiters, storeVersions, nodes, frameworks } = request;
  const limiterTexts = limiters.map(parseLimiterText);
  const versions = storeVersions.map(parseStoreText);
  return clients
    .flatMap((word) => groups[word] ?? [word])
    .flatMap((text) => withLimiters(text, limiterTexts))
    .flatMap((text) => withStoreVersions(text, versions))
    .flatMap((text) => withNodes(text, nodes))
    .flatMap((text) => withFrameworks(text, frameworks));
}
