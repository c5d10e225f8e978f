import type { Configuration, KindCaps } from "../../contract/configuration.js";
import { NO_DIAGNOSIS } from "../../contract/diagnosis.js";
import type { OutcomeStatus } from "../../contract/judgement.js";
import type { Manifest } from "../../contract/manifest.js";
import type { Plan } from "../../contract/plan.js";
import type { PluginIdentity } from "../../contract/plugins.js";
import {
  type FailedResult,
  hasFigures,
  type MeasuredResult,
  measuredResultSchema,
  type PrintedResult,
  printedResultSchema,
  RESULT_SCHEMA,
  RESULT_SCHEMA_VERSION,
  type Result,
} from "../../contract/result.js";
import { type MeasuredKind, measuredKinds } from "../../contract/role.js";
import type { RoleResources } from "../../contract/role-resources.js";
import type { ServiceEvidence } from "../../contract/service.js";
import type { ModuleIdentity } from "../../contract/store.js";
import { storeProgram } from "../../contract/target.js";
import { invalid, wasEnded } from "../../judge/evidence.js";
import { judged } from "../../judge/judged.js";
import { judgedPrinted, type PrintedEvidence } from "../../judge/printed.js";
import { verdictOf } from "../../judge/rules.js";
import { warmupNotes } from "../../judge/steadiness.js";
import { connectionNotes } from "../../judge/store-connections.js";
import { definedOnly } from "../../kit/defined-only.js";
import { rounded, sum } from "../../kit/numbers.js";
import type { Runtime } from "../../runtimes/runtime-types.js";
import { findStore } from "../../targets/resolve.js";
import type { RawRun } from "./execute-run.js";
import type { RawPrintedRun } from "./load-programs/program-load.js";
import { faultFiguresOf } from "./run-fault-figures.js";

type Planned = Plan["configurations"][number];

export interface RunIdentity {
  campaign: string;
  planned: Planned;
  run: number;
  runtime: Runtime;
  caps: KindCaps;
  /** The plugins with which the campaign started. */
  plugins?: readonly PluginIdentity[];
  /** Whether the run has instruments, so that it never counts. */
  diagnose?: true | undefined;
}

export function runtimeRecordOf(
  runtime: Runtime,
  caps: KindCaps,
  embeddedStore: boolean,
): Manifest["runtime"] {
  const { id, capsApplied } = runtime;
  return {
    id,
    embedded_store: embeddedStore,
    caps_applied: capsApplied,
    ...definedOnly({ caps: capsApplied ? caps : undefined }),
  };
}

function identityOf(identity: RunIdentity) {
  const { campaign, planned, run, runtime, caps, plugins = [], diagnose } = identity;
  return {
    campaign,
    run,
    configuration: planned.configuration,
    configuration_hash: planned.hash,
    load_text: planned.load_text,
    runtime: runtimeRecordOf(runtime, caps, hasEmbeddedStore(identity)),
    ...definedOnly({
      plugins: plugins.length > 0 ? [...plugins] : undefined,
      diagnosis: diagnose ? NO_DIAGNOSIS : undefined,
    }),
  };
}

/** Whether the run's store is a program that comes with the project. */
function hasEmbeddedStore({ planned, runtime }: RunIdentity): boolean {
  const { target, external_store } = planned.configuration;
  const usesStore = findStore(target.store).engine !== undefined;
  if (external_store || !usesStore) return false;
  const program = runtime.program(storeProgram(target));
  return typeof program === "object" && program.embedded;
}

/** The CPU figures of a role without the CPU time that it used while others had the load. */
function withoutIdle(role: RoleResources, idle_us: number): RoleResources {
  const cpu_us = Math.max(0, role.cpu_us - idle_us);
  const scaled = (value: number): number => rounded((value * cpu_us) / Math.max(1, role.cpu_us), 2);
  const perRequest = role.cpu_us_per_request;
  const cpu_us_per_request = perRequest === undefined ? undefined : scaled(perRequest);
  return {
    ...role,
    cpu_us,
    cpu_percent: scaled(role.cpu_percent),
    ...definedOnly({ cpu_us_per_request }),
  };
}

/**
 * The resources of a role. The figures that it reported itself win, unless its process was replaced,
 * but the samples are those of the runtime.
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

/** The share of idle use in a kind's CPU time above which a note says so (M15). */
const IDLE_NOTED = 0.05;

/** The share of idle use above which the CPU time per request is not known (M15). */
const IDLE_TOO_MUCH = 0.2;

/**
 * Judges the corrections for idle use, by kind.
 * @returns the roles, and a note for each kind with much idle use
 */
function judgeIdle(roles: Readonly<Record<string, RoleResources>>) {
  const judgedRoles = { ...roles };
  const notes: string[] = [];
  for (const kind of measuredKinds) {
    const corrected = Object.entries(roles).filter(
      ([, role]) => role.kind === kind && role.idle_us !== undefined,
    );
    const idle_us = sum(corrected.map(([, role]) => role.idle_us ?? 0));
    const loaded_us = sum(corrected.map(([, role]) => role.cpu_us));
    const share = idle_us / Math.max(1, idle_us + loaded_us);
    if (share <= IDLE_NOTED) continue;

    const isKnown = share <= IDLE_TOO_MUCH;
    const unknownText = isKnown ? "" : "; its CPU per request is not known";
    notes.push(
      `${kind}: ${Math.round(100 * share)} % of its CPU time was idle use and is not counted${unknownText} (M15)`,
    );
    for (const [id, { cpu_us_per_request, ...figures }] of corrected) {
      const knownFigure = isKnown ? cpu_us_per_request : undefined;
      judgedRoles[id] = { ...figures, ...definedOnly({ cpu_us_per_request: knownFigure }) };
    }
  }
  return { roles: judgedRoles, notes };
}

/**
 * A module's version with the hash of its file, because builds of one version differ and a comparison
 * must tell them apart.
 */
function moduleVersion({ version, sha256 }: ModuleIdentity): string {
  const text = version || "unknown";
  return sha256 ? `${text} (sha256 ${sha256.slice(0, 12)}…)` : text;
}

function startedVersionOf(runtime: Runtime, id: string): string {
  const foundProgram = runtime.program(id);
  return typeof foundProgram === "object" ? foundProgram.version : "";
}

export function measuredDocument(
  identity: RunIdentity,
  { result, resources, notes, diagnosed, ...observed }: RawRun,
): MeasuredResult {
  const { faults } = observed;
  const roles = { ...result.resources };
  for (const [role, observedRole] of Object.entries(resources)) {
    roles[role] = mergeRole(roles[role], observedRole, wasEnded({ faults }, role));
  }
  const idle = judgeIdle(roles);
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
    ...observed,
    ...figuresOfForeignServers(measured.consumers, idle.roles),
    resources: idle.roles,
    notes: [
      ...result.notes,
      ...warmupNotes(result),
      ...connectionNotes({ ...observed, request: result.request }),
      ...idle.notes,
      ...notes,
    ],
    versions: { ...result.versions, ...versionsBehind(identity, observed) },
    ...definedOnly({
      diagnosis: result.diagnosis && { ...result.diagnosis, nodes: diagnosed ?? [] },
    }),
  };
  return measuredResultSchema.parse({
    ...judged(evidence),
    ...definedOnly({ fault_figures: faultFiguresOf(evidence) }),
  });
}

/**
 * The CPU use and memory of servers that are not ours and so report none, from the counters of their
 * processes. Servers of ours have reported them.
 */
function figuresOfForeignServers(
  consumers: MeasuredResult["consumers"],
  roles: Readonly<Record<string, RoleResources>>,
): Pick<MeasuredResult, "cpu_usage" | "memory_resident"> {
  const servers = Object.values(roles).filter(({ kind }) => kind === "server");
  if (consumers.length > 0 || servers.length === 0) return {};
  return {
    cpu_usage: rounded(sum(servers.map(({ cpu_percent }) => cpu_percent)), 2),
    memory_resident: sum(servers.map(({ resident_bytes_mean = 0 }) => resident_bytes_mean)),
  };
}

/** The versions of store and limiter, which the libraries of the servers do not know. */
function versionsBehind(
  { runtime, planned }: RunIdentity,
  { store, service }: Pick<RawRun, "store" | "service">,
): { store?: string; limiter?: string } {
  const versions: { store?: string; limiter?: string } = {};
  if (store) {
    const reported = [...new Set(store.nodes.map(({ at_end }) => at_end.version))].join(", ");
    // A store that does not report its version has that of the program that was started.
    const started = startedVersionOf(runtime, storeProgram(planned.configuration.target));
    if (reported || started) versions.store = reported || started;
  }

  // A module or a service is the limiter, and a client cannot ask for the version of a service.
  const module = store?.modules?.map(moduleVersion).join(", ");
  const limiter = module || (service && serviceVersion(runtime, service));
  if (limiter) versions.limiter = limiter;
  return versions;
}

const serviceVersion = (runtime: Runtime, { id, at_end }: ServiceEvidence): string =>
  at_end.version ?? startedVersionOf(runtime, id);

export function printedDocument(
  identity: RunIdentity,
  { program, ...raw }: RawPrintedRun,
): PrintedResult {
  const { configuration } = identity.planned;
  const { runtime } = identity;
  const foundProgram = runtime.program(program.id);
  const version = typeof foundProgram === "string" ? "unknown" : foundProgram.version;
  const startedVersion = startedVersionOf(runtime, storeProgram(configuration.target));
  const storeVersion =
    raw.store.nodes[0]?.at_end.version || (startedVersion === "unknown" ? "" : startedVersion);
  const limiter = raw.service && serviceVersion(runtime, raw.service);
  const evidence: PrintedEvidence = {
    schema: RESULT_SCHEMA,
    schema_version: RESULT_SCHEMA_VERSION,
    ...identityOf(identity),
    status: "printed",
    operation: configuration.workload,
    load: configuration.load,
    ...raw,
    program: { ...program, version },
    ...definedOnly({ store_cpu_us_per_operation: cpuUsPerRequest(raw, "store") }),
    versions: {
      ...definedOnly({ store: storeVersion || undefined, limiter: limiter || undefined }),
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

/** The CPU time per request of all roles of a kind in µs; undefined where it is not known. */
export function cpuUsPerRequest(
  { resources }: Pick<MeasuredResult, "resources">,
  measured: MeasuredKind,
): number | undefined {
  const figures = Object.values(resources).flatMap(({ kind, cpu_us_per_request: cpu }) =>
    kind === measured && cpu !== undefined ? [cpu] : [],
  );
  return figures.length > 0 ? sum(figures) : undefined;
}

export interface RunOutcome {
  file: string;
  status: "valid" | "suspect" | "invalid" | "failed";
  /** The target's outcome with the load; absent where that is not known. */
  outcome?: OutcomeStatus;
  configuration: Configuration;
  /** The seconds from the start of the run until its result was saved. */
  seconds: number;
}

export function runOutcomeOf(
  result: Result,
  run: Pick<RunOutcome, "file" | "configuration" | "seconds">,
): RunOutcome {
  if (!hasFigures(result)) return { ...run, status: "failed" };
  const { verdict, outcome } = result;
  return { ...run, status: verdict.status, ...definedOnly({ outcome }) };
}
