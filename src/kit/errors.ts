/** Exit codes of all programs, an interface that CI jobs branch on: see docs/troubleshooting.md. */
export const EXIT = {
  done: 0,
  defect: 1,
  usage: 2,
  environment: 3,
  configurationFailed: 4,
  runsInvalid: 5,
  regression: 6,
  notDecided: 7,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/**
 * An expected failure, which is printed as one line, without a stack, and ends the program with
 * `exitCode`.
 */
export class BenchError extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode, options?: ErrorOptions) {
    super(message, options);
    this.name = "BenchError";
    this.exitCode = exitCode;
  }
}

/** An error for bad input by the user, whose message says what is valid. Its exit code is 2. */
export const usageError = (message: string, options?: ErrorOptions): BenchError =>
  new BenchError(message, EXIT.usage, options);

/**
 * An error where the machine cannot run what the user requested, whose message says how to fix it.
 * Its exit code is 3.
 */
export const environmentError = (message: string, options?: ErrorOptions): BenchError =>
  new BenchError(message, EXIT.environment, options);

/**
 * The message of any thrown value. Where it is empty, it is that of the errors behind it, or else
 * its code or name.
 */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, errors = [] } = error as Error & { code?: unknown; errors?: unknown[] };
  const behind = error.cause === undefined ? errors : [...errors, error.cause];
  return error.message.trim() || behind.map(messageOf).join("; ") || String(code ?? error.name);
}

/** Joins several lines into one, such as those of a TLS alert. */
export const inOneLine = (text: string): string => text.trim().replaceAll(/\s*[\r\n]+\s*/g, " ");

/**
 * The last line that a program printed, which says why it failed; undefined where it printed
 * nothing.
 */
export const lastLine = (text: string): string | undefined =>
  text.trim().split("\n").at(-1) || undefined;
