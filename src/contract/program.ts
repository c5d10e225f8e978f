import { BenchError, EXIT, type ExitCode, messageOf } from "./errors.js";

/**
 * Runs a program's main and ends the process with the right code: an expected failure as one line on standard
 * error, a defect of ours with its stack.
 */
export async function runProgram(main: () => Promise<ExitCode>): Promise<never> {
  try {
    process.exit(await main());
  } catch (error) {
    const expected = error instanceof BenchError;
    process.stderr.write(`${expected || !(error instanceof Error) ? messageOf(error) : error.stack}\n`);
    process.exit(expected ? error.exitCode : EXIT.defect);
  }
}

/** Prints one JSON document on standard output and waits until it is out. */
export function printDocument(document: unknown): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${JSON.stringify(document)}\n`, () => resolve()));
}
