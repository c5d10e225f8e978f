import { setTimeout as sleep } from "node:timers/promises";
import { environmentError } from "../contract/errors.js";
import type { Exit, RunningPart } from "./types.js";

const READY_WITHIN_MS = 30_000;
const RETRY_AFTER_MS = 25;

/**
 * Waits until a part is ready.
 * @param isReady checks once
 * @param beforeCheck delays each check, for a check that costs something
 * @throws environmentError with the part's last line when it ends (all of its last lines are the cause) or is not ready in
 * time
 */
export async function waitUntilReady(
  running: RunningPart,
  isReady: () => Promise<boolean>,
  beforeCheck: () => Promise<unknown> = async () => {},
): Promise<void> {
  let ended: Exit | undefined;
  running.exited.then((exit) => {
    ended = exit;
  });
  const deadline = Date.now() + READY_WITHIN_MS;
  const lastLine = () => running.lastLines().at(-1) || "it printed nothing";
  for (;;) {
    await beforeCheck();
    if (ended) {
      throw environmentError(`${running.role} ended with ${ended.code ?? ended.signal}: ${lastLine()}`, {
        cause: new Error(running.lastLines().join("\n")),
      });
    }
    if (await isReady()) return;
    if (Date.now() > deadline) throw environmentError(`${running.role} did not become ready: ${lastLine()}`);
    await sleep(RETRY_AFTER_MS);
  }
}
