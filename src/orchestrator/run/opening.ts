import { EXIT, type ExitCode, messageOf } from "../../contract/errors.js";
import type { Discovery } from "../../contract/store.js";
import type { LoadedPlugin } from "../../plugins/load.js";
import { ensurePythonEnvironment } from "../../runtimes/local/python-environment.js";
import type { InstalledVersions, Runtime } from "../../runtimes/types.js";
import type { Availability } from "../../targets/resolve.js";
import { requireResultsRoot, timestamp } from "../files/results-folder.js";
import { requireFitMachine } from "../host/doctor.js";
import { removeLeftovers } from "../host/leftovers.js";
import type { PythonContext } from "../host/python.js";
import { ensureVersions } from "../host/versions.js";
import { abortable } from "../ownership/abort.js";
import { Lease } from "../ownership/lease.js";
import { acquireLock } from "../ownership/state-folder.js";
import type { Request } from "../request/request.js";
import type { EventLog } from "../ui/event-log.js";
import { availability, openRuntime, requireUsablePlacement } from "./open-runtime.js";
import { withTraceFile } from "./plugins.js";

export interface OpeningContext {
  packageFolder: string;
  eventLog: EventLog;
  signal: AbortSignal;
}

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
 * Installs versions and opens the runtime, which is closed with all parts whatever happens in `work`.
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
  const versions = await ensureVersions(wanted, { signal, holdProcess: python.holdProcess, onSetupStep });
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
    const available = (external?: Discovery) => (id: string) => availability(request, runtime, external, id);
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
