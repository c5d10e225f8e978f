import { readlinkSync } from "node:fs";
import { access, constants, link, readdir, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, isAbsolute, join } from "node:path";
import { z } from "zod";
import { runtimeAccessSchema } from "../../contract/machines.js";
import { CLEAN_COMMAND, runnableIn } from "../../kit/command-text.js";
import { definedOnly } from "../../kit/defined-only.js";
import { environmentError, messageOf } from "../../kit/errors.js";
import { userFolder } from "../../kit/user-folder.js";
import { kernelInstance } from "../../machine/describe-machine.js";
import { endTree } from "../../runtimes/local/process-tree.js";
import { identityOf, startTimeOf } from "../../runtimes/processes.js";
import { makeFolder, parseJson, readOwnFile } from "../files/own-files.js";
import { temporaryName } from "../files/results-folder.js";

/** Where a process id has its meaning. A state folder may be shared by machines and containers. */
const placeSchema = z.strictObject({
  host: z.string(),
  boot: z.string().optional(),
  pid_namespace: z.string().optional(),
});
type Place = z.infer<typeof placeSchema>;

const ownerSchema = z.strictObject({
  pid: z.int(),
  started: z.string(),
  campaign: z.string(),
  place: placeSchema.optional(),
});
type Owner = z.infer<typeof ownerSchema>;

/** The start of the names of work folders. No other folder is ever removed as one. */
export const WORK_FOLDER_PREFIX = "ratelimit-bench-";

export const leaseSchema = z.strictObject({
  owner: ownerSchema,
  runtime: z.string().optional(),
  /** How the machines of the runtime are reached; absent where there is only one. */
  access: runtimeAccessSchema.optional(),
  /** The campaign's folder; absent until it exists. */
  folder: z.string().optional(),
  workFolder: z
    .string()
    .refine((path) => isAbsolute(path) && basename(path).startsWith(WORK_FOLDER_PREFIX)),
  /** Processes on this host; containers have labels instead. */
  processes: z.array(
    z.strictObject({ pid: z.int(), started: z.string(), folder: z.string().optional() }),
  ),
});
export type LeaseFile = z.infer<typeof leaseSchema>;

export const stateFolder = (): string => userFolder(process.env, "XDG_STATE_HOME");

export const leasesFolder = (): string => join(stateFolder(), "leases");

function thisPlace(): Place {
  const boot = kernelInstance();
  let pid_namespace: string | undefined;
  try {
    pid_namespace = readlinkSync("/proc/self/ns/pid");
  } catch {
    // Only Linux has namespaces.
  }
  return definedOnly({ host: hostname(), boot: boot || undefined, pid_namespace });
}

/**
 * Whether a process of that place counts as alive, where the place alone decides; undefined where
 * the process must be looked up.
 */
function aliveByPlace({ host, boot, pid_namespace }: Place): boolean | undefined {
  const ourPlace = thisPlace();
  // The boot is compared first, because a host may change its name.
  if (boot !== undefined && boot === ourPlace.boot)
    return pid_namespace === ourPlace.pid_namespace ? undefined : true;
  if (host !== ourPlace.host) return true;
  // A process of an earlier boot of this host is gone.
  return boot !== undefined && ourPlace.boot !== undefined ? false : undefined;
}

/** Whether an owner is alive. One that cannot be checked from here counts as alive. */
export async function isAlive({ pid, started, place }: Omit<Owner, "campaign">): Promise<boolean> {
  return (place && aliveByPlace(place)) ?? (await startTimeOf(pid)) === started;
}

/** Whether an owner belongs to a host that is given up, and cannot be checked from here. */
export const isGivenUp = ({ place }: Pick<Owner, "place">, gone: string | undefined): boolean =>
  place !== undefined && place.host === gone && aliveByPlace(place) === true;

/** An owner as `process 7`. One that cannot be checked from here has its host and how to give it up. */
function whereText({ pid, place }: Owner): string {
  if (!place || aliveByPlace(place) === undefined) return `process ${pid}`;
  return `process ${pid} on ${place.host}, which cannot be checked from here; if it is gone: ${runnableIn(`${CLEAN_COMMAND} --force ${place.host}`)}`;
}

export async function thisOwner(campaign: string): Promise<Owner> {
  return { ...(await identityOf(process.pid)), campaign, place: thisPlace() };
}

export async function makeStateFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
    await access(folder, constants.W_OK);
  } catch (error) {
    throw environmentError(
      `state folder ${folder} cannot be written (${messageOf(error)}): set XDG_STATE_HOME to one that can`,
      { cause: error },
    );
  }
}

const lockPath = (): string => join(stateFolder(), "lock.json");

/**
 * The lock of a dead campaign; undefined where there is none.
 * @param gone the name of a host that is given up
 */
export async function staleLock(
  gone?: string,
): Promise<{ campaign: string; remove(): Promise<void> } | undefined> {
  const text = readOwnFile(lockPath())?.toString("utf8");
  if (text === undefined) return undefined;
  const holder = parseJson(text, ownerSchema);
  if (holder && !isGivenUp(holder, gone) && (await isAlive(holder))) return undefined;
  return {
    campaign: holder?.campaign ?? "unknown",
    remove: () => removeStaleLock(lockPath(), text),
  };
}

/** Removes a dead owner's lock, unless another campaign has replaced it in the meantime. */
async function removeStaleLock(path: string, staleText: string): Promise<void> {
  const movedPath = `${path}.${process.pid}.dead`;
  try {
    await rename(path, movedPath);
  } catch {
    return;
  }

  const isReplaced = readOwnFile(movedPath)?.toString("utf8") !== staleText;
  if (isReplaced) await link(movedPath, path).catch(() => {});
  await rm(movedPath, { force: true });
}

/** The folder of a campaign as its lease names it; undefined before it has one. */
async function folderOf({ pid, started }: Owner): Promise<string | undefined> {
  const held = (await readLeases()).find(
    ({ lease }) => lease?.owner.pid === pid && lease.owner.started === started,
  );
  return held?.lease?.folder;
}

async function refuseIfOwnerAlive(lock: string): Promise<void> {
  const holder = parseJson(lock, ownerSchema);
  if (!holder || !(await isAlive(holder))) return;
  const folder = await folderOf(holder);
  const inFolder = folder === undefined ? "" : ` in ${folder}`;
  throw environmentError(
    `campaign ${holder.campaign} is running${inFolder} (${whereText(holder)}): wait for it, or use --allow-parallel if its figures do not matter`,
  );
}

/**
 * Checks the lock without taking it.
 * @throws environmentError that names the campaign which holds it
 */
export const refuseIfLocked = async (): Promise<void> =>
  refuseIfOwnerAlive(readOwnFile(lockPath())?.toString("utf8") ?? "");

/**
 * Takes the user's lock, and replaces that of a dead owner.
 * @returns a function that releases the lock
 * @throws environmentError that names the campaign which holds it
 */
export async function acquireLock(campaign: string): Promise<() => Promise<void>> {
  const path = lockPath();
  await makeStateFolder(stateFolder());
  const temporary = join(stateFolder(), temporaryName("lock"));
  await writeFile(temporary, JSON.stringify(await thisOwner(campaign)));
  try {
    for (let attempt = 0; attempt < 5; attempt++) {
      try {
        // A link appears at once with its whole text, so that nobody can read half a lock.
        await link(temporary, path);
        return () => rm(path, { force: true });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST")
          throw environmentError(`${path} cannot be written: ${messageOf(error)}`);
      }
      const text = readOwnFile(path)?.toString("utf8") ?? "";
      await refuseIfOwnerAlive(text);
      await removeStaleLock(path, text);
    }
  } finally {
    await rm(temporary, { force: true });
  }
  throw environmentError(`${path} is taken repeatedly by other campaigns`);
}

/**
 * Ends the processes that a lease lists, except this one. The lease stays, because more than
 * processes may be left.
 */
export async function endListed(path: string): Promise<void> {
  const text = readOwnFile(path)?.toString("utf8");
  const listed = text === undefined ? undefined : parseJson(text, leaseSchema)?.processes;
  await Promise.allSettled((listed ?? []).filter(({ pid }) => pid !== process.pid).map(endTree));
}

export async function readLeases(): Promise<{ path: string; lease: LeaseFile | undefined }[]> {
  const names = (await readdir(leasesFolder()).catch(() => [])).filter((name) =>
    name.endsWith(".json"),
  );
  const read = names.map(async (name) => {
    const path = join(leasesFolder(), name);
    const text = readOwnFile(path)?.toString("utf8");
    // A lease may have been removed since its name was read.
    return text === undefined ? [] : [{ path, lease: parseJson(text, leaseSchema) }];
  });
  return (await Promise.all(read)).flat();
}

/**
 * Refuses a folder to which another campaign writes, even with --allow-parallel.
 * @throws environmentError that names the other campaign
 */
export async function refuseIfInUse(folder: string): Promise<void> {
  for (const { lease } of await readLeases()) {
    if (lease?.folder !== folder || lease.owner.pid === process.pid) continue;
    if (!(await isAlive(lease.owner))) continue;
    throw environmentError(
      `campaign ${lease.owner.campaign} is running in ${folder} (${whereText(lease.owner)})`,
    );
  }
}
