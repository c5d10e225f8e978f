import { join } from "node:path";
import { execa } from "execa";
import { environmentError } from "../../contract/errors.js";

/**
 * Folder of the Python environment, which builds reports and holds the embedded store; undefined before it is set up.
 * Only report/cli/environment.py decides which folder it is.
 * @throws environmentError with the fix when Python is missing
 */
export const findPythonEnvironment = (packageFolder: string): Promise<string | undefined> =>
  runScript(packageFolder, ["--find"]);

/**
 * Like `findPythonEnvironment`, but sets it up where it is missing, which takes a minute.
 * @throws environmentError with the fix when the set-up fails
 */
export async function ensurePythonEnvironment(
  packageFolder: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  const found = await findPythonEnvironment(packageFolder);
  if (found) return found;
  say("setting up the Python environment for reports: once, about 300 MB");
  return runScript(packageFolder, [], signal);
}

async function runScript(
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
