import { execa } from "execa";
import type { z } from "zod";
import { BenchError, EXIT, type ExitCode, lastLine } from "../../kit/errors.js";
import { capturePython, PYTHON, reportCommand } from "../../runtimes/local/python-environment.js";
import { parseJson } from "../files/own-files.js";

const CODES: readonly number[] = Object.values(EXIT);
const isExitCode = (code: number | undefined): code is ExitCode =>
  code !== undefined && CODES.includes(code);

/** Runs a command of the report with this process's streams. @throws BenchError with its exit code */
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

/**
 * The lines that a command of the report prints, as they come.
 * @throws BenchError with its exit code
 */
export async function* pythonLines(
  packageFolder: string,
  name: string,
  args: readonly string[],
): AsyncGenerator<string> {
  const running = execa(PYTHON, reportCommand(packageFolder, name, args), {
    reject: false,
    buffer: { stdout: false, stderr: true },
  });
  yield* running;

  const { exitCode, signal, code, stderr } = await running;
  if (exitCode === EXIT.done) return;
  const reason = lastLine(stderr)?.replace(`${name}: `, "");
  const text = reason ?? `${name} ended with ${exitCode ?? signal ?? code}`;
  throw new BenchError(text, isExitCode(exitCode) ? exitCode : EXIT.defect);
}

export interface PythonContext {
  packageFolder: string;
  signal: AbortSignal;
  holdProcess(pid: number): Promise<void>;
}

/** Says that a command of the report failed. */
export class PythonFailed extends Error {
  override readonly name = "PythonFailed";
  readonly exitCode: number | undefined;
  readonly killedBy: string | undefined;

  constructor(message: string, exitCode: number | undefined, killedBy: string | undefined) {
    super(message);
    this.exitCode = exitCode;
    this.killedBy = killedBy;
  }
}

/** The standard output of a command of the report. @throws PythonFailed; the reason of `signal` */
export async function pythonOutput(
  { packageFolder, signal, holdProcess }: PythonContext,
  name: string,
  args: readonly string[],
): Promise<string> {
  const ended = await capturePython(packageFolder, name, args, { signal, onStarted: holdProcess });
  if (!ended.failed) return ended.stdout;
  signal.throwIfAborted();
  const { stderr, exitCode, signal: killedBy } = ended;
  throw new PythonFailed(
    lastLine(stderr)?.replace(`${name}: `, "") ?? `it ended with ${exitCode ?? killedBy}`,
    exitCode,
    killedBy,
  );
}

/**
 * Asks the report a question of report/cli/statistics_command.py.
 * @throws BenchError where its answer does not fit
 */
export async function askStatistics<Answer>(
  packageFolder: string,
  question: { question: string; [member: string]: unknown },
  schema: z.ZodType<Answer>,
): Promise<Answer> {
  const { failed, stdout, stderr } = await execa(
    PYTHON,
    reportCommand(packageFolder, "statistics", []),
    {
      input: JSON.stringify(question),
      reject: false,
    },
  );
  const answer = failed ? undefined : parseJson(stdout, schema);
  if (answer !== undefined) return answer;
  throw new BenchError(lastLine(stderr) ?? "the statistics gave no answer", EXIT.defect);
}
