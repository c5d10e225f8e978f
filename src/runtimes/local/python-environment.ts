import { join } from "node:path";
import { execa } from "execa";
import { definedOnly } from "../../kit/defined-only.js";
import { environmentError, lastLine } from "../../kit/errors.js";

/** The interpreter that starts every Python program of the project. */
export const PYTHON = "python3";

/** Python is isolated: variables of another one, such as PYTHONHOME, would break the report. */
export const reportCommand = (
  packageFolder: string,
  name: string,
  args: readonly string[],
): string[] => ["-I", join(packageFolder, "report"), name, ...args];

interface PythonOptions {
  signal?: AbortSignal;
  /** Gets the process id as soon as the program runs. */
  onStarted?(pid: number): Promise<void>;
}

/** Runs a command of the report to its end and captures what it prints. */
export async function capturePython(
  packageFolder: string,
  name: string,
  args: readonly string[],
  { signal, onStarted }: PythonOptions = {},
) {
  const running = execa(PYTHON, reportCommand(packageFolder, name, args), {
    stdin: "ignore",
    reject: false,
    ...definedOnly({ cancelSignal: signal }),
  });
  if (running.pid !== undefined) await onStarted?.(running.pid);
  return running;
}

/** What a start does first where there is no environment yet. */
export const PYTHON_SETUP = "setting up the Python environment for reports: once, about 400 MB";

/**
 * It builds reports and holds the embedded store; undefined where there is none yet, and one would
 * be made. Only report/environment/virtual_environment.py decides. @throws environmentError where
 * none can be made, with the fix
 */
export const findPythonEnvironment = (packageFolder: string): Promise<string | undefined> =>
  pythonEnvironment(packageFolder, ["--find"]);

/** The same; a missing one is set up, which takes a minute, once. @throws environmentError */
export async function ensurePythonEnvironment(
  packageFolder: string,
  onSetupStep: (text: string) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  const environment = await findPythonEnvironment(packageFolder);
  if (environment) return environment;
  onSetupStep(PYTHON_SETUP);
  return pythonEnvironment(packageFolder, [], signal);
}

async function pythonEnvironment(
  packageFolder: string,
  args: readonly string[],
  signal?: AbortSignal,
) {
  const ended = await capturePython(packageFolder, "environment", args, signal ? { signal } : {});
  signal?.throwIfAborted();
  if (ended.code === "ENOENT")
    throw environmentError("Python is missing: install version 3.11 or newer");
  if (ended.failed) throw environmentError(lastLine(ended.stderr) ?? "Python does not work");
  return ended.stdout.trim() || undefined;
}
