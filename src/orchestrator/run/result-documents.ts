import type { Configuration, KindCaps } from "../../contract/configuration.js";
import { NO_DIAGNOSIS } from "../../contract/diagnosis.js";
import { type FaultRecord, factsOfAction } from "../../contract/faults.js";
import type { Manifest } from "../../contract/manifest.js";
import type { Plan } from "../../contract/plan.js";
import type { PluginFacts } from "../../contract/plugins.js";
import {
  type FailedResult,
  hasFigures,
  type MeasuredResult,
  measuredResultSchema,
  type OutcomeStatus,
  type PrintedResult,
  printedResultSchema,
  RESULT_SCHEMA,
  RESULT_SCHEMA_VERSION,
  type Result,
  type RoleResources,
} from "../../contract/result.js";
import { type MeasuredKind, measuredKinds } from "../../contract/role.js";
import type { ModuleFacts } from "../../contract/store.js";
import { storeProgram } from "../../contract/target.js";
import type { Timeline } from "../../contract/timeline.js";
import { invalid, wasEnded } from "../../judge/evidence.js";
import { faultFigures, type PredictedAdmissions, sliceAt } from "../../judge/figures-of-faults.js";
import { judged } from "../../judge/judged.js";
import { judgedPrinted, type PrintedEvidence } from "../../judge/printed.js";
import { verdictOf } from "../../judge/rules.js";
import { warmupNotes } from "../../judge/steadiness.js";
import { rounded, sum } from "../../kit/numbers.js";
import type { Runtime } from "../../runtimes/runtime-types.js";
import { findStore } from "../../targets/resolve.js";
import { findProfile } from "../../traffic/lookup.js";
import {
  canNotBeUsedUp,
  isReplayed,
  type LoadPhase,
  predictAdmitted,
  restartedAt,
} from "../../traffic/prediction.js";
import type { RawRun } from "./execute-run.js";
import type { RawPrintedRun } from "./program-load.js";

type Planned = Plan["configurations"][number];

export interface RunIdentity {
  campaign: string;
  planned: Planned;
  run: number;
  runtime: Runtime;
  caps: KindCaps;
  /** Those that the campaign started with. */
  plugins?: readonly PluginFacts[];
  /** It has instruments, and never counts. */
  diagnose?: true | undefined;
}

export function runtimeFacts(
  runtime: Runtime,
  caps: KindCaps,
  embeddedStore: boolean,
): Manifest["runtime"] {
  const { id, capsApplied } = runtime;
  return {
    id,
    embedded_store: embeddedStore,
    caps_applied: capsApplied,
    ...(capsApplied ? { caps } : {}),
  };
}

function identityOf({
  campaign,
  planned,
  run,
  runtime,
  caps,
  plugins = [],
  diagnose,
}: RunIdentity) {
  const { target } = planned.configuration;
  const { engine } = findStore(target.store);
  const facts = engine === undefined ? undefined : runtime.program(storeProgram(target));
  const embedded =
    !planned.configuration.external_store && typeof facts === "object" && facts.embedded;
  return {
    campaign,
    run,
    configuration: planned.configuration,
    configuration_hash: planned.hash,
    load_text: planned.load_text,
    runtime: runtimeFacts(runtime, caps, embedded),
    ...(plugins.length > 0 ? { plugins: [...plugins] } : {}),
    ...(diagnose ? { diagnosis: NO_DIAGNOSIS } : {}),
  };
}

/** The CPU figures of a role, less what it used while others had the load. */
function withoutIdle(role: RoleResources, idle_us: number): RoleResources {
  const cpu_us = Math.max(0, role.cpu_us - idle_us);
  const scaled = (value: number): number => rounded((value * cpu_us) / Math.max(1, role.cpu_us), 2);
  return {
    ...role,
    cpu_us,
    cpu_percent: scaled(role.cpu_percent),
    ...(role.cpu_us_per_request === undefined
      ? {}
      : { cpu_us_per_request: scaled(role.cpu_us_per_request) }),
  };
}

/**
 * What a role reported itself wins, unless its process was replaced; the samples are the runtime's.
 */
function mergeRole(
  reported: RoleResources | undefined,
  observed: RoleResources,
  wasReplaced: boolean,
) {
  if (!reported || wasReplaced) return observed;
  const { idle_us, samples } = observed;
  const role = { ...observed, ...reported, samples };
  // The generator divides its CPU time at the edges of turns itself.
  return idle_us && observed.kind === "server" ? withoutIdle(role, idle_us) : role;
}

/**
 * Shares of a kind's CPU time that was idle use: above the first it is said, above the second the
 * figure is not known (M15).
 */
const IDLE_SAID = 0.05;
const IDLE_TOO_MUCH = 0.2;

/**
 * Judges the corrections for idle use, by kind. @returns the roles, and a note for each kind that
 * it concerns
 */
function judgeIdle(roles: Readonly<Record<string, RoleResources>>) {
  const found = { ...roles };
  const notes: string[] = [];
  for (const kind of measuredKinds) {
    const own = Object.entries(roles).filter(
      ([, role]) => role.kind === kind && role.idle_us !== undefined,
    );
    const idle_us = sum(own.map(([, role]) => role.idle_us ?? 0));
    const share = idle_us / Math.max(1, idle_us + sum(own.map(([, { cpu_us }]) => cpu_us)));
    if (share <= IDLE_SAID) continue;
    const isKnown = share <= IDLE_TOO_MUCH;
    notes.push(
      `${kind}: ${Math.round(100 * share)} % of its CPU time was idle use and is not counted${isKnown ? "" : "; its CPU per request is not known"} (M15)`,
    );
    for (const [id, { cpu_us_per_request: figure, ...rest }] of own)
      found[id] = isKnown && figure !== undefined ? { ...rest, cpu_us_per_request: figure } : rest;
  }
  return { roles: found, notes };
}

/**
 * A module's version with its bytes: builds of one version differ, and a comparison must tell them
 * apart.
 */
const moduleVersion = ({ version, sha256 }: ModuleFacts): string =>
  [version || "unknown", ...(sha256 ? [`(sha256 ${sha256.slice(0, 12)}…)`] : [])].join(" ");

function startedVersionOf(runtime: Runtime, id: string): string {
  const facts = runtime.program(id);
  return typeof facts === "object" ? facts.version : "";
}

export function measuredDocument(
  identity: RunIdentity,
  { result, resources, notes, diagnosed, reconnections: _, ...seen }: RawRun,
): MeasuredResult {
  const { store, service, faults } = seen;
  const roles = { ...result.resources };
  for (const [role, observed] of Object.entries(resources))
    roles[role] = mergeRole(roles[role], observed, wasEnded({ faults }, role));
  const idle = judgeIdle(roles);
  const startedVersion = (id: string) => startedVersionOf(identity.runtime, id);
  const reported = [...new Set(store?.nodes.map(({ at_end }) => at_end.version))].join(", ");
  // A store that does not tell its version has that of the program that was started.
  const version =
    reported || (store ? startedVersion(storeProgram(identity.planned.configuration.target)) : "");
  const module = store?.modules?.map(moduleVersion).join(", ");
  // The service is the limiter; a client cannot ask for its version.
  const limiter = module || (service && (service.at_end.version ?? startedVersion(service.id)));
  const {
    verdict: _verdict,
    outcome: _outcome,
    outcome_text: _text,
    limited_by: _limit,
    ...measured
  } = result;
  const evidence = {
    ...measured,
    ...identityOf(identity),
    ...seen,
    resources: idle.roles,
    notes: [...result.notes, ...warmupNotes(result), ...idle.notes, ...notes],
    versions: {
      ...result.versions,
      ...(version ? { store: version } : {}),
      ...(limiter ? { limiter } : {}),
    },
    ...(result.diagnosis ? { diagnosis: { ...result.diagnosis, nodes: diagnosed ?? [] } } : {}),
  };
  const fault_figures = faultFiguresOf(evidence);
  return measuredResultSchema.parse({
    ...judged(evidence),
    ...(fault_figures ? { fault_figures } : {}),
  });
}

export function printedDocument(
  identity: RunIdentity,
  { program, ...raw }: RawPrintedRun,
): PrintedResult {
  const { configuration } = identity.planned;
  const facts = identity.runtime.program(program.id);
  const version = typeof facts === "string" ? "unknown" : facts.version;
  const started = startedVersionOf(identity.runtime, storeProgram(configuration.target));
  const seen = raw.store.nodes[0]?.at_end.version || (started === "unknown" ? "" : started);
  const { service } = raw;
  const limiter =
    service && (service.at_end.version ?? startedVersionOf(identity.runtime, service.id));
  const cpu = cpuUsPerRequest(raw, "store");
  const evidence: PrintedEvidence = {
    schema: RESULT_SCHEMA,
    schema_version: RESULT_SCHEMA_VERSION,
    ...identityOf(identity),
    status: "printed",
    operation: configuration.workload,
    load: configuration.load,
    ...raw,
    program: { ...program, version },
    ...(cpu === undefined ? {} : { store_cpu_us_per_operation: cpu }),
    versions: {
      ...(seen ? { store: seen } : {}),
      ...(limiter ? { limiter } : {}),
      program: version,
    },
  };
  return printedResultSchema.parse(judgedPrinted(evidence));
}

export function failureDocument(
  identity: RunIdentity,
  status: FailedResult["status"],
  startedAt: Date,
  failure: FailedResult["failure"],
): FailedResult {
  return {
    schema: RESULT_SCHEMA,
    schema_version: RESULT_SCHEMA_VERSION,
    ...identityOf(identity),
    started_at: startedAt.toISOString(),
    finished_at: new Date().toISOString(),
    notes: [],
    status,
    failure,
    verdict: verdictOf([
      { rule: "M20", ...invalid(`${status}: ${failure.role}: ${failure.text}`) },
    ]),
  };
}

export function cpuUsPerRequest(
  { resources }: Pick<MeasuredResult, "resources">,
  measured: MeasuredKind,
): number | undefined {
  const found = Object.values(resources).flatMap(({ kind, cpu_us_per_request: cpu }) =>
    kind === measured && cpu !== undefined ? [cpu] : [],
  );
  return found.length > 0 ? sum(found) : undefined;
}

export interface RunOutcome {
  file: string;
  status: "valid" | "suspect" | "invalid" | "failed";
  /** What the target did with the load; absent where that is not known. */
  outcome?: OutcomeStatus;
  configuration: Configuration;
  /** From its start until its result was saved. */
  seconds: number;
}

export function runOutcomeOf(
  result: Result,
  run: Pick<RunOutcome, "file" | "configuration" | "seconds">,
): RunOutcome {
  if (!hasFigures(result)) return { ...run, status: "failed" };
  const { verdict, outcome } = result;
  return { ...run, status: verdict.status, ...(outcome === undefined ? {} : { outcome }) };
}

type FaultRun = Pick<
  MeasuredResult,
  "timeline" | "faults" | "samples" | "configuration" | "warmup" | "counts"
>;

export function faultFiguresOf(run: FaultRun): MeasuredResult["fault_figures"] {
  const { timeline, faults, samples } = run;
  if (!timeline || !faults) return undefined;
  return faultFigures({
    timeline,
    faults,
    samples,
    predicted: predictedAdmissions(run, timeline, faults),
  });
}

/**
 * What the model admits from each fault to the next, of the answered requests: failed ones use no
 * quota.
 * @returns null for quotas that cannot be used up; undefined where the run names none
 */
function predictedAdmissions(
  { configuration, warmup, counts }: FaultRun,
  timeline: Timeline,
  faults: readonly FaultRecord[],
): (PredictedAdmissions | null | undefined)[] {
  if (!configuration || configuration.target.limiter === "none") return faults.map(() => undefined);
  const { limits, traffic, target } = configuration;
  if (canNotBeUsedUp(limits, warmup.requests + counts.sent)) return faults.map(() => null);
  const profile = findProfile(traffic);
  const { opens_s } = timeline;
  const phases = loadOf(warmup, timeline);
  const load = isReplayed(configuration.load)
    ? restartedAt(opens_s - warmup.lead_in.took_s, phases)
    : phases;
  const began_at_s = Date.parse(timeline.opened_at) / 1000 - opens_s;
  // Admissions are known by slice.
  const sliceStart = (s: number) => opens_s + (sliceAt(s, timeline) * timeline.width_ms) / 1000;
  const starts = faults.flatMap(({ injected }) => injected?.from_s ?? []);
  return faults.map(({ injected, action }) => {
    if (!injected) return undefined;
    const from_s = sliceStart(injected.from_s) - 1e-9;
    const ends_s =
      sliceStart(Math.min(...starts.filter((start) => start > injected.from_s))) - 1e-9;
    const until = { opens_s, load: load.filter(({ begins_s }) => begins_s < ends_s), began_at_s };
    const admitted = (lost: { lost_s?: number }) =>
      predictAdmitted(profile, limits, until, { from_s, ...lost }, target.algorithm);
    return {
      counters_kept: admitted({}),
      ...(factsOfAction(action).effects.includes("forgets")
        ? // A fault that was injected a hair before its slice takes nothing that the slice does not count.
          { counters_lost: admitted({ lost_s: Math.max(from_s, opens_s + injected.from_s) }) }
        : {}),
    };
  });
}

function loadOf(
  { took_s, requests, lead_in }: FaultRun["warmup"],
  timeline: Timeline,
): LoadPhase[] {
  const { opens_s, allowed, limited, width_ms } = timeline;
  const before = [
    { begins_s: 0, length_s: took_s - lead_in.took_s, requests: requests - lead_in.requests },
    { begins_s: opens_s - lead_in.took_s, length_s: lead_in.took_s, requests: lead_in.requests },
  ];
  const within = allowed.map((count, index) => ({
    begins_s: opens_s + (index * width_ms) / 1000,
    length_s: width_ms / 1000,
    requests: sum([count, limited[index] ?? 0]),
  }));
  return [...before, ...within].filter((phase) => phase.requests > 0);
}
