import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { environmentError } from "../../../contract/errors.js";
import {
  type PackageVersion,
  type VersionFacts,
  versionFactsSchema,
  versionFolderName,
  versionsFolder,
} from "../../../contract/library-versions.js";
import type { Leftover } from "../../../runtimes/types.js";
import { isAlive, thisOwner } from "../../ownership/state-folder.js";

/** In the folder of a version: what was installed. */
export const FACTS_FILE = "installed.json";

const TEMPORARY = /^\.installing-(?<pid>\d+)-(?<started>[^-]*)-/;

/** How the names of this process's unfinished folders begin. */
export async function temporaryPrefix(): Promise<string> {
  const { pid, started } = await thisOwner("");
  return `.installing-${pid}-${encodeURIComponent(started).replaceAll("-", "%2D")}-`;
}

/**
 * What lies in a version's folder; undefined where there is none.
 * @throws environmentError for a folder that no installation of ours has left
 */
export async function installed(asked: PackageVersion, cache: string): Promise<VersionFacts | undefined> {
  const folder = join(cache, versionFolderName(asked));
  try {
    const facts = versionFactsSchema.parse(JSON.parse(await readFile(join(folder, FACTS_FILE), "utf8")));
    if (facts.name === asked.name && facts.version === asked.version) return facts;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT" && !existsSync(folder)) return undefined;
  }
  throw environmentError(`${folder} is damaged: remove it, and it is installed again`);
}

/** Folders of installations whose process was killed. */
export async function unfinishedInstallations(): Promise<Leftover[]> {
  const cache = versionsFolder(process.env);
  const found: Leftover[] = [];
  for (const name of await readdir(cache).catch(() => [])) {
    const { pid, started } = TEMPORARY.exec(name)?.groups ?? {};
    if (pid === undefined || started === undefined) continue;
    if (await isAlive({ pid: Number(pid), started: decodeURIComponent(started) })) continue;
    const path = join(cache, name);
    found.push({
      what: `the unfinished installation ${path}`,
      remove: () => rm(path, { recursive: true, force: true }),
    });
  }
  return found;
}
