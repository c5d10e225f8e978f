import { join } from "node:path";
import { execa } from "execa";
import { BenchError, EXIT, type ExitCode } from "../../contract/errors.js";

const CODES: readonly number[] = Object.values(EXIT);
const isExitCode = (code: number | undefined): code is ExitCode => code !== undefined && CODES.includes(code);

/**
 * Runs a command of the Python report with this process' own streams. Its exit codes are those of all programs.
 * @throws BenchError when it cannot be started, or ends with another code
 */
export async function runPython(
  packageFolder: string,
  command: string,
  args: readonly string[],
): Promise<ExitCode> {
  const { exitCode, signal, code } = await execa(
    "python3",
    [join(packageFolder, "report"), command, ...args],
    {
      reject: false,
      stdio: "inherit",
    },
  );
  if (isExitCode(exitCode)) return exitCode;
  if (code === "ENOENT")
    throw new BenchError("python3 was not found on PATH: install Python 3.11", EXIT.environment);
  throw new BenchError(`report ${command} ended with ${exitCode ?? signal ?? code}`, EXIT.defect);
}
