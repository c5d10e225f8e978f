import { join } from "node:path";
import { isApp } from "../../contract/app.js";
import type { KindCaps } from "../../contract/configuration.js";
import {
  MANIFEST_SCHEMA,
  MANIFEST_SCHEMA_VERSION,
  type Machine,
  type Manifest,
} from "../../contract/manifest.js";
import type { Plan } from "../../contract/plan.js";
import type { Discovery } from "../../contract/store.js";
import { nodeProgram, storeProgram } from "../../contract/target.js";
import { definedOnly } from "../../kit/defined-only.js";
import { environmentError, messageOf } from "../../kit/errors.js";
import { describeMachine } from "../../machine/describe-machine.js";
import { readOwnLimits } from "../../machine/own-limits.js";
import type { Runtime } from "../../runtimes/runtime-types.js";
import { clients } from "../../targets/clients/index.js";
import { DEFAULT_FRAMEWORK } from "../../targets/frameworks.js";
import { packageVersion } from "../../targets/libraries.js";
import { limiters } from "../../targets/limiters/index.js";
import { storeLayerPrograms } from "../../targets/load-programs/index.js";
import { findStore } from "../../targets/resolve.js";
import { services } from "../../targets/services/index.js";
import { writeAtomically } from "../files/results-folder.js";
import { conditionsOf, gitRevision, harnessVersion, tightLimits } from "../host/machine.js";
import { moduleHashes } from "../plan/module-files.js";
import { mostRoles } from "../plan/role-counts.js";
import type { Request } from "../request/request.js";
import { runtimeRecordOf } from "../run/result-documents.js";
import { appIdentities } from "./campaign-apps.js";
import { cpusOf, machineConditions } from "./campaign-machines.js";
import { requireComparable } from "./compare-manifests.js";
import { campaignReadme } from "./readme.js";

export async function startManifest(
  campaign: string,
  request: Request,
  plan: Plan,
  runtime: Runtime,
  external: Discovery | undefined,
  packageFolder: string,
  machines?: Manifest["machines"],
): Promise<Manifest> {
  const { comparisons, place, record } = request;
  const machine = await machineOf(runtime);
  const programs = programsOf(plan, runtime, external);
  const usesEmbedded = Object.values(programs).some(({ embedded }) => embedded);
  const modules = await moduleHashes(request);
  const apps = await appIdentities(request.apps);
  const git_revision = await gitRevision(packageFolder);
  const harness = {
    version: harnessVersion(packageFolder),
    node: process.versions.node,
    ...definedOnly({ git_revision: git_revision || undefined }),
  };
  const startedAt = new Date().toISOString();
  return {
    schema: MANIFEST_SCHEMA,
    schema_version: MANIFEST_SCHEMA_VERSION,
    campaign,
    status: "running",
    started_at: startedAt,
    command: record.command,
    settings: record.settings,
    ...definedOnly({
      thresholds: comparisons.thresholds.length > 0 ? comparisons.thresholds : undefined,
      plan_for_per_second: comparisons.planForPerSecond,
      criteria: record.criteria.length > 0 ? [...record.criteria] : undefined,
    }),
    sessions: [{ started_at: startedAt, harness }],
    harness,
    // In containers the images hold the libraries, so the installed versions do not matter.
    ...definedOnly({ libraries: runtime.images ? undefined : libraryVersions(plan) }),
    machine,
    ...definedOnly({ machines }),
    runtime: runtimeRecordOf(runtime, place.caps, usesEmbedded),
    ...definedOnly({
      engine: runtime.engine,
      images: runtime.images && { ...runtime.images },
    }),
    stores: programs,
    ...definedOnly({ apps }),
    ...definedOnly({ modules: Object.keys(modules).length > 0 ? modules : undefined }),
    generator: { workers: place.workers },
    conditions: campaignConditions(place.caps, plan, runtime, machine, machines),
    plan,
  };
}

async function machineOf(runtime: Runtime): Promise<Machine> {
  const host = await describeMachine();
  return runtime.id === "local" ? { ...host, ...tightLimits(readOwnLimits(), host) } : host;
}

function campaignConditions(
  caps: KindCaps,
  { configurations }: Plan,
  runtime: Runtime,
  machine: Machine,
  machines: Manifest["machines"],
): string[] {
  const roles = mostRoles(configurations.map(({ configuration }) => configuration));
  const cpus = machines && cpusOf(machines);
  const conditions = conditionsOf(machine, runtime, caps, roles, cpus);
  return machines ? [...conditions, ...machineConditions(machines)] : conditions;
}

/** The stores, services and other programs that the plan's targets need, by id. */
function programsOf(
  { configurations }: Plan,
  runtime: Runtime,
  external: Discovery | undefined,
): Manifest["stores"] {
  const targets = configurations.map(({ configuration }) => configuration.target);
  const storePrograms = new Set<string>();
  const nodePrograms = new Set<string>();
  for (const target of targets) {
    if (findStore(target.store).engine) storePrograms.add(storeProgram(target));
    if (target.node) nodePrograms.add(nodeProgram(target.node));
  }
  const used = new Set(targets.flatMap(({ service, client }) => [service, client]));
  const others = [...services, ...storeLayerPrograms].filter(({ id }) => used.has(id));
  const ids = [...storePrograms, ...others.map(({ id }) => id), ...nodePrograms];

  const programs: Manifest["stores"] = {};
  for (const id of ids) {
    if (external && storePrograms.has(id)) {
      programs[id] = { path: "already running", version: external.version, embedded: false };
      continue;
    }
    const foundProgram = runtime.program(id);
    if (typeof foundProgram === "string") continue;
    const { path, version, embedded } = foundProgram;
    programs[id] = { path, version, embedded };
  }
  return programs;
}

/**
 * The versions of the project's own packages that the plan's targets load, without targets that name
 * a version.
 */
function libraryVersions({ configurations }: Plan): Record<string, string> {
  const used = new Set<string>();
  for (const { configuration } of configurations) {
    const { client, client_version, limiter, limiter_version } = configuration.target;
    if (!client_version) used.add(client);
    if (!limiter_version) used.add(limiter);
  }
  const usesDefaultFramework = configurations.some(
    ({ configuration: { target } }) => !target.framework && !isApp(target),
  );
  const framework = usesDefaultFramework ? [DEFAULT_FRAMEWORK] : [];
  const installed = [...clients, ...limiters.filter(({ onDemand }) => !onDemand)];
  const packages = installed.flatMap((library) =>
    used.has(library.id) ? (library.package ?? []) : [],
  );

  const versions: Record<string, string> = {};
  for (const name of [...framework, "autocannon", ...packages]) {
    const version = installedVersion(name);
    if (version) versions[name] = version;
  }
  return versions;
}

/**
 * The version of an installed package. It is undefined for a package that is missing, or that comes
 * with a plugin, whose checksum covers it.
 */
export function installedVersion(name: string): string | undefined {
  try {
    return packageVersion(name);
  } catch {
    return undefined;
  }
}

/**
 * The manifest of a resumed campaign, with one more session.
 * @throws environmentError that names each difference
 */
export function resumedManifest(before: Manifest, now: Manifest): Manifest {
  requireComparable(before, now);
  const { finished_at: _, ...unfinished } = before;
  const { started_at, finished_at, harness } = before;
  const firstSession = { started_at, ...definedOnly({ finished_at }), harness };
  return {
    ...unfinished,
    status: "running",
    sessions: [...(before.sessions ?? [firstSession]), ...(now.sessions ?? [])],
    conditions: [...new Set([...before.conditions, ...now.conditions])],
  };
}

/** Records in a manifest that its session has ended now. */
export function endSession(manifest: Manifest): void {
  if (manifest.status === "running") manifest.status = "aborted";
  manifest.finished_at = new Date().toISOString();
  const session = manifest.sessions?.at(-1);
  if (session) session.finished_at = manifest.finished_at;
}

/** @throws environmentError when the folder cannot be written, e.g. because the disk is full */
export async function saveManifest(manifest: Manifest, folder: string): Promise<void> {
  try {
    await writeAtomically(join(folder, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    await writeAtomically(join(folder, "README.md"), campaignReadme(manifest));
  } catch (error) {
    throw environmentError(`${folder} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}
