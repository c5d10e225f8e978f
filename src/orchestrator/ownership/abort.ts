import { EXIT, type ExitCode } from "../../contract/errors.js";

/** The user or the system asked to stop. */
export class Aborted extends Error {
  readonly exitCode: ExitCode;
  readonly at = performance.now();

  constructor(signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`);
    this.name = "Aborted";
    this.exitCode = signal === "SIGINT" ? EXIT.interrupted : EXIT.terminated;
  }
}

/** Waits for `work`, unless the signal is raised first. @throws Aborted */
export async function unlessAborted<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  // What is waited for may still fail later: by then nobody needs to know.
  work.catch(() => {});
  signal.throwIfAborted();
  let onAbort: (() => void) | undefined;
  const abort = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work, abort]);
  } finally {
    if (onAbort) signal.removeEventListener("abort", onAbort);
  }
}

/** @throws Aborted */
export async function pause(signal: AbortSignal, seconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await unlessAborted(
      signal,
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, seconds * 1000);
      }),
    );
  } finally {
    clearTimeout(timer);
  }
}
