import { join } from "node:path";
import { canonicalJson } from "../../contract/configuration.js";
import {
  type CampaignMachine,
  MACHINE_KEY,
  MANIFEST_SCHEMA,
  MANIFEST_SCHEMA_VERSION,
  type Machine,
  type Manifest,
} from "../../contract/manifest.js";
import type { Plan } from "../../contract/plan.js";
import type { TraceFacts } from "../../contract/plugins.js";
import type { Discovery } from "../../contract/store.js";
import { nodeProgram, storeProgram } from "../../contract/target.js";
import { environmentError, messageOf } from "../../kit/errors.js";
import { describeMachine } from "../../machine/facts.js";
import { readOwnLimits } from "../../machine/own-limits.js";
import type { Runtime } from "../../runtimes/runtime-types.js";
import { clients } from "../../targets/clients/index.js";
import { USUAL_FRAMEWORK } from "../../targets/frameworks.js";
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
import { runtimeFacts } from "../run/result-documents.js";
import { cpusOf, machineConditions } from "./campaign-machines.js";
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
  const host = await describeMachine();
  const machine =
    runtime.id === "local" ? { ...host, ...tightLimits(readOwnLimits(), host) } : host;
  const version = harnessVersion(packageFolder);
  const revision = await gitRevision(packageFolder);
  const configurations = plan.configurations.map(({ configuration }) => configuration);
  const used = new Set(configurations.flatMap(({ target }) => [target.service, target.client]));
  const storePrograms = new Set(
    configurations.flatMap(({ target }) =>
      findStore(target.store).engine ? [storeProgram(target)] : [],
    ),
  );
  const others = [...services, ...storeLayerPrograms].flatMap(({ id }) =>
    used.has(id) ? [id] : [],
  );
  const nodes = configurations.flatMap(({ target: { node } }) => (node ? [nodeProgram(node)] : []));
  const programs = [...storePrograms, ...others, ...new Set(nodes)].flatMap((id) => {
    const facts =
      external && storePrograms.has(id)
        ? { path: "already running", version: external.version, embedded: false }
        : runtime.program(id);
    if (typeof facts === "string") return [];
    const { path, version, embedded } = facts;
    return [[id, { path, version, embedded }] as const];
  });
  const modules = await moduleHashes(request);
  const harness = {
    version,
    node: process.versions.node,
    ...(revision ? { git_revision: revision } : {}),
  };
  const startedAt = new Date().toISOString();
  return {
    schema: MANIFEST_SCHEMA,
    schema_version: MANIFEST_SCHEMA_VERSION,
    campaign,
    status: "running",
    started_at: startedAt,
    command: request.command,
    settings: request.settings,
    ...(request.thresholds.length > 0 ? { thresholds: request.thresholds } : {}),
    sessions: [{ started_at: startedAt, harness }],
    harness,
    ...(runtime.images ? {} : { libraries: libraryVersions(plan) }),
    machine,
    ...(machines ? { machines } : {}),
    runtime: runtimeFacts(
      runtime,
      request.caps,
      programs.some(([, facts]) => facts.embedded),
    ),
    ...(runtime.engine ? { engine: runtime.engine } : {}),
    ...(runtime.images ? { images: { ...runtime.images } } : {}),
    stores: Object.fromEntries(programs),
    ...(Object.keys(modules).length > 0 ? { modules } : {}),
    generator: { workers: request.workers },
    conditions: [
      ...conditionsOf(
        machine,
        runtime,
        request.caps,
        mostRoles(configurations),
        machines && cpusOf(machines),
      ),
      ...(machines ? machineConditions(machines) : []),
    ],
    plan,
  };
}

/**
 * The versions of the project's own packages that the plan's targets load. Targets that name a
 * version are left out.
 */
function libraryVersions({ configurations }: Plan): Record<string, string> {
  const used = new Set(
    configurations.flatMap(({ configuration: { target } }) => [
      ...(target.client_version ? [] : [target.client]),
      ...(target.limiter_version ? [] : [target.limiter]),
    ]),
  );
  const webPackages = configurations.some(({ configuration: { target } }) => !target.framework)
    ? [USUAL_FRAMEWORK]
    : [];
  const packages = [...clients, ...limiters.filter(({ onDemand }) => !onDemand)].flatMap((each) =>
    used.has(each.id) ? (each.package ?? []) : [],
  );
  return Object.fromEntries(
    [...webPackages, "autocannon", ...packages].flatMap((name) => {
      const version = installedVersion(name);
      return version ? [[name, version]] : [];
    }),
  );
}

/** Undefined for a package that is missing, or comes with a plugin, whose checksum covers it. */
export function installedVersion(name: string): string | undefined {
  try {
    return packageVersion(name);
  } catch {
    return undefined;
  }
}

/** A resumed campaign's: one more session. @throws environmentError naming each difference */
export function resumedManifest(before: Manifest, now: Manifest): Manifest {
  requireComparable(before, now);
  const { finished_at: _, ...unfinished } = before;
  const { started_at, finished_at, harness } = before;
  const first = { started_at, ...(finished_at ? { finished_at } : {}), harness };
  return {
    ...unfinished,
    status: "running",
    sessions: [...(before.sessions ?? [first]), ...(now.sessions ?? [])],
    conditions: [...new Set([...before.conditions, ...now.conditions])],
  };
}

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

/** The members of a manifest that must be the same before and after an interruption. */
const MUST_MATCH = [
  "harness",
  "libraries",
  "runtime",
  "engine",
  "images",
  "stores",
  "modules",
  "plugins",
  "versions",
  "generator",
] as const;

export function differences(before: Manifest, now: Manifest): string[] {
  const was = settledIn(before);
  const is = settledIn(now);
  return [
    ...traceDifference(before, now),
    ...MUST_MATCH.flatMap((member) => compared(member, was[member], is[member])),
    ...machineDifferences("machine", before.machine, now.machine),
    ...machinesDifferences(before.machines ?? [], now.machines ?? []),
  ];
}

const traceIn = ({ plugins = [] }: Manifest): TraceFacts | undefined =>
  plugins.find(({ trace }) => trace)?.trace;

/** A log grows while its service runs: then a resumed campaign would have other requests. */
function traceDifference(before: Manifest, now: Manifest): string[] {
  const [was, is] = [traceIn(before), traceIn(now)];
  if (!was || !is || was.sha256 === is.sha256) return [];
  return [
    `the file of --trace has changed, from ${was.lines} requests to ${is.lines}: give it as it was`,
  ];
}

/**
 * Without what a restart may change, where a program lies, and the trace, which is compared by
 * itself.
 */
function settledIn({ engine, stores, plugins, ...others }: Manifest) {
  const { memory_bytes: _, ...settledEngine } = engine ?? {};
  const versions = Object.entries(stores).map(([id, { path: __, ...store }]) => [id, store]);
  return {
    ...others,
    ...(plugins ? { plugins: plugins.filter(({ trace }) => !trace) } : {}),
    stores: Object.fromEntries(versions),
    engine: engine ? settledEngine : undefined,
  };
}

/**
 * By their keys. What one side does not know, e.g. because an older version wrote it, is no
 * difference.
 */
function machineDifferences(path: string, before: MachineKey, now: MachineKey): string[] {
  return MACHINE_KEY.flatMap((member) => {
    const was = before[member];
    const is = now[member];
    return was === undefined || is === undefined ? [] : compared(`${path}.${member}`, was, is);
  });
}

type MachineKey = { [Member in (typeof MACHINE_KEY)[number]]?: Machine[Member] | undefined };

function machinesDifferences(
  before: readonly CampaignMachine[],
  now: readonly CampaignMachine[],
): string[] {
  const names = [...new Set([...before, ...now].map(({ name }) => name))];
  return names.flatMap((name) => {
    const was = before.find((machine) => machine.name === name);
    const is = now.find((machine) => machine.name === name);
    const path = `machines.${name}`;
    if (was?.facts && is?.facts) return machineDifferences(path, was.facts, is.facts);
    // Without its facts a machine is what the runtime says of it.
    if (was && is) return machineDifferences(path, was, is);
    return [`machines.${name} was ${was ? "there" : "absent"}, is ${is ? "there" : "absent"}`];
  });
}

function compared(path: string, before: unknown, now: unknown): string[] {
  if (isRecord(before) && isRecord(now)) {
    const members = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    return members.flatMap((member) => compared(`${path}.${member}`, before[member], now[member]));
  }
  const [was, is] = [before, now].map((value) =>
    value === undefined ? "absent" : canonicalJson(value),
  );
  return was === is ? [] : [`${path} was ${was}, is ${is}`];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function requireComparable(before: Manifest, now: Manifest): void {
  const changes = differences(before, now);
  if (changes.length === 0) return;
  throw environmentError(
    `${before.campaign} cannot be resumed, since its rows would not be comparable: ${changes.join("; ")}; start a new campaign`,
  );
}
