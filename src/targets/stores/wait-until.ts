import { setTimeout as sleep } from "node:timers/promises";
import { environmentError, messageOf } from "../../contract/errors.js";

/**
 * Repeats a check until it finds no problem.
 * @param findProblem resolves with the problem, or with undefined when there is none; an error counts as a problem
 * @throws environmentError with the last problem
 */
export async function waitUntil(
  name: string,
  deadlineMs: number,
  findProblem: () => Promise<string | undefined>,
): Promise<void> {
  for (;;) {
    const problem = await findProblem().catch(messageOf);
    if (problem === undefined) return;
    if (Date.now() > deadlineMs) throw environmentError(`the ${name} took too long to be ready: ${problem}`);
    await sleep(25);
  }
}
