import { mkdtemp, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { execa } from "execa";
import type { z } from "zod";
import {
  BenchError,
  EXIT,
  type ExitCode,
  environmentError,
  lastLine,
  messageOf,
} from "../../contract/errors.js";
import { capturePython, PYTHON, reportCommand } from "../../runtimes/local/python-environment.js";
import { parseJson } from "../files/json.js";

const CODES: readonly number[] = Object.values(EXIT);
const isExitCode = (code: number | undefined): code is ExitCode => code !== undefined && CODES.includes(code);

/**
 * Runs a command of the report with this process's own streams. It uses the exit codes of all programs.
 * @throws BenchError when it cannot be started, or ends with another code
 */
export async function runPython(
  packageFolder: string,
  name: string,
  args: readonly string[],
): Promise<ExitCode> {
  const running = execa(PYTHON, reportCommand(packageFolder, name, args), {
    reject: false,
    stdio: "inherit",
  });
  const { exitCode, signal, code } = await running;
  if (isExitCode(exitCode)) return exitCode;
  if (code === "ENOENT")
    throw new BenchError("python3 was not found on PATH: install Python 3.11", EXIT.environment);
  throw new BenchError(`${name} ended with ${exitCode ?? signal ?? code}`, EXIT.defect);
}

/** Where and how a campaign runs Python programs. */
export interface PythonContext {
  packageFolder: string;
  /** Ends the program. */
  signal: AbortSignal;
  /** Records the process, so that the next start can end it if this process dies. */
  holdProcess(pid: number): Promise<void>;
}

/** A Python program failed; the message is the last line of its standard error. */
export class PythonFailed extends Error {
  override readonly name = "PythonFailed";
  readonly exitCode: number | undefined;
  /** The signal that killed it. */
  readonly killedBy: string | undefined;

  constructor(message: string, exitCode: number | undefined, killedBy: string | undefined) {
    super(message);
    this.exitCode = exitCode;
    this.killedBy = killedBy;
  }
}

/**
 * Runs a command of the report.
 * @returns its standard output
 * @throws PythonFailed; the reason of `signal` where that was raised
 */
export async function pythonOutput(
  { packageFolder, signal, holdProcess }: PythonContext,
  name: string,
  args: readonly string[],
): Promise<string> {
  const ended = await capturePython(packageFolder, name, args, { signal, onStarted: holdProcess });
  if (!ended.failed) return ended.stdout;
  signal.throwIfAborted();
  const { stderr, exitCode, signal: killedBy } = ended;
  throw new PythonFailed(lastLine(stderr) ?? `it ended with ${exitCode ?? killedBy}`, exitCode, killedBy);
}

/**
 * Unpacks an archive `NAME.tar.xz`, which holds the folder NAME, beside itself. The folder is there whole, or not at all.
 * @throws environmentError that names the archive
 */
export async function unpackBeside(archive: string): Promise<void> {
  const target = archive.slice(0, -PACKED.length);
  const scratch = await mkdtemp(join(dirname(archive), ".unpacking-"));
  try {
    // Python is needed anyway, and has what not every system has: xz.
    const arguments_ = ["-I", "-m", "tarfile", "-e", archive, scratch];
    const { failed, stderr, shortMessage } = await execa(PYTHON, arguments_, { reject: false });
    if (failed) throw new Error(lastLine(stderr) ?? shortMessage);
    await rename(join(scratch, basename(target)), target);
  } catch (error) {
    throw environmentError(`${archive} cannot be unpacked: ${messageOf(error)}`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** What the name of a packed folder ends with. */
export const PACKED = ".tar.xz";

/**
 * Asks the report a question about numbers, see report/cli/statistics_service.py.
 * @throws BenchError when it gives no such answer
 */
export async function askStatistics<Answer>(
  packageFolder: string,
  question: { question: string; [member: string]: unknown },
  schema: z.ZodType<Answer>,
): Promise<Answer> {
  const { failed, stdout, stderr } = await execa(PYTHON, reportCommand(packageFolder, "statistics", []), {
    input: JSON.stringify(question),
    reject: false,
  });
  const answer = failed ? undefined : parseJson(stdout, schema);
  if (answer !== undefined) return answer;
  throw new BenchError(lastLine(stderr) ?? "the statistics gave no answer", EXIT.defect);
}
