import { describe, expect, test } from "vitest";
import { admissionsOf } from "../../../../src/judge/admission-accounting.js";
import { judgeRun, rules } from "../../../../src/judge/rules.js";
import {
  addFailures,
  addGenerator,
  CONSUMES,
  configuration,
  evalsha,
  generatorOf,
  histogramOf,
  serverOf,
  storeOf,
  type ValidRun,
  validEvidence,
} from "../../../helpers/evidence.js";

type Spoil = (run: ValidRun) => void;

function asking(
  run: ValidRun,
  versions: {
    client_version?: string;
    limiter_version?: string;
    store_version?: string;
    node?: string;
  },
): void {
  run.configuration = { ...configuration, target: { ...configuration.target, ...versions } };
}

/** One of two keys, of which 40 points were consumed, has this count. */
const miscounted = (counted: number): ValidRun["admissions"] =>
  admissionsOf([
    { key: "user-1", least: 2, most: 3, counted: 2 },
    { key: "user-2", least: 40, most: 40, counted },
  ]);

/** Changes that spoil a valid run, by the rules that must object to them. */
const spoiledRuns: Record<string, Record<string, Spoil>> = {
  "M1 invalid": {
    "a total that nobody counted": (run) => (run.requests.total += 100),
    "a rate over the asked duration, not the measured one": (run) => {
      run.duration = 5.1;
      generatorOf(run).window_s = 5.1;
    },
  },
  "M1 invalid, M7 suspect": {
    "bytes a second in the place of requests a second": (run) => (run.requests.average *= 180),
  },
  "M2 invalid": {
    "answers without a latency": (run) => (generatorOf(run).histograms.limited = histogramOf(0)),
    "more latencies than answers": (run) =>
      (generatorOf(run).histograms.allowed = histogramOf(9_005)),
    "followed requests without a latency": (run) =>
      (generatorOf(run).histograms.allowed = histogramOf(9_000)),
    "a failed answer without an age": (run) => {
      addFailures(run, "failed_answers", 1);
      generatorOf(run).histograms.failed = histogramOf(0);
    },
    "a time-out without an age": (run) => {
      addFailures(run, "timed_out", 1);
      generatorOf(run).histograms.censored = histogramOf(0);
    },
    "an age of a request that was not lost": (run) =>
      (generatorOf(run).histograms.censored = histogramOf(1)),
    "a service time of a request that was never sent": (run) => {
      const { histograms } = generatorOf(run);
      generatorOf(run).service_histograms = { ...histograms, censored: histogramOf(1) };
    },
    "a latency of whole milliseconds that became 0": (run) => {
      if (run.latency) run.latency.min = 0;
    },
    "no latency block at all": (run) => delete run.latency,
  },
  "M6 suspect": {
    "a worker that had no CPU, where it is not known who had it": (run) => {
      delete run.host_load;
      for (const worker of generatorOf(run).workers) worker.cpu_wait_share = 0.6;
    },
    "a saturated worker among idle ones": (run) => {
      const { workers } = generatorOf(run);
      workers.push(...workers.map((worker) => ({ ...worker, event_loop_utilisation: 0.93 })));
    },
    "a window that opened a second after that of the other generator": (run) =>
      (addGenerator(run).opened_after_ms = 1000),
  },
  "M7 suspect": {
    "latencies that do not fit the throughput": (run) => {
      if (run.latency?.average) run.latency.average *= 0.9;
    },
    "more time in flight in the window than the connections have": (run) =>
      (run.slices.latency_sum_us = run.slices.latency_sum_us.map((us) => 1.1 * us)),
  },
  "M8 invalid": {
    "a request that is lost": (run) => run.counts.sent++,
    "a request that is counted twice": (run) => {
      run.counts.timed_out++;
      generatorOf(run).histograms.censored = histogramOf(1);
    },
    "requests that are counted in the window and as followed": (run) => (run.counts.followed += 4),
    "more requests in flight at the end than there are connections": (run) =>
      addFailures(run, "timed_out", 6, "after it"),
    "a followed request whose end is not known": (run) => {
      run.counts.followed++;
      run.counts.sent++;
    },
    "a request that was cut instead of followed": (run) => {
      for (const counts of [run.counts, generatorOf(run).counts]) {
        counts.cut++;
        counts.sent++;
      }
    },
    "slices that count followed answers as throughput": (run) =>
      (run.slices.allowed[49] = (run.slices.allowed[49] ?? 0) + 4),
    "slices without a failure of the window": (run) => {
      addFailures(run, "timed_out", 1);
      run.slices.failed[0] = 0;
    },
    "counts that are not the generators'": (run) => {
      generatorOf(run).counts.allowed--;
      generatorOf(run).counts.limited++;
    },
    "a server that saw fewer requests than were answered": (run) =>
      (serverOf(run).at_end.requests -= 6),
    "a server that saw more requests than were sent": (run) => serverOf(run).at_end.requests++,
    "a store that ran one script too few": (run) =>
      Object.assign(storeOf(run).at_end, evalsha(CONSUMES - 1)),
    "a store that ran one script too many": (run) =>
      Object.assign(storeOf(run).at_end, evalsha(CONSUMES + 1)),
    "a call that nobody decided, although nothing is under way": (run) => {
      const { consumes } = serverOf(run).at_end;
      if (consumes) consumes.calls++;
      Object.assign(storeOf(run).at_end, evalsha(CONSUMES + 1));
    },
    "a script call that failed and was counted as run": (run) =>
      Object.assign(storeOf(run).at_end, evalsha(CONSUMES, 1)),
  },
  "M36 invalid": {
    "a generator that stood still": (run) => (generatorOf(run).longest_gap_ms = 2000),
    "the second of two generators that stood still": (run) =>
      (addGenerator(run).longest_gap_ms = 101),
    "a system clock that was set": (run) => (run.clock_change = { changed_ms: 5000, over_s: 10 }),
    "a system clock that was set back": (run) =>
      (run.clock_change = { changed_ms: -5000, over_s: 10 }),
  },
  "M10 invalid": {
    "a share of limited answers that rose with the speed": (run) =>
      (run.prediction.seen_share = 0.1101),
    "a share of limited answers that is too low": (run) => (run.prediction.seen_share = 0.0899),
  },
  "M10 suspect": {
    "a share off the prediction under explicit limits": (run) =>
      (run.prediction = { ...run.prediction, basis: "limits", seen_share: 0.2 }),
  },
  "M11 invalid": {
    "heavy work that was lighter than asked": (run) =>
      (run.configuration = { ...configuration, workload: { id: "heavy", complexity: 20 } }),
    "a workload that the server does not have": (run) => (serverOf(run).workloads = []),
  },
  "M12 invalid": {
    "another target than the one that was asked for": (run) =>
      (serverOf(run).target = "iovalkey@valkey:cluster"),
  },
  "M12 suspect": {
    "settings that nobody disclosed": (run) => (serverOf(run).client_settings = {}),
    "a script that nobody knows": (run) => delete serverOf(run).limiter_script,
    "another script command than the one that was told": (run) =>
      (serverOf(run).limiter_script = { kind: "fcall", name_or_sha1: "consume" }),
  },
  "M13 invalid": {
    "keys left in the store [R-keys-3]": (run) => (storeOf(run).at_start.keys = 1),
    "a server that had served before": (run) => (serverOf(run).at_start.requests = 1),
    "statistics that were not reset": (run) => {
      Object.assign(storeOf(run).at_start, evalsha(3));
      Object.assign(storeOf(run).at_end, evalsha(CONSUMES + 3));
    },
  },
  "M14 suspect": {
    "an eviction": (run) => (storeOf(run).at_end.evicted_keys = 1),
    "a role that its CPU cap held up": (run) => {
      const role = run.resources["server-1"];
      if (!role) throw new Error("no role to throttle");
      role.throttling = { periods: 50, throttled_periods: 1, throttled_us: 900 };
    },
    "our own control group, throttled for a moment": (run) =>
      (run.own_throttling = { periods: 50, throttled_periods: 1, throttled_us: 900 }),
  },
  "M14 invalid": {
    "a store that restarted": (run) => (storeOf(run).at_end.run_id = "store-run-2"),
    "a server that restarted at the end of the window": (run) =>
      (serverOf(run).at_end.uptime_s = 0.5),
    "a server that restarted early in the window": (run) =>
      (serverOf(run).at_end.uptime_s = serverOf(run).at_window_open.uptime_s + 0.9 * run.duration),
  },
  "M15 suspect": {
    "a role whose counters could not be read": (run) => delete run.resources["store-1"],
  },
  "M27 invalid": {
    "a key whose count lost consumes": (run) => (run.admissions = miscounted(37)),
    "a surplus on a store of the run's own": (run) => (run.admissions = miscounted(43)),
  },
  "M27 suspect": {
    "a surplus on a store that others may use": (run) => {
      run.admissions = miscounted(43);
      run.store.external = true;
    },
  },
  "M16 suspect": {
    "connections that were opened again between turns, and that the target had not closed": (
      run,
    ) => {
      const lengths = { lead_in_ms: 5, slice_ms: 100, drained_s: 0 };
      run.turns = { group: 2, turns: 100, ...lengths, reopened: { all: 3, without_cause: 1 } };
    },
  },
  "M26 suspect": {
    "a window whose first second was half as fast as the rest": (run) => {
      for (let slice = 0; slice < 10; slice++) {
        run.slices.allowed[slice] = 90;
        // The others make up for it, so that the counts add up.
        for (const other of [10, 20, 30, 40]) run.slices.allowed[slice + other] = 202.5;
      }
    },
  },
  "M19 invalid": {
    "another version of the client than was asked for": (run) =>
      asking(run, { client_version: "0.3.1" }),
    "another version of the limiter than was asked for": (run) =>
      asking(run, { limiter_version: "7.1.1" }),
    "another version of the store than was asked for": (run) =>
      asking(run, { store_version: "1.0" }),
    "another Node than was asked for": (run) => asking(run, { node: "1.0" }),
    "a version that was asked for and not seen": (run) => {
      asking(run, { limiter_version: "11.4.0" });
      delete run.versions.limiter;
    },
  },
  "M19 suspect": {
    "a client whose version was not seen": (run) => delete run.versions.client,
    "a store whose version was not seen": (run) => delete run.versions.store,
  },
};

describe.each(Object.entries(spoiledRuns))("%s, and nothing else, for", (expected, cases) => {
  test.each(Object.entries(cases))("%s", (_what, spoil) => {
    const run = validEvidence();
    spoil(run);
    const { status, reasons } = judgeRun(run);
    expect(reasons.map(({ rule, severity }) => `${rule} ${severity}`).join(", ")).toBe(expected);
    expect(status).toBe(expected.includes("invalid") ? "invalid" : "suspect");
    for (const { text } of reasons) expect(text).toMatch(/\S/);
  });
});

test("each rule has a spoiled run to which it objects", () => {
  // An open loop, a run without requests, and one beside other programs have tests of their own.
  const objecting = new Set(["M5", "M9", "M25"]);
  for (const expected of Object.keys(spoiledRuns)) {
    for (const word of expected.split(/,? /)) objecting.add(word);
  }
  expect(rules.map(({ id }) => id).filter((id) => !objecting.has(id))).toEqual([]);
});
