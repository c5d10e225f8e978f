import { describe, expect, test } from "vitest";
import type { FaultRecord } from "../../../src/contract/fault-schemas.js";
import type { Timeline } from "../../../src/contract/timeline.js";
import { faultFigures } from "../../../src/judge/figures-of-faults.js";

/** One slice of 100 ms; 10 requests are due in it. */
interface Slice {
  allowed?: number;
  limited?: number;
  failed?: number;
  timed_out?: number;
  p99_us?: number;
}

const SERVED: Slice = { allowed: 9, limited: 1 };
const FAILS: Slice = { failed: 10 };
const HANGS: Slice = {};
const times = (seconds: number, slice: Slice): Slice[] =>
  Array.from({ length: 10 * seconds }, () => slice);

/**
 * A timeline from its slices; a span's p99 is the largest of its slices, 1 ms unless a slice says
 * otherwise.
 */
function timelineOf(slices: readonly Slice[]): Timeline {
  const counts = (name: "allowed" | "limited" | "failed" | "timed_out") =>
    slices.map((slice) => slice[name] ?? 0);
  const p99 = (part: readonly Slice[]) => {
    const answered = part.filter(({ allowed = 0, limited = 0 }) => allowed + limited > 0);
    return answered.length > 0 ? Math.max(...answered.map(({ p99_us = 1000 }) => p99_us)) : null;
  };
  let waiting = 0;
  return {
    width_ms: 100,
    opened_at: "2026-01-01T00:00:00.000Z",
    opens_s: 3,
    allowed: counts("allowed"),
    limited: counts("limited"),
    failed: counts("failed"),
    timed_out: counts("timed_out"),
    p50_us: slices.map((slice) => p99([slice])),
    p99_us: slices.map((slice) => p99([slice])),
    p99_second_us: slices.map((_, index) =>
      index + 10 <= slices.length ? p99(slices.slice(index, index + 10)) : null,
    ),
    p99_before_us: slices.map((_, index) =>
      index >= 30 ? p99(slices.slice(Math.max(0, index - 100), index)) : null,
    ),
    backlog: slices.map(({ allowed = 0, limited = 0, failed = 0, timed_out = 0 }) => {
      waiting = Math.max(0, waiting + 10 - allowed - limited - failed - timed_out);
      return waiting;
    }),
  };
}

const fault = (from_s: number, to_s: number): FaultRecord => ({
  name: "store-restart",
  action: "restart",
  roles: ["store-1"],
  planned: { start_s: from_s, length_s: to_s - from_s },
  injected: { from_s, to_s },
  undone: true,
});

/** The figures of the first of these faults. */
function figuresOf(slices: readonly Slice[], ...faults: readonly FaultRecord[]) {
  const [figures] =
    faultFigures({ timeline: timelineOf(slices), faults, samples: [] })?.faults ?? [];
  return figures;
}

describe("the figures of a fault", () => {
  test("of a store that restarts: errors until the client is connected again", () => {
    const slices = [
      ...times(10, SERVED),
      ...times(0.2, SERVED),
      ...times(2, FAILS),
      ...times(8, SERVED),
    ];
    expect(figuresOf(slices, fault(10, 11))).toEqual({
      fault: 0,
      observed_s: 10.2,
      outage_injected_s: 1,
      outage_seen_s: 2,
      first_error_s: 0.2,
      error_share: 1,
      served_again_s: 2.2,
      recovery: "recovered",
      recovery_s: 2.2,
      p99_worst_us: 1000,
      requests_lost: 200,
      answers: { allowed: 0.18, limited: 0.02, failed: 0.8 },
      behaviour: "errors",
    });
  });

  test("of a store that stops: no answer and no error, and recovery when the backlog is served at the usual p99", () => {
    const flush: Slice = { allowed: 220, p99_us: 2_000_000 };
    const late: Slice = { ...SERVED, p99_us: 5_000 };
    const slices = [
      ...times(10, SERVED),
      ...times(2, HANGS),
      flush,
      ...times(0.5, late),
      ...times(6, SERVED),
    ];
    // It may be undone a little late: the slice of its end answers what waited.
    expect(figuresOf(slices, fault(9.998, 12.004))).toMatchObject({
      outage_seen_s: 2,
      first_error_s: null,
      error_share: null,
      // Not sooner: a second that ends with the burst has all requests served, and begins with
      // none.
      served_again_s: 2.002,
      recovery_s: 2.602,
      p99_worst_us: 2_000_000,
      requests_lost: 0,
      answers: null,
      behaviour: "waits",
    });
    expect(figuresOf(slices, fault(9.998, 12.004))?.recovery_text).toBeUndefined();
  });

  test("without an outage: recovered at once, with the counters in use or without", () => {
    const unharmed = {
      outage_seen_s: 0,
      error_share: 0,
      first_error_s: null,
      recovery_s: 0,
      requests_lost: 0,
    };
    expect(figuresOf([...times(10, SERVED), ...times(8, SERVED)], fault(10, 10))).toMatchObject({
      ...unharmed,
      outage_injected_s: 0,
      behaviour: "unchanged",
    });
    const open = [...times(10, SERVED), ...times(2, { allowed: 10 }), ...times(8, SERVED)];
    expect(figuresOf(open, fault(10, 12))).toMatchObject({ ...unharmed, behaviour: "open" });
    const closed = [...times(10, SERVED), ...times(2, { limited: 10 }), ...times(8, SERVED)];
    expect(figuresOf(closed, fault(10, 12))).toMatchObject({ ...unharmed, behaviour: "closed" });
  });

  test.each([
    ["errors stay", { allowed: 9, failed: 1 }, null],
    ["all are served, with a p99 of more than twice that before", { ...SERVED, p99_us: 2_001 }, 1],
    ["some requests wait for ever", { allowed: 9 }, null],
  ])("never settled again: %s", (_, after, served_again_s) => {
    const figures = figuresOf(
      [...times(10, SERVED), ...times(1, FAILS), ...times(9, after)],
      fault(10, 11),
    );
    expect(figures).toMatchObject({ recovery: "never", recovery_s: null, served_again_s });
  });

  test("requests may be served again long before the p99 has settled", () => {
    const slow: Slice = { ...SERVED, p99_us: 9_000 };
    const slices = [
      ...times(10, SERVED),
      ...times(1.3, FAILS),
      ...times(4, slow),
      ...times(5, SERVED),
    ];
    expect(figuresOf(slices, fault(10, 11))).toMatchObject({
      served_again_s: 1.3,
      recovery_s: 5.3,
    });
  });

  test("whether requests are served again needs no baseline, but three seconds after the fault", () => {
    const early = [...times(2, SERVED), ...times(1, FAILS), ...times(6, SERVED)];
    expect(figuresOf(early, fault(2, 3))).toMatchObject({
      recovery: "not known",
      served_again_s: 1,
    });
    expect(figuresOf(times(12, SERVED), fault(10, 10))).not.toHaveProperty("served_again_s");
  });

  test("recovery takes three good seconds in a row", () => {
    const relapse = [...times(2.9, SERVED), ...times(0.1, FAILS)];
    const slices = [...times(10, SERVED), ...times(1, FAILS), ...relapse, ...times(5, SERVED)];
    expect(figuresOf(slices, fault(10, 11))).toMatchObject({ recovery_s: 4, outage_seen_s: 1 });
  });

  test.each([3, 10])(
    "the outage ends with the first second at nine tenths of the rate before, whatever comes later: after %s s",
    (start_s) => {
      const late = [
        ...times(2, SERVED),
        ...times(0.1, FAILS),
        ...times(3, SERVED),
        ...times(0.1, HANGS),
      ];
      const slices = [
        ...times(start_s, SERVED),
        ...times(1.3, FAILS),
        ...late,
        ...times(2, { allowed: 9 }),
      ];
      expect(figuresOf(slices, fault(start_s, start_s + 1))).toMatchObject({
        outage_seen_s: 1.3,
        error_share: 1,
      });
      const waits = times(3, { allowed: 8 });
      expect(
        figuresOf([...slices.slice(0, 10 * start_s), ...waits], fault(start_s, start_s + 1)),
      ).toMatchObject({ outage_seen_s: 3 });
    },
  );

  test("an outage that begins while the fault is in place counts, although three good seconds came first", () => {
    const slices = [
      ...times(10, SERVED),
      ...times(4, SERVED),
      ...times(2, FAILS),
      ...times(5, SERVED),
    ];
    expect(figuresOf(slices, fault(10, 16))).toMatchObject({ first_error_s: 4, recovery_s: 6 });
  });

  test("of a primary that stays down: the outage comes when the cluster notices, whatever the host did before", () => {
    const slices = [
      ...times(10, SERVED),
      // The host lets requests wait for a moment.
      ...times(0.1, HANGS),
      ...times(0.1, { allowed: 18, limited: 2 }),
      ...times(5.8, SERVED),
      ...times(1, FAILS),
      ...times(13, SERVED),
    ];
    expect(figuresOf(slices, fault(10, 30))).toMatchObject({
      first_error_s: 6,
      outage_seen_s: 1,
      error_share: 1,
      recovery_s: 7,
      behaviour: "errors",
    });
  });

  test("requests that wait before the first of them fails are part of the outage", () => {
    const slices = [
      ...times(10, SERVED),
      ...times(2, HANGS),
      ...times(1, { failed: 30 }),
      ...times(7, SERVED),
    ];
    expect(figuresOf(slices, fault(10, 13))).toMatchObject({ outage_seen_s: 3, recovery_s: 3 });
  });

  test("fewer than ten seconds before it are said, fewer than three are no comparison", () => {
    const after = [...times(1, FAILS), ...times(6, SERVED)];
    const timeline = timelineOf([...times(4, SERVED), ...after]);
    const short = faultFigures({ timeline, faults: [fault(4, 5)], samples: [] });
    expect(short?.before).toEqual({ seconds: 4, p99_us: 1000, limited_share: 0.1 });
    expect(short?.faults[0]).toMatchObject({
      recovery_s: 1,
      recovery_text: expect.stringContaining("4 s"),
    });
    expect(figuresOf([...times(2.9, SERVED), ...after], fault(2.9, 3.9))).toMatchObject({
      outage_seen_s: 1,
      recovery: "not known",
    });
    // Neither does a run that ends within three seconds show whether it recovered.
    expect(figuresOf(times(12, SERVED), fault(10, 10))).toMatchObject({ recovery: "not known" });
  });

  test("several faults in a run: each until the next one, all against the service before the first", () => {
    const slices = [...times(10, SERVED), ...times(2, FAILS), ...times(4, SERVED)];
    const second = [...times(1, FAILS), ...times(5, { ...SERVED, p99_us: 3_000 })];
    const faults = [fault(16, 17), fault(10, 11)];
    const figures = faultFigures({
      timeline: timelineOf([...slices, ...second]),
      faults,
      samples: [],
    });
    expect(figures?.faults).toMatchObject([
      { fault: 0, observed_s: 6, outage_seen_s: 1, recovery: "never", requests_lost: 100 },
      { fault: 1, observed_s: 6, outage_seen_s: 2, recovery_s: 2, requests_lost: 200 },
    ]);
  });

  test("a fault that was not injected has none", () => {
    const { injected: _, ...planned } = fault(10, 11);
    expect(figuresOf(times(20, SERVED), planned)).toBeUndefined();
    expect(figuresOf(times(20, SERVED), planned, fault(12, 13))).toMatchObject({ fault: 1 });
  });

  test("what was admitted stands beside the model; generous quotas are not applicable", () => {
    const faults = [fault(10, 10), fault(12, 12), fault(14, 14)];
    const figures = faultFigures({
      timeline: timelineOf(times(20, SERVED)),
      faults,
      samples: [],
      predicted: [{ counters_kept: 100, counters_lost: 180 }, null, undefined],
    });
    expect(figures?.faults.map(({ over_admission }) => over_admission)).toEqual([
      { admitted: 180, counters_kept: 100, counters_lost: 180 },
      null,
      undefined,
    ]);
  });

  test("the memory of the servers is the largest reading from the injection on", () => {
    const samples = [5, 9, 20, 70, 30].map((bytes, second) => ({
      t_s: 4 * (second + 1),
      server_resident_bytes: bytes,
    }));
    const timeline = timelineOf(times(20, SERVED));
    const [figures] = faultFigures({ timeline, faults: [fault(10, 11)], samples })?.faults ?? [];
    expect(figures).toMatchObject({ server_memory_peak_bytes: 70, server_memory_before_bytes: 9 });
  });
});
