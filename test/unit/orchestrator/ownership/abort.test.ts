import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Aborted, abortable } from "../../../../src/orchestrator/ownership/abort.js";

test("work that fails after an interruption causes no unhandled rejection", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => {
    process.off("unhandledRejection", note);
  });
  const late = async () => {
    await delay(20);
    throw new Error("the server ended");
  };
  for (const isBefore of [true, false]) {
    const controller = new AbortController();
    if (isBefore) controller.abort(new Aborted("SIGINT"));
    const waiting = abortable(controller.signal, late());
    if (!isBefore) controller.abort(new Aborted("SIGINT"));
    await expect(waiting).rejects.toBeInstanceOf(Aborted);
  }
  await delay(100);
  expect(unhandled).toEqual([]);
});
