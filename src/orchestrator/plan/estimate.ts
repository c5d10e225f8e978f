import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { Configuration, Warmup } from "../../contract/configuration.js";
import { isClientLayer } from "../../contract/layers.js";
import { type Order, type Plan, type PlannedRun, roundOf, unitsOf } from "../../contract/plan.js";
import { CURVE_LEAD_IN_MS, hasLongTurns, LONG_TURN } from "../../contract/turns.js";
import { messageOf } from "../../kit/errors.js";
import { median, rounded, sum } from "../../kit/numbers.js";
import { secondsOfSlices, shortestLengths } from "../../traffic/turn-order.js";
import { makeFolder, nearestFolder, parseJson, readOwnFile } from "../files/own-files.js";
import { writeAtomically } from "../files/results-folder.js";
import { leasesFolder, stateFolder } from "../ownership/state-folder.js";
import { targetsOfCurve } from "./curve-groups.js";
import { GroupTargets } from "./group-fillers.js";
import { roleCounts } from "./role-counts.js";

/**
 * The seconds that a run takes besides its warm-up and its window, by topology. They are for starting
 * and stopping its parts.
 */
export type Overheads = Readonly<Record<string, number>>;

/** Medians on two cores, which count until campaigns on this machine give its own. */
const DEFAULTS: Readonly<Record<string, Overheads>> = {
  local: { none: 1.5, standalone: 2, cluster: 7, "cluster-3": 5 },
  docker: { none: 2.7, standalone: 3.8, cluster: 8.3, "cluster-3": 6 },
  podman: { none: 5, standalone: 8, cluster: 25, "cluster-3": 16 },
};

/**
 * The seconds of most `auto` warm-ups, with their lead-in: most loads are steady soon after ten
 * slices, and an open loop is warmed up by a closed one first.
 */
const EXPECTED_AUTO_WARMUP_S = { closed: 5.5, open: 9 };
export const REPORT_S = 4;

/** The share of these seconds that a run takes where the parts of several start and stop together. */
const SHARE_BY_TURNS = 0.7;

/** How many runs are kept for each runtime and topology. */
const HISTORY_LENGTH = 20;

const historySchema = z.record(z.string(), z.array(z.number().min(0)).max(1000));
type History = z.infer<typeof historySchema>;

const historyPath = (): string => join(stateFolder(), "overheads.json");

/** The key of a history. Runs by turns have another one, because their parts start together. */
const keyOf = (runtime: string, order: Order): string =>
  order === "turns" ? `${runtime}-turns` : runtime;

/** The overheads of earlier campaigns on this machine; none where the file cannot be read. */
function readHistory(): History {
  try {
    return parseJson(readOwnFile(historyPath())?.toString("utf8") ?? "", historySchema) ?? {};
  } catch {
    return {};
  }
}

export async function overheadsOf(
  runtime: string,
  order: Order = "interleaved",
): Promise<Overheads> {
  const overheads: Record<string, number> = {};
  const defaults = DEFAULTS[runtime] ?? DEFAULTS.docker ?? {};
  const share = order === "turns" ? SHARE_BY_TURNS : 1;
  for (const [topology, seconds] of Object.entries(defaults)) overheads[topology] = share * seconds;

  for (const [key, values] of Object.entries(readHistory())) {
    const [id = "", topology = ""] = key.split(":");
    if (id === keyOf(runtime, order) && values.length > 0) overheads[topology] = median(values);
  }
  return overheads;
}

interface MeasuredRun {
  configuration: Configuration;
  /** The seconds from the run's start until its result was saved, or by turns its share of the round. */
  seconds: number;
}

/** Saves how long runs took, so that the next estimate is better. It never fails. */
export async function learnOverheads(
  runtime: string,
  { warmup_s, order, load_curve }: Pick<Plan, "warmup_s" | "order" | "load_curve">,
  runs: readonly MeasuredRun[],
): Promise<void> {
  // The time of a load curve is that of its turns, and its runs share the start of their parts.
  if (load_curve) return;
  const history = readHistory();
  for (const { configuration, seconds } of runs) {
    // The window of such a run has no known length, so its overhead is not known either.
    if ("requests" in configuration.extent) continue;

    const key = `${keyOf(runtime, order)}:${configuration.target.topology}`;
    const expected_s =
      order === "turns"
        ? ownTurnsS(warmup_s, configuration)
        : runS({ warmup_s }, configuration, { none: 0 });
    const overhead = Math.max(0, seconds - expected_s);
    history[key] = [...(history[key] ?? []), rounded(overhead, 3)].slice(-HISTORY_LENGTH);
  }
  try {
    await makeFolder(stateFolder());
    await writeAtomically(historyPath(), JSON.stringify(history));
  } catch {
    // The next estimate is a little worse.
  }
}

const expectedS = (warmup: Warmup, { load }: Configuration): number =>
  warmup === "auto" ? EXPECTED_AUTO_WARMUP_S[load.model] : warmup;

/** A rate that most targets exceed on two cores, for estimates of runs with a number of requests. */
const GUESSED_REQUESTS_PER_SECOND = 10_000;

const measuredS = ({ extent }: Configuration): number =>
  "duration_s" in extent ? extent.duration_s : extent.requests / GUESSED_REQUESTS_PER_SECOND;

export function runS(
  plan: Pick<Plan, "warmup_s">,
  configuration: Configuration,
  overheads: Overheads,
): number {
  const overhead = overheads[configuration.target.topology] ?? overheads.standalone ?? 0;
  return expectedS(plan.warmup_s, configuration) + measuredS(configuration) + overhead;
}

/**
 * The seconds of own turns of most `auto` warm-ups on two quiet CPUs, where clients send 15,000 to
 * 27,000 requests a second. What they take beyond it on this machine is learnt with the overheads.
 */
const EXPECTED_AUTO_WARMUP_BY_TURNS_S = 1.5;
/** The factor by which lead-ins and requests that are followed lengthen the slices. */
const BEYOND_SLICES = 1.12;
/** The second in which nobody has a turn. */
const IDLE_S = 1;

/** The estimated seconds of the runs of a group, whose parts start and stop at the same time. */
function roundS(
  plan: Pick<Plan, "warmup_s" | "load_curve">,
  group: readonly Configuration[],
  overheads: Overheads,
): number {
  if (plan.load_curve) {
    const targets = targetsOfCurve(group);
    const curve_s = curveS(plan.warmup_s, targets, group);
    return curve_s + startS(targets, overheads);
  }
  const turns_s = sum(group.map((configuration) => ownTurnsS(plan.warmup_s, configuration)));
  return turns_s + startS(group, overheads) + IDLE_S;
}

/** The seconds in which counters are read before and after a turn of a load curve. */
const CURVE_READINGS_S = 0.3;

/** The seconds of the turns of a load curve, and of the warm-up of its targets. */
function curveS(
  warmup: Warmup,
  targets: readonly Configuration[],
  turns: readonly Configuration[],
): number {
  const beside_s = CURVE_LEAD_IN_MS / 1000 + CURVE_READINGS_S;
  const turns_s = sum(turns.map((turn) => measuredS(turn) + beside_s));
  return targets.length * BEYOND_SLICES * turnsOfWarmupS(warmup) + turns_s;
}

/** The seconds until the parts of a group have started, and later stopped. */
const startS = (group: readonly Configuration[], overheads: Overheads): number =>
  sum(group.map(({ target: { topology } }) => overheads[topology] ?? overheads.standalone ?? 0));

/** Resident memory of a role, from results on two cores; the store has next to no keys. */
const RESIDENT_BYTES = { server: 180e6, service: 20e6, store: 10e6, generator: 190e6 };

/** The resident memory of a group. At the server layer its targets share a generator. */
function groupBytes(group: readonly Configuration[]): number {
  const targetBytes = group.map(roleCounts).map(({ server, service, store }) => {
    const serverBytes = server * RESIDENT_BYTES.server;
    const serviceBytes = service * RESIDENT_BYTES.service;
    const storeBytes = store * RESIDENT_BYTES.store;
    return serverBytes + serviceBytes + storeBytes;
  });
  const generators = group.some(({ layer }) => isClientLayer(layer)) ? group.length : 1;
  return sum(targetBytes) + generators * RESIDENT_BYTES.generator;
}

export interface GroupsEstimate {
  groups_per_round: number;
  targets: number;
  start_s: number;
  memory_bytes: number;
}

/** The estimate of the groups of a round; undefined in other orders than by turns. */
export function groupsEstimate(plan: Plan, overheads: Overheads): GroupsEstimate | undefined {
  if (plan.order !== "turns") return undefined;
  const firstRound = plan.runs.filter((run) => !run.diagnose && roundOf(run) === 1);
  const groups = targetsByUnit(plan, firstRound);

  return {
    groups_per_round: groups.length,
    targets: Math.max(...groups.map(({ length }) => length)),
    start_s: Math.round(Math.max(...groups.map((group) => startS(group, overheads)))),
    memory_bytes: Math.max(...groups.map(groupBytes)),
  };
}

function configurationsOf(
  { configurations }: Plan,
  runs: readonly Pick<PlannedRun, "configuration_hash">[],
): Configuration[] {
  const byHash = new Map(configurations.map(({ hash, configuration }) => [hash, configuration]));
  return runs.flatMap(({ configuration_hash }) => byHash.get(configuration_hash) ?? []);
}

/**
 * The configurations whose parts are up at once, of each unit of these runs of a plan. Fillers are
 * among them, and the runs of a load curve share those of their target.
 */
function targetsByUnit(plan: Plan, runs: Plan["runs"]): Configuration[][] {
  return configurationsByUnit(plan, runs).map((unit) =>
    plan.load_curve ? targetsOfCurve(unit) : unit,
  );
}

/**
 * A configuration for each set of connections that is open at once. In a load curve a target has one
 * for its rates, and one for full load.
 */
function poolsOf(plan: Plan, unit: readonly Configuration[]): Configuration[] {
  if (!plan.load_curve) return [...unit];
  return (["open", "closed"] as const).flatMap((model) =>
    targetsOfCurve(unit.filter(({ load }) => load.model === model)),
  );
}

/** The configurations of each unit of these runs of a plan, with fillers. */
function configurationsByUnit(plan: Plan, runs: Plan["runs"]): Configuration[][] {
  const targets = new GroupTargets(plan);
  return [...unitsOf(plan, runs)].map((unit) =>
    configurationsOf(
      plan,
      targets.withRuns(unit).map((hash) => ({ configuration_hash: hash })),
    ),
  );
}

/** The seconds of a run's long turn, which it has where its window is long enough. */
function longTurnS(configuration: Configuration): number {
  if (!hasLongTurns(measuredS(configuration))) return 0;
  return (LONG_TURN.lead_in_ms + LONG_TURN.slice_ms) / 1000;
}

/** The seconds of a target's own turns in its warm-up. */
const turnsOfWarmupS = (warmup: Warmup): number =>
  warmup === "auto" ? EXPECTED_AUTO_WARMUP_BY_TURNS_S : warmup;

/** The seconds of a run's own turns, those of its warm-up included. */
function ownTurnsS(warmup: Warmup, configuration: Configuration): number {
  const slices_s = secondsOfSlices(measuredS(configuration), shortestLengths(configuration.layer));
  return BEYOND_SLICES * (turnsOfWarmupS(warmup) + slices_s) + longTurnS(configuration);
}

/**
 * The seconds between two runs. Consecutive plans have another pause before the first run of another
 * client.
 */
export const cooldownS = (plan: Plan, previous: Configuration, next: Configuration): number =>
  plan.order === "consecutive" && previous.target.client !== next.target.client
    ? plan.client_cooldown_s
    : plan.cooldown_s;

/** @param runs the runs of the plan that are estimated, by default all */
export function estimateCampaignS(
  plan: Plan,
  overheads: Overheads,
  runs: Plan["runs"] = plan.runs,
): number {
  if (plan.order === "turns") {
    const units = configurationsByUnit(plan, runs).map((group) => roundS(plan, group, overheads));
    const pauses_s = plan.cooldown_s * Math.max(0, units.length - 1);
    return sum(units) + pauses_s + REPORT_S;
  }

  const configurations = configurationsOf(plan, runs);
  const seconds = configurations.map((configuration) => runS(plan, configuration, overheads));
  const pauses = configurations
    .slice(1)
    .map((next, index) => cooldownS(plan, configurations[index] ?? next, next));
  return sum(seconds) + sum(pauses) + REPORT_S;
}

export interface EstimateRange {
  seconds: number;
  /** The runs and seconds that an adaptive campaign needs in any case. */
  at_least?: { runs: number; seconds: number };
}

/**
 * The estimate of a campaign. An adaptive one needs between the rounds of its first decision and all
 * rounds, as far as they fit into the budget.
 */
export function estimateRange(plan: Plan, overheads: Overheads): EstimateRange {
  const maxS = estimateCampaignS(plan, overheads);
  if (plan.max_rate) return { seconds: Math.round(Math.min(maxS, plan.max_rate.budget_s ?? maxS)) };
  if (!plan.adaptive) return { seconds: Math.round(maxS) };

  const { looks, budget_s = Number.POSITIVE_INFINITY } = plan.adaptive;
  const upTo = (round: number): Plan => ({
    ...plan,
    runs: plan.runs.filter((run) => run.diagnose || roundOf(run) <= round),
  });
  let round = looks[0] ?? 1;
  while (round > 1 && estimateCampaignS(upTo(round), overheads) > budget_s) round--;

  const shortest = upTo(round);
  const minS = estimateCampaignS(shortest, overheads);
  return {
    // The first round takes place whatever the budget is.
    seconds: Math.round(Math.max(minS, Math.min(maxS, budget_s))),
    at_least: { runs: shortest.runs.length, seconds: Math.round(minS) },
  };
}

/** The estimated bytes of the results and the report, of which most are samples of seconds. */
export function diskBytes(plan: Plan): number {
  const bytes = configurationsOf(plan, plan.runs).map((configuration) => {
    const roles = sum(Object.values(roleCounts(configuration)));
    return 40_000 + measuredS(configuration) * (300 + 130 * roles);
  });
  return 3_000_000 + sum(bytes);
}

/** The files that a program has open besides connections, such as modules while it loads, and pipes. */
const BASE_FILES = 150;

/** The bytes that leases and files of parts need. */
const STATE_BYTES = 1e6;

export function openFilesNeeded(plan: Plan): number {
  const needs = configurationsByUnit(plan, plan.runs).map((group) =>
    sum(
      poolsOf(plan, group).map((configuration) => {
        const { generator, store } = roleCounts(configuration);
        return Math.ceil(configuration.load.connections / Math.max(1, generator)) + store;
      }),
    ),
  );
  return BASE_FILES + Math.max(0, ...needs);
}

/**
 * The number of files that a program may open. Node has raised the soft limit of this process to the
 * hard limit, which the programs inherit that it starts.
 */
function openFilesAllowed(): number {
  const report = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | "unlimited" } };
  };
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : Number.POSITIVE_INFINITY;
}

export function filesReason(plan: Plan, allowed = openFilesAllowed()): string | undefined {
  const needed = openFilesNeeded(plan);
  if (needed <= allowed) return undefined;
  return `${needed} open files are needed and ${allowed} are allowed: raise the hard limit (ulimit -Hn ${needed}) or choose a lower --concurrency`;
}

/** The bytes that this user may still write to a folder. @throws Error where it cannot exist */
async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(await nearestFolder(folder));
  return bavail * bsize;
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`;

export async function diskReason(
  plan: Plan,
  results: string,
  free = freeBytes,
): Promise<string | undefined> {
  const places = [
    {
      name: "results folder",
      folder: results,
      neededBytes: diskBytes(plan),
      remedy: "--output names another one",
    },
    {
      name: "state folder",
      folder: leasesFolder(),
      neededBytes: STATE_BYTES,
      remedy: "XDG_STATE_HOME sets another one",
    },
    {
      name: "folder for temporary files",
      folder: tmpdir(),
      neededBytes: STATE_BYTES,
      remedy: "TMPDIR sets another one",
    },
  ];
  for (const { name, folder, neededBytes, remedy } of places) {
    const available = await free(folder).catch(messageOf);
    if (typeof available === "string")
      return `${name} ${folder} cannot be used (${available}): ${remedy}`;
    if (available < neededBytes)
      return `${name} ${folder} has ${megabytes(available)} free, and ${megabytes(neededBytes)} are needed: free some, or ${remedy}`;
  }
  return undefined;
}

export const roomReason = async (
  plan: Plan,
  runtime: string,
  results: string,
): Promise<string | undefined> =>
  (runtime === "local" ? filesReason(plan) : undefined) ?? diskReason(plan, results);
