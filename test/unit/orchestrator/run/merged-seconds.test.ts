import { expect, test } from "vitest";
import { MergedSeconds, type Second } from "../../../../src/orchestrator/run/merged-seconds.js";

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
