import { lstat, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { environmentError, messageOf } from "../../kit/errors.js";
import { runtimesFor } from "../../runtimes/index.js";
import { endProcess, removeSocketsOf, startTimeOf } from "../../runtimes/processes.js";
import type { Leftover, RuntimeDescription } from "../../runtimes/runtime-types.js";
import { writerPid } from "../files/results-folder.js";
import {
  isAlive,
  isGivenUp,
  type LeaseFile,
  leasesFolder,
  readLeases,
  staleLock,
  stateFolder,
} from "../ownership/state-folder.js";
import { unfinishedInstallations } from "./versions.js";

/**
 * Writing a state file takes milliseconds. An older temporary file was abandoned, even if its
 * process id is in use.
 */
const MAX_WRITE_MS = 60_000;

/**
 * What dead campaigns left, in the order of removal; never what is alive, or not marked as ours.
 * @param everywhere also runtimes that no lease names, and damaged leases @param gone a host given
 * up: only leases are here
 */
export async function findLeftovers(everywhere: boolean, gone?: string): Promise<Leftover[]> {
  const leases: { path: string; lease: LeaseFile }[] = [];
  const found: Leftover[][] = [];
  for (const { path, lease } of await readLeases()) {
    const remove = () => rm(path, { force: true });
    if (!lease) found.push(everywhere ? [{ what: `the damaged lease ${path}`, remove }] : []);
    else if (isGivenUp(lease.owner, gone))
      found.push([{ what: `the lease of campaign ${lease.owner.campaign} on ${gone}`, remove }]);
    else if (!(await isAlive(lease.owner))) leases.push({ path, lease });
  }
  found.push(...(await Promise.all(leases.map(({ path, lease }) => leftoversOf(path, lease)))));
  // A campaign without a runtime in its lease may have died while it opened one. Other machines are
  // only asked where a lease names them: they may be of no concern to this campaign, and slow to
  // answer.
  const isUsed = ({ id, reaches }: RuntimeDescription) =>
    everywhere ||
    (!reaches && leases.some(({ lease }) => lease.runtime === undefined || lease.runtime === id));
  for (const runtime of runtimesFor({}).filter(isUsed))
    found.push(await runtime.leftovers(isAlive));
  for (const { access = {} } of leases.map(({ lease }) => lease))
    for (const { reaches, leftovers } of runtimesFor(access))
      if (reaches && access[reaches]) found.push(await leftovers(isAlive));
  const lock = await staleLock(gone);
  if (lock) found.push([{ what: `the lock of campaign ${lock.campaign}`, remove: lock.remove }]);
  found.push(await unfinishedFiles(), await unfinishedInstallations());
  // A cluster may be both the current one and that of a lease.
  return [...new Map(found.flat().map((leftover) => [leftover.what, leftover])).values()];
}

async function leftoversOf(
  path: string,
  { owner, processes, workFolder }: LeaseFile,
): Promise<Leftover[]> {
  const ofCampaign = `of campaign ${owner.campaign}, which had died`;
  const isRunning = async ({ pid, started }: (typeof processes)[number]) =>
    (await startTimeOf(pid)) === started;

  const leftovers: Leftover[] = [];
  for (const process of processes.toReversed()) {
    if (!(await isRunning(process))) continue;
    const { pid, folder } = process;
    const role = folder ? ` (${roleOf(folder)})` : "";
    leftovers.push({
      what: `the process ${pid}${role} ${ofCampaign}`,
      async remove() {
        await endProcess(process);
      },
    });
  }

  leftovers.push({
    what: `the folder ${workFolder} ${ofCampaign}`,
    async remove() {
      for (const process of processes) {
        const { pid } = process;
        if (await isRunning(process)) throw new Error(`the process ${pid} is still running`);
        // A process that has this id by now uses its sockets.
        if ((await startTimeOf(pid)) === undefined) await removeSocketsOf(pid);
      }
      await removeWorkFolder(workFolder);
      // The lease goes last: the next start needs it to find what is left.
      await rm(path, { force: true });
    },
  });
  return leftovers;
}

/** @throws Error for a folder that is not where such folders are made, or that is a link */
async function removeWorkFolder(folder: string): Promise<void> {
  const stats = await lstat(folder).catch((error: NodeJS.ErrnoException) => {
    if (["ENOENT", "ENOTDIR"].includes(error.code ?? "")) return undefined;
    throw error;
  });
  if (!stats) return;

  const parents = [tmpdir(), "/tmp", "/var/tmp"].map((parent) => resolve(parent));
  if (!parents.includes(dirname(folder)))
    throw new Error(
      `it is not in the folder for temporary files: if it was, set TMPDIR=${dirname(folder)}`,
    );
  if (!stats.isDirectory()) throw new Error("it is not a folder");
  await rm(folder, { recursive: true, force: true });
}

/** The folder of a part is named after its role: `server-Xa3bQ1`. */
const roleOf = (folder: string): string => basename(folder).replace(/-[^-]*$/, "");

/** Temporary files of the state folder whose writer was killed. */
async function unfinishedFiles(): Promise<Leftover[]> {
  const leftovers: Leftover[] = [];
  for (const folder of [stateFolder(), leasesFolder()]) {
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
      const writer = writerPid(name);
      const isDead = writer !== undefined && (await startTimeOf(writer)) === undefined;
      if (!/\.(tmp|dead)$/.test(name) || (!isDead && Date.now() - mtimeMs < MAX_WRITE_MS)) continue;
      leftovers.push({
        what: `the unfinished file ${path}`,
        remove: () => rm(path, { force: true }),
      });
    }
  }
  return leftovers;
}

/** Removes each leftover that can be removed. @returns one line for each, by success */
export async function removeEach(
  leftovers: readonly Leftover[],
): Promise<{ removed: string[]; failed: string[] }> {
  const removed: string[] = [];
  const failed: string[] = [];
  for (const { what, remove } of leftovers) {
    try {
      await remove();
      removed.push(`removed ${what}`);
    } catch (error) {
      failed.push(`${what}: ${messageOf(error)}`);
    }
  }
  return { removed, failed };
}

/** One line for each leftover that was removed. @throws environmentError listing what is left */
export async function removeLeftovers(): Promise<string[]> {
  const damaged = (await readLeases()).filter(({ lease }) => !lease);
  return [
    ...(await requireRemoved(await findLeftovers(false))),
    ...damaged.map(
      ({ path }) =>
        `the lease ${path} is damaged: what it lists is not known; ratelimit-bench clean removes it`,
    ),
  ];
}

export async function requireRemoved(leftovers: readonly Leftover[]): Promise<string[]> {
  const { removed, failed } = await removeEach(leftovers);
  if (failed.length === 0) return removed;
  throw environmentError(
    `what a dead campaign left behind cannot be removed: ${failed.join("; ")}`,
  );
}
