import { isProgramLayer } from "../../contract/layers.js";
import type { Discovery } from "../../contract/store.js";
import { isRequestedVersion, parseStoreText } from "../../contract/target.js";
import { BenchError, EXIT, type ExitCode, messageOf, usageError } from "../../kit/errors.js";
import type { LoadedPlugin } from "../../plugins/load.js";
import { autoRuntimeIds, runtimeIds, runtimesFor } from "../../runtimes/index.js";
import { requireExecutable } from "../../runtimes/local/local-programs.js";
import { ensurePythonEnvironment } from "../../runtimes/local/python-environment.js";
import { requireVersion } from "../../runtimes/own-programs.js";
import type {
  InstalledVersions,
  ProgramSource,
  Runtime,
  RuntimeDescription,
  RuntimeOptions,
} from "../../runtimes/runtime-types.js";
import { candidatePrograms, type StartedProgram } from "../../targets/candidate-programs.js";
import { didYouMean } from "../../targets/did-you-mean.js";
import { storeLayerPrograms } from "../../targets/load-programs/index.js";
import { modules } from "../../targets/modules/index.js";
import { type Availability, findStore } from "../../targets/resolve.js";
import { services } from "../../targets/services/index.js";
import { stores } from "../../targets/stores/index.js";
import { requireResultsRoot, timestamp } from "../files/results-folder.js";
import { removeLeftovers, requireRemoved } from "../host/leftovers.js";
import { cpuNumbers } from "../host/machine.js";
import { requireAddressSpace, requireFitMachine } from "../host/machine-checks.js";
import type { PythonContext } from "../host/python.js";
import { ensureVersions } from "../host/versions.js";
import { abortable } from "../ownership/abort.js";
import { Lease } from "../ownership/lease.js";
import { acquireLock, isAlive } from "../ownership/state-folder.js";
import { moduleAvailability, requireModules, usedModules } from "../plan/module-files.js";
import { registerNamedStores } from "../plan/store-layer.js";
import { requireCpus } from "../request/caps.js";
import { requireKnownPrograms } from "../request/program-flags.js";
import { type Request, targetTexts } from "../request/request.js";
import type { EventLog } from "../ui/event-log.js";
import { withTraceFile } from "./used-plugins.js";

const plainId = (id: string): string => id.replace(/~.*/, "");
const isStore = (id: string): boolean => stores.some((store) => store.id === plainId(id));
const withTag = (name: string, tag: string): string =>
  `${name.replace(/@.*/, "").replace(/:[^:/]*$/, "")}:${tag}`;
const isModule = (id: string): boolean => modules.some((module) => module.id === id);

const namedPaths = ({ programs }: Request): [id: string, path: string][] =>
  Object.entries(programs.paths).filter(([id]) => !isModule(id));

/**
 * The programs of the stores and services that the requested targets can use; no store where the
 * user runs it.
 */
export function programSources(request: Request): ProgramSource[] {
  const { programs, storeAccess } = request;
  const imageOf = ({ id, image, version }: StartedProgram) => {
    const own = programs.images[plainId(id)] || process.env[image?.variable ?? ""] || image?.name;
    return programs.images[id] || (version && own ? withTag(own, version) : own);
  };
  const ofStoreLayer = request.stores.map(findStore);
  const used: readonly StartedProgram[] = [
    ...candidatePrograms(targetTexts(request)),
    ...ofStoreLayer,
  ];
  const started = new Map(used.map((program) => [program.id, program]));
  const sources = [...started.values()].flatMap((program): ProgramSource[] => {
    const { id, program: command, version, withoutVersionFlag, mayHideVersion } = program;
    if (command === undefined || (storeAccess.STORE_URL && isStore(id))) return [];
    const path = programs.paths[id] ?? programs.paths[plainId(id)];
    const image = imageOf(program);
    const hidesVersion = mayHideVersion || (isStore(id) && findStore(plainId(id)).isNamed);
    return [
      {
        id,
        command,
        ...(path ? { path } : {}),
        ...(image ? { image } : {}),
        ...(version ? { version } : {}),
        ...(withoutVersionFlag ? { withoutVersionFlag } : {}),
        ...(hidesVersion ? { mayHideVersion: true as const } : {}),
        ...(services.some((service) => service.id === id) ? { kind: "service" as const } : {}),
      },
    ];
  });
  if (!request.layers.some(isProgramLayer)) return sources;
  return [
    ...sources.filter(({ id }) => !storeLayerPrograms.some((program) => program.id === id)),
    ...storeLayerPrograms.map(({ id, program: command, imageOf: store }) => {
      const path = programs.paths[id];
      const image = programs.images[id] || imageOf(findStore(store));
      const kind = "generator" as const;
      return { id, command, kind, ...(path ? { path } : {}), ...(image ? { image } : {}) };
    }),
  ];
}

/**
 * Opens the requested runtime; `auto` chooses the first that works. @throws usageError;
 * environmentError
 */
async function openRuntime(
  request: Request,
  options: Omit<RuntimeOptions, "programs">,
): Promise<{ runtime: Runtime; choice: string }> {
  const programs = programSources(request);
  const open = async (description: RuntimeDescription): Promise<Runtime> => {
    // Labels also find leftovers without a lease, e.g. after the state folder was deleted.
    for (const line of await requireRemoved(await description.leftovers(isAlive)))
      options.onSetupStep(line);
    const opened = await description.open({ ...options, programs });
    try {
      // M19 asks the stores once more in each run.
      for (const source of programs) {
        const facts = opened.program(source.id);
        if (typeof facts !== "string") requireVersion(source, facts);
      }
    } catch (error) {
      await opened.close();
      throw error;
    }
    return opened;
  };
  const { used: runtime, choice } = await firstWorking(request, open);
  return { runtime, choice: `runtime: ${runtime.id} (${choice})` };
}

export async function expectedRuntime(
  request: Request,
): Promise<{ description: RuntimeDescription; choice: string }> {
  const { used: description, choice } = await firstWorking(request, async (found) => found);
  return { description, choice };
}

/**
 * Checks programs, modules' files and CPUs before anything is built or started: an engine would
 * refuse CPUs only with the first part. @throws usageError for an unknown program; environmentError
 * for what is not there
 */
export async function requireUsablePlacement(request: Request): Promise<void> {
  registerNamedStores(request);
  requireKnownPrograms(request.programs);
  for (const [id, path] of namedPaths(request)) {
    const named = [...stores, ...services].find((thing) => thing.id === plainId(id));
    await requireExecutable(path, named?.program ?? id);
  }
  if (usedModules(request).length > 0) {
    const { description } = await expectedRuntime(request);
    await requireModules(request, await description.platform());
  }
  if (Object.values(request.caps).every(({ cpuset }) => cpuset === undefined)) return;
  const { description } = await expectedRuntime(request);
  const count = await description.cpus();
  if (count !== undefined) requireCpus(request.caps, await cpuNumbers(count));
}

function runtimeOf(request: Request): RuntimeDescription {
  const description = runtimesFor(request.access).find(({ id }) => id === request.runtime);
  if (description) return description;
  const near = didYouMean(request.runtime, ["auto", ...runtimeIds]);
  throw usageError(`there is no runtime ${JSON.stringify(request.runtime.slice(0, 60))}${near}`);
}

/**
 * Why only the local runtime will do: containers may not reach the stores and programs that the
 * user names.
 */
function localOnlyReason(request: Request): string | undefined {
  if (request.storeAccess.STORE_URL)
    return "the store that STORE_URL names is reached from this machine";
  if (namedPaths(request).length > 0) return "a program of this machine was named";
  return undefined;
}

/**
 * The runtimes that `auto` tries, and why not all. @throws usageError where none has all that was
 * named
 */
function autoCandidates(request: Request): {
  candidates: readonly RuntimeDescription[];
  reason?: string;
} {
  const runtimes = runtimesFor(request.access).filter(({ id }) => autoRuntimeIds.includes(id));
  const localOnly = localOnlyReason(request);
  const imageNamed = Object.keys(request.programs.images).length > 0;
  if (localOnly && imageNamed)
    throw usageError(`--image needs containers, but ${localOnly}: choose with --runtime`);
  if (localOnly)
    return { candidates: runtimes.filter(({ id }) => id === "local"), reason: localOnly };
  // An image that the user names must not be replaced by a program of this machine.
  return { candidates: imageNamed ? runtimes.filter(({ id }) => id !== "local") : runtimes };
}

async function firstWorking<Used>(
  request: Request,
  use: (description: RuntimeDescription) => Promise<Used>,
): Promise<{ used: Used; choice: string }> {
  if (request.runtime !== "auto")
    return { used: await use(runtimeOf(request)), choice: "as asked" };
  const { candidates, reason } = autoCandidates(request);
  const unavailable: string[] = [];
  for (const description of candidates) {
    const answer = await description.available();
    if ("unavailableReason" in answer) {
      unavailable.push(answer.unavailableReason);
      continue;
    }
    try {
      const used = await use(description);
      return { used, choice: reason ?? [...unavailable, answer.what].join("; ") };
    } catch (error) {
      // The runtime answers but cannot be used, e.g. its images cannot be built: try the next one.
      if (!(error instanceof BenchError) || error.exitCode !== EXIT.environment) throw error;
      unavailable.push(`${answer.what}, but: ${messageOf(error)}`);
    }
  }
  throw new BenchError(unavailable.join("; "), EXIT.environment);
}

export async function expectedOpening(request: Request, packageFolder: string) {
  await requireUsablePlacement(request);
  const { description, choice } = await expectedRuntime(request);
  return {
    description,
    choice,
    available: await expectedStores(description, request, packageFolder),
  };
}

/** Whether each store would be available once the runtime is open. */
export async function expectedStores(
  description: RuntimeDescription,
  request: Request,
  packageFolder: string,
): Promise<Availability> {
  const answers = await Promise.all(
    programSources(request).map(
      async (program) => [program.id, await description.has(program, { packageFolder })] as const,
    ),
  );
  const known = new Map(answers);
  const isExternal = Boolean(request.storeAccess.STORE_URL);
  return (id) =>
    moduleAvailability(request, undefined, id) ??
    ((isExternal && isStore(id)) || (known.get(id) ?? false));
}

/** Whether a store, service or module is available, or why not. */
export function availability(
  request: Request,
  runtime: Runtime,
  external: Discovery | undefined,
  id: string,
): boolean | string {
  const module = moduleAvailability(request, external, id);
  if (module !== undefined) return module;
  if (isStore(id) && findStore(plainId(id)).program === undefined) return true;
  if (!external || !isStore(id)) {
    const facts = runtime.program(id);
    return typeof facts === "string" ? facts : true;
  }
  const { version } = parseStoreText(id);
  if (version && !isRequestedVersion(version, external.version))
    return `the store that already runs is ${external.store} ${external.version}`;
  return external.store === plainId(id) || `the store that already runs is ${external.store}`;
}

export type OpeningContext = { packageFolder: string; eventLog: EventLog; signal: AbortSignal };

/** What a campaign or an audit needs before its first part is started. */
export interface Opened extends OpeningContext {
  plugins: readonly LoadedPlugin[];
  lease: Lease;
  python: PythonContext;
  left: string[];
}

export interface OpenedRuntime {
  runtime: Runtime;
  choice: string;
  versions: InstalledVersions | undefined;
  available(external?: Discovery): Availability;
}

/** Checks what the request needs, and holds lock and lease while `work` runs. */
export async function withLease<Value>(
  request: Request,
  context: OpeningContext & Pick<Opened, "plugins">,
  { root, name = timestamp(new Date()) }: { root?: string | undefined; name?: string | undefined },
  work: (opened: Opened) => Promise<Value>,
): Promise<Value> {
  const { packageFolder, eventLog, signal } = context;
  requireAddressSpace();
  if (root !== undefined) await abortable(signal, requireResultsRoot(root));
  await requireUsablePlacement(request);
  if (request.strict) await requireFitMachine(request.runtime, packageFolder);
  for (const notice of request.notices) eventLog.warn(notice);
  for (const line of await removeLeftovers()) eventLog.warn(line);
  // The report needs Python: find out before hours of measuring, not after them.
  await ensurePythonEnvironment(packageFolder, (text) => eventLog.setUp(text), signal);
  const release = request.allowParallel ? async () => {} : await acquireLock(name);
  try {
    const lease = await Lease.open(name);
    const python = { packageFolder, signal, holdProcess: (pid: number) => lease.holdProcess(pid) };
    try {
      const plugins = await withTraceFile(context.plugins, request, lease.workFolder);
      return await work({ packageFolder, eventLog, signal, plugins, lease, python, left: [] });
    } finally {
      await lease.close();
    }
  } finally {
    await release();
  }
}

/**
 * Installs versions and opens the runtime, which is closed with all parts whatever happens in
 * `work`.
 * @throws Aborted, also while the runtime opens; then it is closed as soon as it is open
 */
export async function withRuntime<Value>(
  request: Request,
  wanted: Parameters<typeof ensureVersions>[0],
  opened: Opened,
  keepsAddresses: boolean,
  work: (found: OpenedRuntime) => Promise<Value>,
): Promise<Value> {
  const { packageFolder, eventLog, signal, lease, python, left } = opened;
  const onSetupStep = (text: string) => eventLog.setUp(text);
  const versions = await ensureVersions(wanted, {
    signal,
    holdProcess: python.holdProcess,
    onSetupStep,
  });
  // It may die while it opens.
  if (Object.keys(request.access).length > 0) await lease.update({ access: request.access });
  const opening = openRuntime(request, {
    packageFolder,
    workFolder: lease.workFolder,
    owner: lease.owner,
    campaign: lease.owner.campaign,
    signal,
    plugins: opened.plugins,
    versions,
    keepsAddresses,
    hold: python.holdProcess,
    onSetupStep,
  });
  const { runtime, choice } = await abortable(signal, opening).catch(async (error) => {
    const late = await opening.catch(() => undefined);
    await late?.runtime.close();
    throw error;
  });
  await lease.update({ runtime: runtime.id });
  try {
    await lease.startGuard(packageFolder);
    const available = (external?: Discovery) => (id: string) =>
      availability(request, runtime, external, id);
    return await work({ runtime, choice, versions, available });
  } finally {
    // Parts that still run would keep the runtime's network from being removed.
    await lease.releaseAll().finally(() =>
      // A report is made although something is left, e.g. on a machine that is gone.
      runtime.close().catch((error) => {
        left.push(messageOf(error));
        eventLog.warn(messageOf(error));
      }),
    );
  }
}

export const endCode = (code: ExitCode, { left }: Pick<Opened, "left">): ExitCode =>
  code === EXIT.done && left.length > 0 ? EXIT.environment : code;
