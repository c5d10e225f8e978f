import { randomBytes } from "node:crypto";
import {
  access,
  constants,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { LATEST } from "../../contract/report-commands.js";
import { type BenchError, environmentError, messageOf } from "../../kit/errors.js";
import { makeFolder, nearestFolder, requireRealFileSystem } from "./own-files.js";

/** The time as `YYYYMMDD_HHMMSS` in UTC, so that names sort by start in every time zone. */
export const timestamp = (date: Date): string =>
  date.toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "_");

/**
 * Makes the folder of a new campaign, whose name is the campaign's id.
 * @throws environmentError where the root cannot be written
 */
export async function createCampaignFolder(root: string, now: Date): Promise<string> {
  await requireResultsRoot(root);
  const absolute = resolve(root);
  try {
    await makeFolder(absolute);
    for (let offset = 0; ; offset++) {
      const folder = join(absolute, timestamp(new Date(now.getTime() + 1000 * offset)));
      try {
        await mkdir(folder);
        // The root may be a link.
        return await realpath(folder);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST" || offset > 60) throw error;
      }
    }
  } catch (error) {
    throw unwritable(absolute, error);
  }
}

/** @throws environmentError where the results root cannot be written */
export async function requireResultsRoot(root: string): Promise<void> {
  const absolute = resolve(root);
  try {
    const nearest = await nearestFolder(absolute);
    await requireRealFileSystem(nearest);
    await access(nearest, constants.W_OK);
  } catch (error) {
    throw unwritable(absolute, error);
  }
  await refuseForeignLatest(absolute);
}

const unwritable = (root: string, error: unknown): BenchError =>
  environmentError(
    `results folder ${root} cannot be written: ${messageOf(error)}; name another one (--output, OUTPUT_DIR)`,
    { cause: error },
  );

/** @throws environmentError for a `latest` that leads out of the root: it is not ours to replace */
async function refuseForeignLatest(root: string): Promise<void> {
  const link = join(root, LATEST);
  const target = await readlink(link).catch(() => undefined);
  if (target === undefined || dirname(resolve(root, target)) === root) return;
  throw environmentError(`${link} leads out of the results folder, to ${target}: move it away`);
}

/** Matches `.name.<…>.<number>.tmp`, which `writeAtomically` and the report name unfinished files. */
const TEMPORARY = /^\..+\.[0-9a-f]+\.tmp$/;

/** Removes the files that interrupted writes left in and beside a folder. @returns their names */
export async function removeTemporaries(campaignFolder: string): Promise<string[]> {
  const places = [
    { folder: campaignFolder, pattern: TEMPORARY },
    { folder: join(campaignFolder, "report"), pattern: TEMPORARY },
    { folder: dirname(campaignFolder), pattern: /^latest\.\d+\.tmp$/ },
  ];
  const removed: string[] = [];
  for (const { folder, pattern } of places) {
    for (const name of await readdir(folder).catch(() => [])) {
      if (!pattern.test(name)) continue;
      await rm(join(folder, name), { force: true });
      removed.push(name);
    }
  }
  return removed.sort();
}

/**
 * A unique name with the process id of its writer, so that the file of a dead writer can be removed.
 */
export const temporaryName = (name: string): string =>
  `${name}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;

/** The process id in a name of `temporaryName`; undefined for any other name. */
export function writerPid(temporaryName: string): number | undefined {
  const pid = /\.(\d+)\.[0-9a-f]{8}\.tmp$/.exec(temporaryName)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/**
 * Writes a whole file or nothing, by a temporary file, fsync and rename. An older file stays intact
 * where that fails.
 */
export async function writeAtomically(path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), temporaryName(`.${basename(path)}`));
  try {
    const file = await open(temporary, "wx");
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Points `latest` in the results root to a campaign.
 * @throws environmentError where `latest` is not a link
 */
export async function updateLatestLink(campaignFolder: string): Promise<void> {
  const link = join(dirname(campaignFolder), LATEST);
  const existing = await lstat(link).catch(() => undefined);
  if (existing && !existing.isSymbolicLink()) {
    throw environmentError(
      `${link} is not a link: move it away, so that it can point to the newest campaign`,
    );
  }
  const temporary = `${link}.${process.pid}.tmp`;
  await symlink(basename(campaignFolder), temporary);
  await rename(temporary, link);
}

/**
 * @param name the variable or flag that names the file
 * @throws environmentError where the copy of the result could not be written after the last run
 */
export async function requireWritable(
  outputFile: string | undefined,
  name = "OUTPUT_FILE",
): Promise<void> {
  if (outputFile === undefined) return;
  try {
    const folder = dirname(resolve(outputFile));
    await access(folder, constants.W_OK);
    await requireRealFileSystem(folder);
    const existing = await lstat(outputFile).catch(() => undefined);
    // The result would replace a device such as /dev/null.
    if (existing && !existing.isFile()) throw new Error("it is not a file");
  } catch (cause) {
    throw environmentError(`${name} ${outputFile} cannot be written: ${messageOf(cause)}`, {
      cause,
    });
  }
}
