import { BenchError, EXIT, type ExitCode, messageOf } from "./errors.js";

/**
 * Runs a program's main function and exits with its code. Prints an expected failure as one line on standard error, and
 * a defect with its stack.
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

/** Prints one JSON document on standard output; resolves when it is written. */
export function printDocument(document: unknown): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${JSON.stringify(document)}\n`, () => resolve()));
}
