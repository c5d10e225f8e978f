import { expect } from "vitest";
import type { MeasuredResult } from "../../src/contract/result.js";

/** M8 by the test's own arithmetic: from the generator's counts to the store's script calls. */
export function expectReconciled({ counts, server, store, configuration }: MeasuredResult): void {
  const failed = counts.failed_answers + counts.connection_errors + counts.timed_out;
  expect(counts.sent).toBe(counts.allowed + counts.limited + failed + counts.cut);
  expect(failed).toBe(0);
  if (!server) throw new Error("our own server tells its counters");
  const received = server.at_end.requests - server.at_window_open.requests;
  expect(received).toBe(counts.sent);
  if (configuration?.target.limiter === "none") return;
  const consumes = server.at_end.consumes ?? { allowed: -1, limited: -1, failed: -1 };
  expect(consumes.failed).toBe(0);
  expect(consumes.allowed + consumes.limited).toBe(server.at_end.requests);
  if (!store) return;
  const calls = store.nodes.map(({ at_start, at_end }) => {
    expect(at_start.script_calls).toEqual({});
    expect(at_start.keys).toBe(0);
    expect(at_end.run_id).toBe(at_start.run_id);
    return Object.values(at_end.script_calls).reduce((sum, entry) => sum + entry.calls - entry.failed, 0);
  });
  expect(calls.reduce((sum, count) => sum + count, 0)).toBe(consumes.allowed + consumes.limited);
}
