import { appName } from "../../contract/app.js";
import type { Discovery } from "../../contract/store.js";
import { EXIT, type ExitCode, environmentError, messageOf } from "../../kit/errors.js";
import type { LoadedPlugin } from "../../plugins/load.js";
import { findProgram, requireExecutable } from "../../runtimes/local/local-programs.js";
import { ensurePythonEnvironment } from "../../runtimes/local/python-environment.js";
import { requireVersion } from "../../runtimes/own-programs.js";
import type {
  InstalledVersions,
  ProgramSource,
  Runtime,
  RuntimeOptions,
} from "../../runtimes/runtime-types.js";
import type { Availability } from "../../targets/resolve.js";
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
import { requireModules, usedModules } from "../plan/module-files.js";
import { registerNamedStores } from "../plan/store-layer.js";
import { requireCpus } from "../request/caps.js";
import { requireKnownPrograms } from "../request/program-flags.js";
import type { Request } from "../request/request.js";
import type { EventLog } from "../ui/event-log.js";
import { expectedRuntime, firstWorking } from "./choose-runtime.js";
import { namedPaths, plainId, programSources } from "./program-sources.js";
import { availability, expectedStores } from "./store-availability.js";
import { withTraceFile } from "./used-plugins.js";

/**
 * Opens the requested runtime, where `auto` chooses the first that works.
 * @throws usageError; environmentError
 */
async function openRuntime(
  request: Request,
  options: Omit<RuntimeOptions, "programs">,
): Promise<{ runtime: Runtime; choice: string }> {
  const programs = programSources(request);
  const { used: runtime, choice } = await firstWorking(request.place, async (description) => {
    // Labels also find leftovers without a lease, e.g. after the state folder was deleted.
    for (const line of await requireRemoved(await description.leftovers(isAlive)))
      options.onSetupStep(line);
    const opened = await description.open({ ...options, programs });
    try {
      requireVersions(programs, opened);
    } catch (error) {
      await opened.close();
      throw error;
    }
    return opened;
  });
  const reason = request.start.resume === undefined ? choice : "kept from the campaign's start";
  return { runtime, choice: `runtime: ${runtime.id} (${reason})` };
}

/** @throws environmentError for a program without the requested version. M19 checks stores once more. */
function requireVersions(programs: readonly ProgramSource[], runtime: Runtime): void {
  for (const source of programs) {
    const foundProgram = runtime.program(source.id);
    if (typeof foundProgram !== "string") requireVersion(source, foundProgram);
  }
}

/**
 * Checks programs, files of modules and CPUs before anything is built or started. An engine would
 * refuse CPUs only with the first part.
 * @throws usageError for an unknown program; environmentError for what is missing
 */
export async function requireUsablePlacement(
  request: Request,
  packageFolder: string,
): Promise<void> {
  registerNamedStores(request.storeLayer.stores, request.place.programs);
  requireKnownPrograms(request.place.programs);
  await requireAppPrograms(request, packageFolder);
  for (const [id, path] of namedPaths(request.place.programs)) {
    const description = [...stores, ...services].find((candidate) => candidate.id === plainId(id));
    await requireExecutable(path, description?.program ?? id);
  }
  if (usedModules(request.targets).length > 0) {
    const { description } = await expectedRuntime(request.place);
    await requireModules(request, await description.platform());
  }
  if (Object.values(request.place.caps).every(({ cpuset }) => cpuset === undefined)) return;
  const { description } = await expectedRuntime(request.place);
  const count = await description.cpus();
  if (count !== undefined) requireCpus(request.place.caps, await cpuNumbers(count));
}

/** @throws environmentError for an app whose program or image is not here */
async function requireAppPrograms(request: Request, packageFolder: string): Promise<void> {
  const sources = programSources(request).filter(({ isApp }) => isApp);
  for (const source of sources) {
    const reason = source.image
      ? await missingImageReason(source, request.place, packageFolder)
      : await missingProgramReason(source);
    if (reason !== undefined) throw environmentError(`--app ${appName(source.id)}: ${reason}`);
  }
}

async function missingProgramReason(source: ProgramSource): Promise<string | undefined> {
  const program = await findProgram(source, async () => undefined);
  if (program) return undefined;
  return `no program ${source.command} was found on this machine: give its path`;
}

async function missingImageReason(
  source: ProgramSource,
  place: Request["place"],
  packageFolder: string,
): Promise<string | undefined> {
  try {
    const { description } = await expectedRuntime(place);
    const answer = await description.has(source, { packageFolder });
    return answer === true ? undefined : answer;
  } catch (error) {
    return `an image needs an engine: ${messageOf(error)}; start one, or give a command`;
  }
}

/** The runtime that a start would open, why it is chosen, and which stores it would have. */
export async function expectedOpening(
  request: Request,
  packageFolder: string,
  external?: Discovery,
) {
  await requireUsablePlacement(request, packageFolder);
  const { description, choice } = await expectedRuntime(request.place);
  return {
    description,
    choice,
    available: await expectedStores(description, request, packageFolder, external),
  };
}

export type OpeningContext = { packageFolder: string; eventLog: EventLog; signal: AbortSignal };

/** The context of a campaign or an audit that holds its lease. */
export interface Opened extends OpeningContext {
  plugins: readonly LoadedPlugin[];
  lease: Lease;
  python: PythonContext;
  /** Messages on what could not be removed. */
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
  await requireUsablePlacement(request, packageFolder);
  if (request.start.strict) await requireFitMachine(request.place.runtime, packageFolder);
  for (const notice of request.notices) eventLog.warn(notice);
  for (const line of await removeLeftovers()) eventLog.warn(line);
  // The report needs Python, which must not be found missing after hours of measuring.
  await ensurePythonEnvironment(packageFolder, (text) => eventLog.setUp(text), signal);
  const release = request.start.allowParallel ? async () => {} : await acquireLock(name);
  try {
    const lease = await Lease.open(name);
    const python = { packageFolder, signal, holdProcess: (pid: number) => lease.holdProcess(pid) };
    try {
      const plugins = await withTraceFile(context.plugins, request.load.trace, lease.workFolder);
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
  requested: Parameters<typeof ensureVersions>[0],
  opened: Opened,
  keepsAddresses: boolean,
  work: (openedRuntime: OpenedRuntime) => Promise<Value>,
): Promise<Value> {
  const { packageFolder, eventLog, signal, lease, python, left } = opened;
  const onSetupStep = (text: string) => eventLog.setUp(text);
  const versions = await ensureVersions(requested, {
    signal,
    holdProcess: python.holdProcess,
    onSetupStep,
  });

  // This process may die while the runtime opens, and what is left must be found again.
  if (Object.keys(request.place.access).length > 0)
    await lease.update({ access: request.place.access });
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
    const openedLate = await opening.catch(() => undefined);
    await openedLate?.runtime.close();
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
      // The report is made even if something is left, e.g. on a machine that is gone.
      runtime.close().catch((error) => {
        left.push(messageOf(error));
        eventLog.warn(messageOf(error));
      }),
    );
  }
}

/** The exit code of a campaign or an audit, which says where something could not be removed. */
export const endCode = (code: ExitCode, { left }: Pick<Opened, "left">): ExitCode =>
  code === EXIT.done && left.length > 0 ? EXIT.environment : code;
