import { accessSync, constants, lstatSync, mkdirSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type { Environment } from "./env.js";
import { environmentError, messageOf } from "./errors.js";

/** The folders below the home folder, which count where the variable is not set. */
const BASES = { XDG_STATE_HOME: [".local", "state"], XDG_CACHE_HOME: [".cache"] } as const;

/**
 * This user's folder for this project, by the XDG Base Directory rules. A relative path counts as
 * unset. A user without a home that can be written gets one below the folder for temporary files.
 * @throws environmentError where somebody else has made that folder
 */
export function userFolder(env: Environment, variable: keyof typeof BASES): string {
  const named = env[variable] ?? "";
  if (isAbsolute(named)) return join(named, "ratelimit-bench");
  const below = (home: string) => join(home, ...BASES[variable], "ratelimit-bench");
  const home = homeOrNone();
  return below(home !== undefined && canBeMade(below(home)) ? home : temporaryHome(variable));
}

function homeOrNone(): string | undefined {
  try {
    const home = homedir();
    return isAbsolute(home) ? home : undefined;
  } catch {
    // Neither HOME nor the system's list of users names one.
    return undefined;
  }
}

/** Whether this user may write the folder, or the nearest one above it that exists. */
function canBeMade(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return isMissing && dirname(folder) !== folder && canBeMade(dirname(folder));
  }
}

/** Others may write the folder for temporary files, so a folder or link of theirs is never used. */
function temporaryHome(variable: string): string {
  const uid = process.getuid?.();
  const folder = join(tmpdir(), `.ratelimit-bench-home-${uid}`);
  const unusable = (reason: string, cause?: unknown) =>
    environmentError(
      `this user has no home, and ${folder} cannot stand for it (${reason}): set ${variable} to a folder that can be written`,
      { cause },
    );

  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw unusable(messageOf(error), error);
  }

  const status = lstatSync(folder);
  if (!status.isDirectory() || status.uid !== uid || (status.mode & 0o022) !== 0)
    throw unusable("it is not this user's alone");

  return folder;
}
