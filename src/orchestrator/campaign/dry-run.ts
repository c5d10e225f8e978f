import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Configuration, warmupText } from "../../contract/configuration.js";
import { connectionsText } from "../../contract/layers.js";
import { countedRuns, type Plan, roundOf } from "../../contract/plan.js";
import type { Discovery } from "../../contract/store.js";
import { definedOnly } from "../../kit/defined-only.js";
import { EXIT, type ExitCode, environmentError } from "../../kit/errors.js";
import { withThousands } from "../../kit/numbers.js";
import { findPythonEnvironment, PYTHON_SETUP } from "../../runtimes/local/python-environment.js";
import { requireResultsRoot } from "../files/results-folder.js";
import type { ReadTrace } from "../files/trace-log.js";
import { limitsNotes } from "../host/machine.js";
import { requireAddressSpace, unfitReason } from "../host/machine-checks.js";
import { installationNotes, requestedVersions } from "../host/versions.js";
import { planOf, subjectsOf, withExpectedTrials } from "../max-rate/searched-rates.js";
import { BRACKET_RATIO, EXAMPLE_FACTOR, LADDER_STEP, STEP_FACTOR } from "../max-rate/trials.js";
import { abortable, pause } from "../ownership/abort.js";
import { comparisonOffer } from "../plan/comparison-offer.js";
import { costOfOrder, decidable, undecidable } from "../plan/decidable.js";
import {
  diskBytes,
  type EstimateRange,
  estimateRange,
  type GroupsEstimate,
  groupsEstimate,
  type Overheads,
  overheadsOf,
  roomReason,
} from "../plan/estimate.js";
import { type PlanContext, selectConfigurations } from "../plan/make-plan.js";
import type { Undecidable } from "../plan/undecidable.js";
import { mapCaps } from "../request/caps.js";
import { shareOfPlaceholder } from "../request/load-curve.js";
import type { Request } from "../request/request.js";
import type { EventLog } from "../ui/event-log.js";
import { entryText, extentText, limitTexts, loadAndLimitsText } from "../ui/event-text.js";
import { isCi } from "../ui/screens.js";
import { counted, durationText, textTable } from "../ui/text.js";
import { pendingCalibration, pendingCalibrationText } from "./calibration.js";
import { appLines } from "./campaign-apps.js";
import { pendingShares, pendingSharesText } from "./curve-rates.js";
import { pendingGeneratorsText } from "./generator-trials.js";
import { expectedOpening } from "./open-runtime.js";
import { registerPlugins, withSources } from "./used-plugins.js";

/** The most characters of a trace's field that are shown. */
const MAX_FIELD_LENGTH = 80;

export interface Preview {
  /**
   * The runtime and why it was chosen. `node` is the version of Node.js that servers have unless a
   * target names one; it is absent where the version is not known.
   */
  runtime: { id: string; choice: string; node?: string };
  plan: Plan;
  /** The estimate. It is a likely range for a search, whose trials follow from each other. */
  estimate: EstimateRange & { runs: number; disk_bytes: number; groups?: GroupsEstimate };
  notices: string[];
  /** What no number of rounds can tell, by kind of pair and figure (M34). */
  undecidable: Undecidable[];
  /** Lines on what a conclusion costs where targets do not go by turns. */
  order_cost: string[];
  /** Why a start would be refused on this machine now; absent where it would not be. */
  refusal?: string;
}

/**
 * What a start would measure, and how long it would take.
 * @param external the user's store; undefined where it was not contacted
 */
export async function previewCampaign(
  request: Request,
  packageFolder: string,
  external?: Discovery,
): Promise<Preview> {
  requireAddressSpace();
  const plugins = await registerPlugins(request.place.plugins, request.load.trace);
  selectConfigurations(request);
  await requireResultsRoot(request.output.folder);
  const environment = await findPythonEnvironment(packageFolder);
  const { description, choice, available } = await expectedOpening(
    request,
    packageFolder,
    external,
  );
  const cpus = await description.cpus();
  const caps = mapCaps(request.place.caps, (kindCaps) => description.appliedCaps(kindCaps, cpus));
  const context: PlanContext = {
    available,
    caps,
    external,
    partFaults: description.partFaults,
    placeNotes: limitsNotes(description.id),
  };
  const plan = withSources(planOf(request, context), plugins, await appLines(request.apps));
  if (request.load.calibrates) {
    plan.calibration = pendingCalibration();
    plan.notes.push(pendingCalibrationText(plan));
  }
  if (request.load.curve?.choosesRates) {
    plan.calibration = pendingShares();
    plan.notes.push(pendingSharesText(plan));
  }
  if (request.entries.findsGenerators) plan.notes.push(pendingGeneratorsText(plan));

  const overheads: Overheads = await overheadsOf(description.id, plan.order);
  const expected = withExpectedTrials(plan, new Map());
  const groups = groupsEstimate(plan, overheads);
  const answer = await description.available();
  const unavailable = "unavailableReason" in answer ? answer.unavailableReason : undefined;
  const unfit = request.start.strict
    ? await unfitReason(request.place.runtime, packageFolder)
    : undefined;
  const refusal =
    unavailable ?? unfit ?? (await roomReason(expected, description.id, request.output.folder));

  const notices = [...request.notices];
  if (request.load.trace) notices.push(traceExampleText(request.load.trace));
  if (!environment) notices.push(setupNotice(description.id));
  notices.push(...comparisonOffer(request, context, overheads));
  notices.push(...(await installationNotes(requestedVersions(plan))));
  if (request.place.storeAccess.STORE_URL && !external) notices.push(NOT_CONTACTED);

  const node = request.apps ? undefined : await serverNode(description.id, packageFolder);
  return {
    runtime: { id: description.id, choice, ...definedOnly({ node }) },
    plan,
    estimate: {
      runs: expected.runs.length,
      ...estimateRange(expected, overheads),
      disk_bytes: Math.round(diskBytes(expected)),
      ...definedOnly({ groups }),
    },
    undecidable: undecidable(plan),
    order_cost: costOfOrder(plan, overheads),
    notices,
    ...definedOnly({ refusal }),
  };
}

const NOT_CONTACTED =
  "the store that STORE_URL names was not contacted: its type may skip more targets";

/**
 * A text that shows one line of a trace and how its fields were read. It names a key, so it is shown
 * and not kept.
 */
export function traceExampleText({ example, summary }: ReadTrace): string {
  const { line_number, time, time_text, time_utc, keys, key } = example;
  const quote = (text: string) => JSON.stringify(text.slice(0, MAX_FIELD_LENGTH));
  const requests = `${counted(summary.lines, "request")} of ${counted(summary.keys, "key")} in ${durationText(summary.span_s)}`;
  return `line ${line_number} of the trace: ${time} ${quote(time_text)} is ${time_utc}, ${keys.join(" or ")} ${quote(key)} is the key; ${requests}`;
}

/**
 * The version of Node.js that servers have. They share that of this process where they run on this
 * machine; otherwise the image has it.
 */
async function serverNode(runtime: string, packageFolder: string): Promise<string | undefined> {
  if (runtime === "local") return process.versions.node;
  const path = join(packageFolder, "Dockerfile.server");
  const dockerfile = await readFile(path, "utf8").catch(() => "");
  return /^ARG NODE_VERSION=(\S+)$/m.exec(dockerfile)?.[1];
}

/** The runtime as `runtime: local (the requested one), servers on Node.js 20.19.0`. */
export const runtimeText = ({ runtime: { id, choice, node } }: Preview): string =>
  `runtime: ${id} (${choice})${node === undefined ? "" : `, servers on Node.js ${node}`}`;

function setupNotice(runtime: string): string {
  const text = `a start begins with ${PYTHON_SETUP}`;
  return runtime === "local" ? `${text}; its Valkey is used where PATH has none` : text;
}

/**
 * The exit code that the campaign's start would have.
 * @throws environmentError where the start would be refused
 */
export function dryRunExitCode({ refusal }: Pick<Preview, "refusal">): ExitCode {
  if (refusal !== undefined) throw environmentError(`the start would be refused: ${refusal}`);
  return EXIT.done;
}

/** How many rounds there are, as `5–20` where the rounds are adaptive. */
export function roundsText({ adaptive, runs_per_configuration: most }: Plan): string {
  const least = adaptive?.looks[0] ?? most;
  return least < most ? `${least}–${most}` : String(most);
}

/** The runs of a configuration that count: a reference has one in each group of its ranking. */
function runsText(plan: Plan, hash: string): string {
  const most = countedRuns(plan, hash);
  const perRound = most / plan.runs_per_configuration;
  const firstLook = plan.adaptive?.looks[0];
  const least = firstLook === undefined ? most : firstLook * perRound;
  return least < most ? `${least}–${most}` : String(most);
}

export function subjectCells(configuration: Configuration): string[] {
  const { target, traffic } = configuration;
  const { store, topology, label } = target;
  const place = topology === "none" ? "no store" : `${store} ${topology}`;
  return [label, place, entryText(configuration), traffic];
}
const SUBJECT_COLUMNS = ["target", "store", "workload", "traffic"];

const isRateOpen = ({ calibration }: Plan): boolean => calibration?.measured.length === 0;

/** Load and limits, without a rate that is still to be found. */
export function plannedLoadText(plan: Plan, configuration: Configuration): string {
  const text = loadAndLimitsText(configuration);
  const { load } = configuration;
  if (!isRateOpen(plan) || load.model !== "open") return text;
  const pendingRate = plan.load_curve
    ? `${Math.round(100 * shareOfPlaceholder(load.rate_per_second))} % of the slowest throughput,`
    : "rate found by calibration,";
  return text.replace(`${withThousands(load.rate_per_second)}/s`, pendingRate);
}

function matrixLines(plan: Plan): string[] {
  const { configurations } = plan;
  const rows = configurations.map(({ hash, configuration }) => [
    ...subjectCells(configuration),
    plannedLoadText(plan, configuration),
    extentText(configuration),
    runsText(plan, hash),
    isRateOpen(plan) ? "–" : hash,
  ]);
  return textTable([[...SUBJECT_COLUMNS, "load", "measured", "runs", "hash"], ...rows]);
}

/**
 * The order of the configurations by number, a line for each round, with groups in brackets. A plus
 * marks a filler.
 */
function orderLines({ order, configurations, runs, fillers = [] }: Plan): string[] {
  if (order === "consecutive")
    return ["  each configuration with all its runs, from the first to the last"];
  const number = new Map(configurations.map(({ hash }, index) => [hash, index + 1]));
  const ranked = runs.filter(({ diagnose }) => !diagnose);
  const rounds = [...new Set(ranked.map(roundOf))];
  return rounds.map((round) => {
    const groups = new Map<number, string[]>();
    for (const run of ranked) {
      if (roundOf(run) !== round) continue;
      const { group = 0, configuration_hash: hash } = run;
      groups.set(group, [...(groups.get(group) ?? []), String(number.get(hash))]);
    }
    for (const filler of fillers) {
      if (filler.round === round)
        groups.get(filler.group)?.push(`+${number.get(filler.configuration_hash)}`);
    }
    const texts = [...groups].map(([group, numbers]) =>
      group > 0 ? `(${numbers.join(" ")})` : numbers.join(" "),
    );
    return `  round ${round}: ${texts.join(" ")}`;
  });
}

function diagnosingLines({ runs }: Plan): string[] {
  const diagnosing = runs.filter(({ diagnose }) => diagnose).length;
  if (diagnosing === 0) return [];
  const when = diagnosing < runs.length ? "then " : "";
  return [`${when}${counted(diagnosing, "diagnosing run")} with instruments, which never count`];
}

function adaptiveText({ adaptive }: Plan): string[] {
  if (!adaptive) return [];
  const { looks, budget_s, tolerate_percent } = adaptive;
  const decidingRounds = looks.slice(0, -1);
  const rounds = `round${decidingRounds.length > 1 ? "s" : ""} ${decidingRounds.join(", ") || looks[0]}`;
  const lines = [
    `runs: as many as it takes; which configurations continue is decided after ${rounds}`,
  ];
  if (tolerate_percent !== undefined)
    lines.push(
      `gate: it ends when every loss against the reference is bounded below ${tolerate_percent} %, or one is shown`,
    );
  if (budget_s !== undefined)
    lines.push(`budget: no round starts that would end after ${durationText(budget_s)}`);
  return lines;
}

/** A line that says how many targets are up at once by turns, and what that takes. */
export function groupLines({ estimate: { groups } }: Preview): string[] {
  if (!groups) return [];
  const { groups_per_round, targets, start_s, memory_bytes } = groups;
  return [
    `by turns: ${counted(groups_per_round, "group")} a round of up to ${counted(targets, "target")} at once, about ${start_s} s to start and stop, ${(memory_bytes / 1e9).toFixed(1)} GB of memory`,
  ];
}

/** The time of a campaign as `about 68 min (until 22:52)`. */
export function timesText({ estimate }: Preview, now = new Date()): string {
  const { at_least: least, seconds } = estimate;
  const ends = new Date(now.getTime() + seconds * 1000);
  const longest = durationText(seconds);
  const times = least ? `${durationText(least.seconds)} to ${longest}` : longest;
  return `about ${times} (until ${ends.toTimeString().slice(0, 5)})`;
}

/** A text such as `30 runs of 10 configurations, about 68 min (until 22:52), 7 MB on disk`. */
export function totalsText(preview: Preview, now = new Date()): string {
  const { plan, estimate } = preview;
  const { at_least: least } = estimate;
  const mostRuns = `${plan.max_rate ? "about " : ""}${counted(estimate.runs, "run")}`;
  const runs = least ? `${least.runs} to ${mostRuns}` : mostRuns;
  const configurations = counted(plan.configurations.length, "configuration");
  const megabytes = Math.ceil(estimate.disk_bytes / 1e6);
  return `${runs} of ${configurations}, ${timesText(preview, now)}, ${megabytes} MB on disk`;
}

function searchLines(plan: Plan): string[] {
  const { configurations, max_rate, seed } = plan;
  if (!max_rate) return [];
  const { objectives, from, min, max, trials_per_rate, budget_s } = max_rate;
  const lengths = new Set(configurations.map(({ configuration }) => extentText(configuration)));
  const trials = counted(trials_per_rate, "trial");
  const lines = [
    `search: the highest rate from ${min}/s to ${max}/s that keeps ${objectives.join(", ")}, for each of`,
    ...subjectLines(configurations),
    `trials: one run each, ${warmupText(plan)} and ${[...lengths].join(", ")} measured`,
    `bracket: from ${from}/s each rate is ${STEP_FACTOR} times the last until one is missed; then halfway between the rate that is kept and the one that is missed, until they are within ${Math.round(100 * (BRACKET_RATIO - 1))} %`,
    `estimate: ${trials} at each of five or more rates about the middle, ${Math.round(100 * (LADDER_STEP - 1))} % apart, all of them in random order, seed ${seed}`,
  ];
  if (budget_s !== undefined)
    lines.push(`budget: no trial starts that would end after ${durationText(budget_s)}`);
  return lines;
}

/** A table of the targets whose highest rates are searched for. */
function subjectLines(configurations: Plan["configurations"]): string[] {
  const rows = subjectsOf({ configurations }).map(({ configuration }) => {
    const connections = connectionsText(configuration.layer, configuration.load.connections);
    const loadText = [`up to ${connections}`, ...limitTexts(configuration)].join(", ");
    return [...subjectCells(configuration), loadText];
  });
  const table = textTable([[...SUBJECT_COLUMNS, "load"], ...rows]);
  return table.map((line) => `  ${line}`);
}

/** Lines on what a campaign does and decides besides its configurations, and on what to know. */
const outlookLines = (preview: Preview): string[] => [
  ...groupLines(preview),
  ...noteLines(preview),
];

export function noteLines({ plan, notices, order_cost }: Preview): string[] {
  const notes = [...plan.notes, ...(plan.sources ?? []), ...notices];
  return [
    ...diagnosingLines(plan),
    ...adaptiveText(plan),
    ...decidable(plan).lines,
    ...order_cost,
    ...plan.skips.map(({ asked, reason }) => `skipped ${asked}: ${reason}`),
    ...notes.map((note) => `note: ${note}`),
  ];
}

export function previewLines(preview: Preview, now = new Date()): string[] {
  const { plan } = preview;
  const head = runtimeText(preview);
  const totals = totalsText(preview, now);
  if (plan.max_rate) {
    const assumption = `if each keeps up to ${EXAMPLE_FACTOR * plan.max_rate.from}/s`;
    return [head, ...searchLines(plan), ...outlookLines(preview), `${totals}, ${assumption}`];
  }
  const [columns = "", ...rows] = matrixLines(plan);
  const width = String(rows.length).length;
  return [
    head,
    `${" ".repeat(width + 3)}${columns}`,
    ...rows.map((row, index) => ` ${String(index + 1).padStart(width)}  ${row}`),
    `${warmupText(plan)}${plan.load_curve ? " of each target before the turns of a round" : " before each run"}`,
    `order: ${plan.order}, seed ${plan.seed}`,
    ...orderLines(plan),
    ...outlookLines(preview),
    totals,
  ];
}

export const SECONDS_TO_STOP = 5;

/** Whether a person could stop the campaign now. */
const isAttended = (): boolean =>
  (process.stdin.isTTY === true || process.stdout.isTTY === true) && !isCi(process.env);

/**
 * Shows the plan and its time before anything starts, and leaves a person time to stop it.
 * @throws Aborted; BenchError as the campaign would before its first run
 */
export async function showPlanFirst(
  request: Request,
  {
    packageFolder,
    eventLog,
    signal,
  }: { packageFolder: string; eventLog: EventLog; signal: AbortSignal },
): Promise<void> {
  const { format, detail } = request.output.mode;
  if (format === "json" || detail === "quiet") return;
  const preview = await abortable(signal, previewCampaign(request, packageFolder));
  for (const line of previewLines(preview)) eventLog.info(line);
  // The campaign itself will say why it cannot start.
  if (preview.refusal !== undefined || !isAttended()) return;
  eventLog.info(`starts in ${SECONDS_TO_STOP} s; Ctrl-C stops it`);
  await pause(signal, SECONDS_TO_STOP);
}
