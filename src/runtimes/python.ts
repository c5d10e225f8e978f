import { join } from "node:path";
import { execa } from "execa";
import { environmentError } from "../contract/errors.js";

/**
 * Folder of the Python environment that builds reports and holds the embedded store; undefined where it was not made
 * yet. Which one it is, is decided in report/cli/environment.py alone.
 * @throws environmentError when there is no Python, with the mend
 */
export const findPythonEnvironment = (packageFolder: string): Promise<string | undefined> =>
  asked(packageFolder, ["--find"]);

/**
 * The same, made where it is missing: that takes a minute, once, and is said.
 * @throws environmentError when it cannot be made, with the mend
 */
export async function ensurePythonEnvironment(
  packageFolder: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  const found = await findPythonEnvironment(packageFolder);
  if (found) return found;
  say("setting up the Python environment for reports: once, about 300 MB");
  return asked(packageFolder, [], signal);
}

async function asked(
  packageFolder: string,
  parameters: readonly string[],
  signal?: AbortSignal,
): Promise<string | undefined> {
  const program = join(packageFolder, "report");
  const ended = await execa("python3", [program, "environment", ...parameters], {
    stdin: "ignore",
    reject: false,
    ...(signal ? { cancelSignal: signal } : {}),
  });
  signal?.throwIfAborted();
  if (ended.code === "ENOENT") throw environmentError("Python is missing: install version 3.11 or newer");
  if (ended.failed) throw environmentError(ended.stderr.trim().split("\n").at(-1) || "Python does not work");
  return ended.stdout.trim() || undefined;
}
