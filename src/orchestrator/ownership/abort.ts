import { setTimeout } from "node:timers/promises";
import { EXIT, type ExitCode } from "../../kit/errors.js";

/** Says that the user or the system stopped the campaign. */
export class Aborted extends Error {
  override readonly name = "Aborted";
  readonly exitCode: ExitCode;
  readonly at = performance.now();

  constructor(signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`);
    this.exitCode = signal === "SIGINT" ? EXIT.interrupted : EXIT.terminated;
  }
}

/** The value of some work, unless the signal comes first. @throws the reason of the signal */
export async function abortable<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  // The work may fail after the signal, when nobody waits for it any more.
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

/** Waits for so many seconds. @throws the reason of the signal, if it comes first */
export async function pause(signal: AbortSignal, seconds: number): Promise<void> {
  await setTimeout(seconds * 1000, undefined, { signal }).catch(() => signal.throwIfAborted());
}
