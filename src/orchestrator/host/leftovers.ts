import { readdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { environmentError, messageOf } from "../../contract/errors.js";
import { runtimes } from "../../runtimes/index.js";
import { endProcess, removeSocketsOf, startTimeOf } from "../../runtimes/processes.js";
import type { Leftover } from "../../runtimes/types.js";
import { writerPid } from "../files/results-folder.js";
import {
  isAlive,
  type LeaseFile,
  leasesFolder,
  readLeases,
  staleLock,
  stateFolder,
} from "../ownership/state-folder.js";
import { unfinishedInstallations } from "./versions.js";

/** Writing a file of the state folder takes milliseconds: what is older was given up, whoever has its id now. */
const WRITTEN_WITHIN_MS = 60_000;

/**
 * What campaigns whose process died left behind, in the order in which it can go. A live campaign's things, and
 * things that no lease and no label says are ours, are never among them.
 * @param everywhere also looks at runtimes that no lease tells of
 */
export async function findLeftovers(everywhere: boolean): Promise<Leftover[]> {
  const leases: Awaited<ReturnType<typeof readLeases>> = [];
  for (const each of await readLeases()) if (!(await isAlive(each.lease.owner))) leases.push(each);
  const found = await Promise.all(leases.map(({ path, lease }) => leftoversOf(path, lease)));
  // One that died before it had opened a runtime may have been at it.
  const all = everywhere || leases.some(({ lease }) => lease.runtime === undefined);
  const used = runtimes.filter(({ id }) => all || leases.some(({ lease }) => lease.runtime === id));
  for (const runtime of used) found.push(await runtime.leftovers(isAlive));
  const lock = await staleLock();
  if (lock) found.push([{ what: `the lock of campaign ${lock.campaign}`, remove: lock.remove }]);
  found.push(await unfinishedFiles(), await unfinishedInstallations());
  return found.flat();
}

async function leftoversOf(path: string, { owner, processes, workFolder }: LeaseFile): Promise<Leftover[]> {
  const of = `of campaign ${owner.campaign}, which had died`;
  const isThere = async ({ pid, started }: (typeof processes)[number]) =>
    (await startTimeOf(pid)) === started;
  const living = [];
  for (const each of [...processes].reverse()) if (await isThere(each)) living.push(each);
  return [
    ...living.map((each) => ({
      what: `the process ${each.pid}${each.folder ? ` (${roleOf(each.folder)})` : ""} ${of}`,
      async remove() {
        if (await isThere(each)) await endProcess(each.pid);
      },
    })),
    {
      what: `the folder ${workFolder} ${of}`,
      async remove() {
        for (const each of processes) {
          if (await isThere(each)) throw new Error(`the process ${each.pid} still lives`);
          await removeSocketsOf(each.pid);
        }
        await rm(workFolder, { recursive: true, force: true });
        // Last: as long as anything is left, the next start must know of it.
        await rm(path, { force: true });
      },
    },
  ];
}

/** Parts have folders that are named after them: `server-Xa3bQ1`. */
const roleOf = (folder: string): string => basename(folder).replace(/-[^-]*$/, "");

/** Temporary files of the state folder whose writer was killed. */
async function unfinishedFiles(): Promise<Leftover[]> {
  const found: Leftover[] = [];
  for (const folder of [stateFolder(), leasesFolder()]) {
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
      const writer = writerPid(name);
      const isDead = writer !== undefined && (await startTimeOf(writer)) === undefined;
      if (!/\.(tmp|dead)$/.test(name) || (!isDead && Date.now() - mtimeMs < WRITTEN_WITHIN_MS)) continue;
      found.push({ what: `the unfinished file ${path}`, remove: () => rm(path, { force: true }) });
    }
  }
  return found;
}

/** Removes what can be removed. @returns one line for each thing that went, and for each that is still there */
export async function removeEach(things: readonly Leftover[]): Promise<{ gone: string[]; left: string[] }> {
  const gone: string[] = [];
  const left: string[] = [];
  for (const { what, remove } of things) {
    try {
      await remove();
      gone.push(`removed ${what}`);
    } catch (error) {
      left.push(`${what}: ${messageOf(error)}`);
    }
  }
  return { gone, left };
}

/**
 * Ends and removes what campaigns whose process died left behind.
 * @returns one line for each thing
 * @throws environmentError listing what could not be removed: it would disturb what is measured
 */
export async function removeLeftovers(): Promise<string[]> {
  return requireRemoved(await findLeftovers(false));
}

/** Removes all of them. @throws environmentError as `reclaimOrphans` */
export async function requireRemoved(things: readonly Leftover[]): Promise<string[]> {
  const { gone, left } = await removeEach(things);
  if (left.length === 0) return gone;
  throw environmentError(`left by a campaign that had died, and not to be removed: ${left.join("; ")}`);
}
