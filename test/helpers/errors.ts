import { expect } from "vitest";
import { BenchError, type ExitCode } from "../../src/kit/errors.js";

/** What `work` fails with; the test fails when it does not fail, or fails unexpectedly. */
export async function failureOf(work: () => unknown): Promise<BenchError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof BenchError) return error;
    throw error;
  }
  throw new Error("expected a BenchError, but nothing was thrown");
}

/** An expected failure: this exit code, one line, and each of these texts in it. */
export async function expectFailure(
  work: () => unknown,
  exitCode: ExitCode,
  ...parts: readonly string[]
): Promise<void> {
  const { message, exitCode: code } = await failureOf(work);
  for (const part of parts) expect(message).toContain(part);
  expect(code).toBe(exitCode);
  expect(message).not.toMatch(/[\n\0]/);
  expect(message.length).toBeLessThan(600);
}
