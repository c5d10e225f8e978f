import {
  type PackageVersion,
  type VersionFacts,
  versionsFolder,
} from "../../../contract/library-versions.js";
import type { VersionPlace } from "../../../runtimes/types.js";
import { installed } from "./folder.js";
import { type Installing, install } from "./install.js";

/** A line for each of these versions that a campaign would install first. */
export async function installationNotes(wanted: readonly PackageVersion[]): Promise<string[]> {
  const folder = versionsFolder(process.env);
  const notes: string[] = [];
  for (const asked of wanted) {
    if (!(await installed(asked, folder)))
      notes.push(`${asked.name} ${asked.version} is not there yet: it is installed into ${folder} first`);
  }
  return notes;
}

/**
 * Where these versions are on this machine: installed where they are missing, each once.
 * @throws environmentError when one cannot be had
 */
export async function ensureVersions(
  wanted: readonly PackageVersion[],
  installing: Installing & { say(text: string): void },
): Promise<VersionPlace | undefined> {
  if (wanted.length === 0) return undefined;
  const folder = versionsFolder(process.env);
  const facts: VersionFacts[] = [];
  for (const asked of wanted) {
    let found = await installed(asked, folder);
    if (!found) {
      installing.say(`installing ${asked.name} ${asked.version} into ${folder}: once`);
      await install(asked, folder, installing);
      found = await installed(asked, folder);
    }
    if (!found) throw new Error(`${asked.name} ${asked.version} was installed and is gone`);
    facts.push(found);
  }
  return { folder, facts };
}
