import { setImmediate } from "node:timers/promises";
import { Command } from "commander";
import { expect, onTestFinished, test } from "vitest";
import { ApiClient } from "../../../../../src/orchestrator/audit/api/api-client.js";
import { AuditedApi } from "../../../../../src/orchestrator/audit/api/audited-api.js";
import { Pacer } from "../../../../../src/orchestrator/audit/api/pacer.js";
import {
  addApiFlags,
  apiSettingsOf,
} from "../../../../../src/orchestrator/commands/audit-url-flags.js";

test("an interruption while nobody waits for an answer is no error of its own", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const settings = apiSettingsOf(addApiFlags(new Command()), "http://127.0.0.1:9/");
  const interruption = new AbortController();
  const { signal } = interruption;
  const client = new ApiClient({ ownHeaders: {}, body: undefined, signal });
  const pacer = new Pacer({ ...settings, atOnce: 1 });
  const api = new AuditedApi(
    settings,
    { points: 1, window_s: 1 },
    { client, pacer, signal, nonce: "a" },
  );
  const answer = api.send("a key");
  interruption.abort(new Error("interrupted"));
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  expect(unhandled).toEqual([]);
  await expect(answer).rejects.toThrow("interrupted");
});
