import { setTimeout as sleep } from "node:timers/promises";
import { environmentError, messageOf } from "../../contract/errors.js";

/** Repeats a check until it finds no problem; an error is one. @throws environmentError with the last */
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
