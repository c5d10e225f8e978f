import type { AppRequest } from "../../contract/app.js";
import type { Arrivals, KindCaps, Warmup } from "../../contract/configuration.js";
import type { DimensionKey } from "../../contract/dimensions.js";
import type { Fault } from "../../contract/fault-schemas.js";
import type { Layer } from "../../contract/layers.js";
import type { RuntimeAccess } from "../../contract/machines.js";
import type { RegisteredCriterion, Threshold } from "../../contract/manifest.js";
import type { Order } from "../../contract/plan.js";
import type { TurnLengths } from "../../contract/turns.js";
import type { ReadTrace } from "../files/trace-log.js";
import type { OutputMode } from "../ui/screen-types.js";

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

/** The targets, and the variants that each of them is measured in. */
export interface RequestedTargets {
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
  serviceEnv: ServiceEnv;
}

/** An app with the name that the user gave it. */
export interface NamedApp {
  name: string;
  /** The command as it was written, or the address of one that already runs. */
  command: string;
  /**
   * The words of the command. The list is empty for one that already runs. For an image they replace
   * its own command, and the list is empty where it has none of its own.
   */
  words: readonly string[];
  /** The image whose container is the app; absent where a command starts it. */
  image?: string;
  /** The address of one that already runs. */
  origin?: string;
}

/** HTTP servers of somebody else, which are measured in the place of targets. */
export interface RequestedApps {
  apps: readonly NamedApp[];
  /** The folder that they are started in. */
  folder: string;
  /** What each of them is asked, with values of headers that are never printed or stored. */
  request: AppRequest;
  /** The path that answers below 500 once an app is ready; the measured one where it is absent. */
  readyPath?: string;
  /** The store that is started for each, and the variable that gets its address. */
  store?: { variable: string; id: string };
}

/** What the results are compared with, and the thresholds that they must keep. */
export interface RequestedComparisons {
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
  /** The largest difference that does not matter to the reader (M17). */
  marginPercent: number;
  /** Whether targets on several web frameworks are ranked together. */
  comparesFrameworks: boolean;
  thresholds: Threshold[];
  /** The rate in requests/s for which the report says how many cores a target needs. */
  planForPerSecond?: number;
}

/** Where the load enters: the layers, the numbers of parts there, and the work of the servers. */
export interface RequestedEntries {
  layers: Layer[];
  counts: Record<DimensionKey, number[]>;
  /** Whether the number of generators is found before the first run, in place of `counts`. */
  findsGenerators?: true;
  workloads: string[];
  /** Rounds of CPU work of a heavy request. */
  complexity: number;
  /** The request that apps get in the place of the workloads, as it is shown. */
  request?: AppRequest;
}

/** What the store layer measures. All lists are empty without this layer. */
export interface RequestedStoreLayer {
  stores: string[];
  operations: string[];
  /** Sizes of values. */
  payloadBytes: number[];
}

/** The requests that are sent, how fast and for how long, and what fails meanwhile. */
export interface RequestedLoad {
  traffic: string[];
  /** The recorded requests that are replayed, in place of a traffic of the project. */
  trace?: ReadTrace;
  duration: DurationMode;
  /** Numbers of connections. An open loop takes at most as many. */
  connections: number[];
  /** Requests per second of open loops; empty for closed loops. */
  rates: number[];
  /**
   * Present where targets have each of `rates` by turns, in a load curve. `saturation` is the number
   * of connections at full load, which is absent where full load is not measured. `choosesRates` says
   * that the rates are found before the first run, in place of `rates`.
   */
  curve?: { saturation?: number; choosesRates?: true };
  /** Whether a calibration finds the rate, in place of `rates`. */
  calibrates?: true;
  arrivals: Arrivals;
  /** Objectives of a search for the highest rate; absent where `rates` are measured. */
  objectives?: Threshold[];
  /** The seconds that the search may take; absent where it has no limit. */
  searchBudgetS?: number;
  /** The faults of each configuration. Without faults it holds one empty list. */
  faults: Fault[][];
}

/** The time after which no further round begins. */
export interface RoundsTimeLimit {
  /** The moment by which the last round must have ended, by the monotonic clock. */
  end_ms: number;
  /** The number of rounds that are made in any case. */
  fewest: number;
}

/** How many runs each configuration has, and their order. */
export interface RequestedRounds {
  runs: number;
  /** Present where the campaign decides how many runs it needs. */
  adaptive?: { budgetS?: number; toleratePercent?: number };
  /**
   * Whether each configuration gets one more run, with instruments, after its other runs or in their
   * place.
   */
  diagnose?: "after" | "alone";
  /**
   * Present where the rounds are as many as fit into a time, of at most `runs`. A command measures so
   * that has a time for all that it does.
   */
  timeLimit?: RoundsTimeLimit;
  order: Order;
  /** The shortest lengths of turns; absent where those of the layer hold. */
  turn?: TurnLengths;
  seed: number;
}

/** The seconds that pass before and between runs. */
export interface RequestedPauses {
  warmupS: Warmup;
  cooldownS: number;
  /** The seconds between two clients. */
  clientCooldownS: number;
}

/** Where the parts of a run are, and what they are started from. */
export interface RequestedPlace {
  runtime: string;
  /** Whether it must be a container engine, because the apps are images. */
  needsContainers?: true;
  /** How the machines of the runtime are reached, where there are several. */
  access: RuntimeAccess;
  /** Caps of each role by its kind, if the runtime can apply them. */
  caps: KindCaps;
  /** The number of worker threads of a generator. */
  workers: number;
  programs: NamedPrograms;
  /** Absolute paths of files and folders that add stores, clients, limiters, options or traffic. */
  plugins: string[];
  /** Variables such as STORE_URL of a store that the user already runs. They are never printed. */
  storeAccess: Record<string, string>;
}

/** Where the results go, and what is printed. */
export interface RequestedOutput {
  /** The folder of all campaigns. */
  folder: string;
  /** The path of a copy of the result; absent where none is written. */
  file?: string;
  /** The absolute path of the file that gets what was judged as JUnit's XML. */
  junit?: string;
  mode: OutputMode;
  /** What the end of the campaign names as the next one; absent where nothing follows. */
  leadsTo?: { preset: string; why: string };
  /**
   * Whether the command prints its own result to standard output, so that progress goes to standard
   * error.
   */
  ownResult?: true;
}

/** What is started, and what has to hold for that. */
export interface RequestedStart {
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
  /** Whether the campaign starts although another one runs on this machine. */
  allowParallel: boolean;
  /** The name of the campaign below the output folder that is continued instead of a new one. */
  resume?: string;
}

/** By what the campaign can be repeated, as its manifest records it. */
export interface RequestRecord {
  /** The command line, with the variables that it needs. */
  command: string;
  /** Every setting that affects what is measured, as text. */
  settings: Record<string, string>;
  /** The criteria of the claims in the campaign file. */
  criteria: readonly RegisteredCriterion[];
}

/** What a campaign does, from the settings of flags, environment, file, preset and menu. */
export interface Request {
  targets: RequestedTargets;
  /** The apps that are the targets; absent where our own servers are measured. */
  apps?: RequestedApps;
  comparisons: RequestedComparisons;
  entries: RequestedEntries;
  storeLayer: RequestedStoreLayer;
  load: RequestedLoad;
  limits: RequestedLimits;
  rounds: RequestedRounds;
  pauses: RequestedPauses;
  place: RequestedPlace;
  output: RequestedOutput;
  start: RequestedStart;
  record: RequestRecord;
  /** What the user should know about the settings, a sentence each. */
  notices: readonly string[];
}
