import { expect, test } from "vitest";
import { sharesWakes } from "../../../../src/benchmark/open-loop/shared-wakes.js";

test.each<[string, number | undefined, number, boolean]>([
  ["a whole CPU was idle throughout", 3_000, 3_000, false],
  ["more than one was", 7_000, 3_000, false],
  ["less than one was", 2_999, 3_000, true],
  ["the idle time is not known", undefined, 3_000, true],
  ["the warm-up was too short to tell", 999, 999, true],
  ["there was no warm-up", 0, 0, true],
])("where %s, sends share wakes or not", (_case, idle_ms, warmup_ms, shared) => {
  expect(sharesWakes(idle_ms, warmup_ms)).toBe(shared);
});
