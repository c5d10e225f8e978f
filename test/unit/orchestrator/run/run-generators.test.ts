import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  MergedSeconds,
  type Second,
  SILENCE_S,
  SilenceWatch,
  START_S,
} from "../../../../src/orchestrator/run/run-generators.js";

const second = (change: Partial<Second>): Second => ({
  event: "second",
  t_s: 1,
  requests_per_second: 100,
  ...change,
});

test("a second of several generators is shown once all have reported it", () => {
  const seconds = new MergedSeconds(2);
  const first = second({
    limited_share: 0.1,
    p99_ms: 2,
    generator_event_loop_utilisation: 0.5,
    server_cpu_percent: 80,
  });
  expect(seconds.add(0, first)).toBeUndefined();
  // The first generator may be ahead.
  expect(seconds.add(0, second({ t_s: 2 }))).toBeUndefined();
  const other = second({ t_s: 1.001, requests_per_second: 300, limited_share: 0.5, p99_ms: 3 });
  expect(seconds.add(1, other)).toEqual({
    event: "second",
    t_s: 1.001,
    requests_per_second: 400,
    limited_share: 0.4,
    p99_ms: 3,
    generator_event_loop_utilisation: 0.5,
    server_cpu_percent: 80,
  });
  expect(seconds.add(1, second({ t_s: 2 }))?.t_s).toBe(2);
});

const ROLES = [{ id: "generator-1" }, { id: "generator-2" }];
const WARMUP_S = 5;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The failure that the watch has noticed so far, as text. */
function watched() {
  const watch = new SilenceWatch(ROLES, WARMUP_S);
  const found: string[] = [];
  watch.failed.catch((error) => found.push(`${error.role}: ${error.message}`));
  return { watch, found };
}

const pass = (seconds: number) => vi.advanceTimersByTimeAsync(1000 * seconds);

test("a generator that hangs is named, not one that waits for it [R-generator-hangs-1]", async () => {
  const { watch, found } = watched();
  watch.heard(1);
  watch.expectNothing(0);
  await pass(SILENCE_S + WARMUP_S - 1);
  expect(found).toEqual([]);
  await pass(3);
  expect(found).toEqual([expect.stringMatching(/^generator-2: .*65 s/)]);
});

test("one that never says a word has the time that many others need to start", async () => {
  const { watch, found } = watched();
  watch.expectNothing(0);
  await pass(START_S - 1);
  expect(found).toEqual([]);
  await pass(3);
  expect(found).toEqual([expect.stringMatching(/^generator-2: .*110 s/)]);
});

test("who waits may be silent for ever, and is expected again when all go on", async () => {
  const { watch, found } = watched();
  for (const index of ROLES.keys()) watch.expectNothing(index);
  await pass(1000);
  expect(found).toEqual([]);
  watch.expectAll();
  for (let second = 0; second < 200; second++) {
    await pass(1);
    watch.heard(0);
  }
  expect(found).toEqual([expect.stringContaining("generator-2: ")]);
});

test("lines that come after a stop of the orchestrator itself count", async () => {
  const { watch, found } = watched();
  watch.expectAll();
  await pass(SILENCE_S + WARMUP_S);
  // Its timers came first.
  watch.heard(0);
  watch.heard(1);
  await pass(2);
  expect(found).toEqual([]);
  watch.stop();
  watch.heard(0);
  await pass(1000);
  expect(found).toEqual([]);
});
