import { lstat, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { CLEAN_COMMAND, runnableIn } from "../../kit/command-text.js";
import { environmentError, messageOf } from "../../kit/errors.js";
import { runtimesFor } from "../../runtimes/index.js";
import { endTree } from "../../runtimes/local/process-tree.js";
import { removeSocketsOf, startTimeOf } from "../../runtimes/processes.js";
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
 * The age from which on a temporary file was abandoned, even if its process id is in use. Writing a
 * state file takes milliseconds.
 */
const MAX_WRITE_MS = 60_000;

/**
 * The leftovers of dead campaigns, in the order of removal. Nothing that is alive, or not marked as
 * ours, is among them.
 * @param everywhere whether runtimes that no lease names, and damaged leases, count too
 * @param gone the name of a host that is given up, of which only leases are on this machine
 */
export async function findLeftovers(everywhere: boolean, gone?: string): Promise<Leftover[]> {
  const deadLeases: { path: string; lease: LeaseFile }[] = [];
  const leftovers: Leftover[] = [];
  for (const { path, lease } of await readLeases()) {
    const remove = () => rm(path, { force: true });
    if (!lease) {
      if (everywhere) leftovers.push({ what: `the damaged lease ${path}`, remove });
      continue;
    }
    if (isGivenUp(lease.owner, gone)) {
      const what = `the lease of campaign ${lease.owner.campaign} on ${gone}`;
      leftovers.push({ what, remove });
      continue;
    }
    if (!(await isAlive(lease.owner))) deadLeases.push({ path, lease });
  }
  const leftoversByLease = await Promise.all(
    deadLeases.map(({ path, lease }) => leftoversOf(path, lease)),
  );
  leftovers.push(...leftoversByLease.flat());

  // A campaign without a runtime in its lease may have died while it opened one. Other machines are
  // only asked where a lease names them, because they may be slow to answer.
  const isUsed = ({ id, reaches }: RuntimeDescription) =>
    everywhere ||
    (!reaches &&
      deadLeases.some(({ lease }) => lease.runtime === undefined || lease.runtime === id));
  for (const runtime of runtimesFor({}).filter(isUsed)) {
    leftovers.push(...(await runtime.leftovers(isAlive)));
  }
  for (const { access = {} } of deadLeases.map(({ lease }) => lease)) {
    for (const runtime of runtimesFor(access)) {
      const { reaches } = runtime;
      if (reaches && access[reaches]) leftovers.push(...(await runtime.leftovers(isAlive)));
    }
  }

  const lock = await staleLock(gone);
  if (lock) leftovers.push({ what: `the lock of campaign ${lock.campaign}`, remove: lock.remove });
  leftovers.push(...(await unfinishedFiles()), ...(await unfinishedInstallations()));

  // A cluster may be both the current one and that of a lease, so leftovers may appear twice.
  return [...new Map(leftovers.map((leftover) => [leftover.what, leftover])).values()];
}

/** The leftovers of a dead campaign, of which the lease comes last. */
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
        await endTree(process);
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
      // The lease goes last, because the next start needs it to find what is left.
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

/** The role of a part by its folder, which is named like `server-Xa3bQ1`. */
const roleOf = (folder: string): string => basename(folder).replace(/-[^-]*$/, "");

/** The temporary files of the state folder whose writer was killed. */
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

/**
 * Removes leftovers of dead campaigns. @returns one line for each
 * @throws environmentError that lists what is left
 */
export async function removeLeftovers(): Promise<string[]> {
  const damaged = (await readLeases()).filter(({ lease }) => !lease);
  return [
    ...(await requireRemoved(await findLeftovers(false))),
    ...damaged.map(
      ({ path }) =>
        `the lease ${path} is damaged: what it lists is not known; remove it with: ${runnableIn(CLEAN_COMMAND)}`,
    ),
  ];
}

/** Removes all leftovers. @returns one line for each @throws environmentError for what is left */
export async function requireRemoved(leftovers: readonly Leftover[]): Promise<string[]> {
  const { removed, failed } = await removeEach(leftovers);
  if (failed.length === 0) return removed;
  throw environmentError(
    `what a dead campaign left behind cannot be removed: ${failed.join("; ")}`,
  );
}
