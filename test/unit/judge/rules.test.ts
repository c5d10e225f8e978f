import { describe, expect, test } from "vitest";
import type { ConsumerEvidence } from "../../../src/contract/consumer-evidence.js";
import type { FaultRecord } from "../../../src/contract/faults.js";
import type { RoleResources } from "../../../src/contract/role-resources.js";
import { admissionsOf } from "../../../src/judge/admission-accounting.js";
import { accounted, addCounts, answered, failed, served } from "../../../src/judge/counts.js";
import { encodeHistogram, mergeHistograms } from "../../../src/judge/histogram.js";
import { latencyBlock } from "../../../src/judge/latency.js";
import { limitOf } from "../../../src/judge/limit.js";
import { outcomeOf } from "../../../src/judge/outcome.js";
import { judge, RULES_VERSION, rules } from "../../../src/judge/rules.js";
import {
  addFailures,
  addGenerator,
  CONSUMES,
  configuration,
  evalsha,
  generatorOf,
  histogramOf,
  limiterLayerEvidence,
  openLoopEvidence,
  reading,
  role,
  serverOf,
  storeOf,
  type ValidRun,
  validEvidence,
} from "../../helpers/evidence.js";

const restart: FaultRecord = {
  name: "store-restart",
  action: "restart",
  roles: ["store-1"],
  planned: { start_s: 3.5, length_s: 0.5 },
  injected: { from_s: 3.5, to_s: 4.1 },
  undone: true,
};
const planned = { start_s: 3.5, length_s: 0 };
const flush: FaultRecord = { ...restart, name: "script-flush", action: "flush-scripts", planned };
const serverRestart: FaultRecord = { ...restart, name: "server-restart", roles: ["server-1"] };

/** A run with these faults, changed. */
function runWith(faults: FaultRecord[], change: (run: ValidRun) => void = () => {}): ValidRun {
  const run = { ...validEvidence(), faults };
  change(run);
  return run;
}
const reasonsOf = (run: ValidRun) => judge(run).reasons.map(({ rule }) => rule);

/** The store is another process, which has counted less. */
function restartStore({ store }: ValidRun): void {
  const [node] = store.nodes;
  if (node) node.at_end = reading({ run_id: "store-run-2", uptime_s: 1, decisions: 17 });
}

describe("rules do not judge what a planned fault explains:", () => {
  test("a store that was restarted on purpose", () => {
    expect(reasonsOf(runWith([], restartStore))).toEqual(expect.arrayContaining(["M8", "M14"]));
    const verdict = judge(runWith([restart], restartStore));
    expect(verdict.reasons).toEqual([]);
    expect(verdict.not_applicable.map(({ rule }) => rule)).toContain("M8");
  });

  test("but a restart of another role, or beside another fault", () => {
    expect(reasonsOf(runWith([serverRestart], restartStore))).toContain("M14");
    expect(reasonsOf(runWith([flush], restartStore))).toEqual(
      expect.arrayContaining(["M8", "M14"]),
    );
  });

  test("a server that was restarted on purpose", () => {
    const younger = ({ consumers }: ValidRun) => {
      const [server] = consumers;
      if (server) server.at_end = { ...server.at_end, uptime_s: 1, requests: 40 };
    };
    expect(reasonsOf(runWith([restart], younger))).toContain("M8");
    expect(reasonsOf(runWith([serverRestart], younger))).toEqual([]);
  });

  test("a mix of outcomes that failures and lost counts shift", () => {
    const shifted = ({ prediction }: ValidRun) => {
      prediction.limited_share = 0.5;
    };
    expect(reasonsOf(runWith([flush], shifted))).toEqual(["M10"]);
    expect(reasonsOf(runWith([restart], shifted))).toEqual([]);
  });

  test("requests that are counted twice stay invalid beside any fault", () => {
    const lost = ({ counts }: ValidRun) => {
      counts.sent += 5;
    };
    expect(reasonsOf(runWith([restart], lost))).toContain("M8");
  });

  test("a ramp is looked for before the fault", () => {
    const ramp = ({ slices }: ValidRun) => {
      slices.allowed = slices.allowed.map((count, index) => (index < 10 ? count / 2 : count));
      slices.limited = slices.limited.map((count, index) => (index < 10 ? count / 2 : count));
    };
    expect(reasonsOf(runWith([flush], ramp))).toContain("M26");
    const early = {
      ...flush,
      planned: { start_s: 2, length_s: 0 },
      injected: { from_s: 2, to_s: 2 },
    };
    expect(reasonsOf(runWith([early], ramp))).not.toContain("M26");
  });
});

describe("the outcome beside a fault is what the target did before it and at the end:", () => {
  /** Requests that failed in so many slices from that one on. */
  const failing = (from: number, slices: number, perSlice = 200) =>
    runWith([restart], (run) => {
      run.slices.failed = run.slices.failed.map((_, index) =>
        index >= from && index < from + slices ? perSlice : 0,
      );
      run.slices.allowed = run.slices.allowed.map((count, index) =>
        index >= from && index < from + slices ? Math.max(0, count - perSlice) : count,
      );
      run.duration = 5;
    });
  const outcome = (run: ValidRun) =>
    outcomeOf(run, { status: "valid", reasons: [], not_applicable: [] }).outcome;
  const early = {
    ...restart,
    planned: { start_s: 1, length_s: 1 },
    injected: { from_s: 1, to_s: 2 },
  };

  test("failures of the fault are what is measured", () => {
    // The window has 50 slices.
    expect(outcome(failing(10, 8))).toBe("failed");
    expect(outcome({ ...failing(10, 8), faults: [early] })).toBe("served");
  });

  test("a target that does not recover has failed; one that failed before has, too", () => {
    expect(outcome({ ...failing(10, 40), faults: [early] })).toBe("failed");
    expect(outcome({ ...failing(2, 2), faults: [early] })).toBe("failed");
    // One late time-out of a request that was sent in the outage is no relapse.
    expect(outcome({ ...failing(30, 1, 10), faults: [early] })).toBe("served");
  });
});

/** What a service counted before and of the consumes of the valid evidence. */
const COUNTED = { decisions: 20 + CONSUMES, allowed: 10 + CONSUMES - 1_201, limited: 10 + 1_201 };

type Service = NonNullable<ValidRun["service"]>;
type Run = Omit<ValidRun, "service"> & { service: Service };

const target = {
  ...configuration.target,
  text: "envoy-grpc@valkey:standalone",
  label: "envoy-grpc@valkey",
  client: "envoy-grpc",
  limiter: "envoy-ratelimit",
  decided_by: "service" as const,
  service: "envoy-ratelimit",
};

/** A run with a service to which no rule objects. */
function validRun(): Run {
  const plain = validEvidence();
  const server = serverOf(plain);
  server.target = target.text;
  delete server.limiter_script;
  server.client_settings = { protocol: "gRPC" };
  Object.assign(storeOf(plain).at_end, { decisions: CONSUMES, script_calls: {} });
  return {
    ...plain,
    configuration: { ...configuration, target },
    resources: { ...plain.resources, "service-1": role("service", 50) },
    service: {
      id: "envoy-ratelimit",
      role: "service-1",
      at_start: { run_id: "1", decisions: 20, allowed: 10, limited: 10 },
      at_end: { run_id: "1", ...COUNTED },
      settings: {},
    },
  };
}

const findings = (run: Run) =>
  judge(run).reasons.map(({ rule, severity, text }) => `${rule} ${severity}: ${text}`);

describe("the rules of a run with a service", () => {
  test("object to nothing that is in order", () => {
    expect(judge(validRun())).toMatchObject({ status: "valid", reasons: [] });
  });

  test.each<[string, (run: Run) => void, string]>([
    ["a decision that it did not count", ({ service }) => service.at_end.decisions--, "M8 invalid"],
    ["one that nobody got", ({ service }) => service.at_end.decisions++, "M8 invalid"],
    [
      "denials that were got as admissions",
      ({ service: { at_end } }) =>
        Object.assign(at_end, {
          allowed: (at_end.allowed ?? 0) - 1,
          limited: (at_end.limited ?? 0) + 1,
        }),
      "M8 invalid",
    ],
    [
      "too few decisions in the store",
      (run) => (storeOf(run).at_end.decisions = CONSUMES - 1),
      "M8 invalid",
    ],
    ["another process at the end", ({ service }) => (service.at_end.run_id = "2"), "M14 invalid"],
    ["no CPU counters", (run) => delete run.resources["service-1"], "M15 suspect"],
  ])("object to %s", (_name, spoil, expected) => {
    const run = validRun();
    spoil(run);
    const found = findings(run);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });

  test("count the descriptors of a call, and its failures as unknown", () => {
    const run = validRun();
    const { consumes } = serverOf(run).at_end;
    if (!consumes) throw new Error("counts");
    // Half as many calls, each of two descriptors; one of them failed.
    Object.assign(consumes, { calls: CONSUMES / 2, allowed: consumes.allowed - 2, failed: 2 });
    expect(findings(run).filter((text) => text.startsWith("M8"))).toEqual([]);
    run.service.at_end.decisions -= 3;
    expect(findings(run).filter((text) => text.startsWith("M8"))).toHaveLength(1);
  });

  test("know that it counts the points of a request", () => {
    const run = validRun();
    run.configuration = { ...configuration, target, limits: { ...configuration.limits, cost: 5 } };
    run.service.at_end.decisions = 20 + 5 * CONSUMES;
    expect(findings(run)).toEqual([]);
  });

  test("do not compare with the store where some decisions do not reach it", () => {
    const run = validRun();
    run.configuration = { ...configuration, target: { ...target, decides_locally: true } };
    storeOf(run).at_end.decisions = 5;
    expect(findings(run)).toEqual([]);
    expect(judge(run).not_applicable).toContainEqual(expect.objectContaining({ rule: "M8" }));
  });
});

describe("what limited a run with a service", () => {
  const busy = (loop: number, run: Run = validRun()): Run => {
    const { at_window_open, at_end } = serverOf(run);
    at_end.event_loop_active_ms = at_window_open.event_loop_active_ms + loop * 1000 * run.duration;
    return run;
  };

  test("is the service, measured at its cap or the CPUs of the machine", () => {
    const run = busy(0.5);
    run.resources["service-1"] = role("service", 380);
    expect(limitOf(run)).toEqual({
      resource: "service CPU",
      text: expect.stringMatching(/service-1 .*95 %/),
    });
    run.resources["service-1"] = role("service", 195, { caps: { cpus: 2 } });
    expect(limitOf(run)).toEqual({
      resource: "service CPU",
      text: expect.stringMatching(/service-1 .*98 %/),
    });
  });

  test("is the client where the Node program is busy, at both layers; then nothing is claimed about the service", () => {
    expect(limitOf(busy(0.97)).resource).toBe("client");
    const run = {
      ...limiterLayerEvidence(),
      configuration: { ...configuration, layer: "limiter" as const, target },
    };
    for (const { workers } of run.generators)
      for (const worker of workers) worker.event_loop_utilisation = 0.96;
    expect(limitOf(run).resource).toBe("client");
  });
});

describe("the counts of keys", () => {
  test("lie between the answered and the sent consumes", () => {
    const found = admissionsOf([
      { key: "all answered", least: 40, most: 40, counted: 40 },
      { key: "two without an answer", least: 8, most: 10, counted: 9 },
    ]);
    const points = { least: 48, most: 50, counted: 49 };
    expect(found).toEqual({ status: "counted", keys: 2, points, below: 0, above: 0 });
  });

  test("that lie outside are counted by direction, and the key that is furthest off is named", () => {
    const surplus = { key: "surplus", least: 5, most: 6, counted: 8 };
    const lost = { key: "lost", least: 40, most: 40, counted: 37 };
    expect(
      admissionsOf([{ key: "fine", least: 1, most: 1, counted: 1 }, surplus, lost]),
    ).toMatchObject({
      below: 1,
      above: 1,
      worst: lost,
    });
  });
});

test("CPU time is divided by the requests that the server answered between its readings", () => {
  const run = validEvidence();
  const { consumers, counts } = run;
  const server = serverOf(run);
  expect(served(consumers, run)).toBe(server.at_end.requests - server.at_window_open.requests);
  expect(served(consumers, run)).toBeGreaterThan(answered(counts));
  // Neither what the warm-up left under way, nor what was still under way at the end.
  server.at_window_open.in_flight = 2;
  server.at_end.in_flight = 5;
  expect(served(consumers, run)).toBe(counts.sent - 3);
});

const harmless: Record<string, (run: ValidRun) => void> = {
  "requests that failed: what the target did is its outcome": (run) => {
    for (const kind of ["failed_answers", "connection_errors", "timed_out"] as const) {
      addFailures(run, kind, 100);
      addFailures(run, kind, 1, "after it");
    }
  },
  "a script call whose consume failed, run or not": (run) => {
    const { consumes } = serverOf(run).at_end;
    if (consumes) Object.assign(consumes, { calls: consumes.calls + 2, failed: 2 });
    Object.assign(storeOf(run).at_end, evalsha(CONSUMES + 1));
  },
  "lost and timed-out requests that never reached the server": (run) => {
    addFailures(run, "timed_out", 3);
    addFailures(run, "connection_errors", 2, "after it");
    serverOf(run).at_end.requests -= 5;
  },
  "consumes that are still under way, because nobody waits for them any more, run or not": (
    run,
  ) => {
    const { at_end } = serverOf(run);
    addFailures(run, "timed_out", 3);
    at_end.in_flight = 3;
    if (at_end.consumes) at_end.consumes.calls += 3;
    Object.assign(storeOf(run).at_end, evalsha(CONSUMES + 2));
  },
  "calls under several commands": (run) => {
    const script_calls = {
      eval: { calls: 5, failed: 0 },
      evalsha: { calls: CONSUMES - 4, failed: 1 },
    };
    Object.assign(storeOf(run).at_end, { decisions: CONSUMES, script_calls });
  },
  "calls on several nodes": (run) => {
    run.store.nodes.push({ role: "store-2", at_start: reading(), at_end: reading(evalsha(40, 3)) });
    Object.assign(storeOf(run).at_end, evalsha(CONSUMES - 37));
    run.resources["store-2"] = run.resources["store-1"] as NonNullable<
      (typeof run.resources)[string]
    >;
  },
  "evictions before the run": (run) => {
    storeOf(run).at_start.evicted_keys = 7;
    storeOf(run).at_end.evicted_keys = 7;
  },
};

test.each(Object.entries(harmless))("%s: no rule objects", (_what, change) => {
  const run = validEvidence();
  change(run);
  expect(judge(run)).toMatchObject({ status: "valid", reasons: [] });
});

test("invalid outweighs suspect, and both reasons are reported", () => {
  const run = validEvidence();
  storeOf(run).at_end.evicted_keys = 1;
  storeOf(run).at_start.keys = 1;
  const { status, reasons } = judge(run);
  expect(status).toBe("invalid");
  expect(reasons.map(({ severity }) => severity)).toEqual(["invalid", "suspect"]);
});

test("a run without any request is invalid, not an empty valid one", () => {
  const run = validEvidence();
  const none = { allowed: 0, limited: 0, failed_answers: 0, connection_errors: 0, timed_out: 0 };
  const nothing = { ...none, sent: 0, followed: 0, after_window: none, cut: 0, by_code: {} };
  run.counts = nothing;
  const empty = histogramOf(0);
  const histograms = { allowed: empty, limited: empty, failed: empty, censored: empty };
  Object.assign(generatorOf(run), { counts: nothing, histograms });
  run.requests = { average: 0, total: 0 };
  delete run.latency;
  const { status, reasons } = judge(run);
  expect(status).toBe("invalid");
  expect(reasons.map(({ rule }) => rule)).toContain("M9");
});

describe("a rule that cannot be applied says why, and neither passes nor fails the run", () => {
  test("for a foreign server", () => {
    const { store: _t, prediction: _p, configuration: _c, ...seen } = validEvidence();
    const { status, not_applicable } = judge({ ...seen, consumers: [] });
    expect(status).toBe("valid");
    expect(not_applicable.map(({ rule }) => rule)).toEqual([
      "M8",
      "M10",
      "M11",
      "M12",
      "M13",
      "M15",
      "M19",
    ]);
  });

  test("Little's law with few answers or with failures among them", () => {
    const run = validEvidence();
    addFailures(run, "connection_errors", 1);
    expect(judge(run).not_applicable.map(({ rule }) => rule)).toEqual(["M7"]);
  });
});

test("counts of several workers add up, by code too; failures, also after the window, are no answers", () => {
  const one = {
    sent: 11,
    allowed: 5,
    limited: 1,
    failed_answers: 1,
    connection_errors: 1,
    timed_out: 1,
    followed: 2,
    after_window: { allowed: 1, limited: 0, failed_answers: 0, connection_errors: 0, timed_out: 1 },
    cut: 0,
    by_code: { "200": 5, "429": 1, "503": 1 },
  };
  const sum = addCounts([one, one, { ...one, by_code: { "200": 4, "201": 1 } }]);
  expect(sum).toMatchObject({
    sent: 33,
    allowed: 15,
    followed: 6,
    after_window: { allowed: 3, timed_out: 3 },
    by_code: { "200": 14, "201": 1, "429": 2, "503": 2 },
  });
  expect([answered(sum), failed(sum), accounted(sum)]).toEqual([18, 12, 33]);
});

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

/** Each spoils a valid run; the rules that must object stand in the group's name. */
const faults: Record<string, Record<string, Spoil>> = {
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

test("at the limiter layer Little's law has no subject where the limiter is in the client's own process", () => {
  const run = limiterLayerEvidence();
  const memory = { ...configuration.target, store: "memory" };
  run.configuration = { ...configuration, layer: "limiter", target: memory };
  serverOf(run).target = memory.text;
  if (run.latency) run.latency.average = 0.001;
  expect(judge(run)).toMatchObject({
    status: "valid",
    not_applicable: [{ rule: "M6" }, { rule: "M7" }, {}, {}],
  });
});

test("Little's law holds where followed requests took long: their time lies beyond the window", () => {
  const run = validEvidence();
  const { histograms } = generatorOf(run);
  // The five that were followed were answered 10 s later.
  histograms.allowed = encodeHistogram(mergeHistograms([histogramOf(9_000), histogramOf(4, 10e6)]));
  histograms.limited = encodeHistogram(mergeHistograms([histogramOf(1_000), histogramOf(1, 10e6)]));
  const latency = latencyBlock([histograms]);
  if (!latency) throw new Error("a latency");
  run.latency = latency;
  expect(latency.average).toBeGreaterThan(9);
  expect(judge(run)).toMatchObject({ status: "valid", reasons: [] });
});

test("failed requests may have been allowed or limited: a mix that they explain is the target's outcome", () => {
  const run = validEvidence();
  // A store that fails for half of the consumes, while exhausted keys are rejected without it.
  addFailures(run, "failed_answers", 10_000);
  run.prediction = { ...run.prediction, limited_share: 0.05 };
  const verdict = judge(run);
  expect(verdict.reasons).toEqual([]);
  expect(outcomeOf(run, verdict).outcome).toBe("failed");
  // All of them together cannot explain this one.
  run.prediction = { ...run.prediction, limited_share: 0.03 };
  expect(judge(run).reasons.map(({ rule }) => rule)).toEqual(["M10"]);
});

test("a limiter that takes all descriptors in one call reconciles by calls; a failed call may have counted", () => {
  const run = validEvidence();
  const { consumes } = serverOf(run).at_end;
  if (!consumes) throw new Error("consumes");
  Object.assign(consumes, { allowed: 2 * (CONSUMES - 1), limited: 0, failed: 2 });
  const counting = (calls: number) => {
    Object.assign(storeOf(run).at_end, evalsha(calls));
    return judge(run).reasons.filter(({ rule }) => rule === "M8").length;
  };
  expect([CONSUMES - 3, CONSUMES - 1, CONSUMES, CONSUMES + 1].map(counting)).toEqual([1, 0, 0, 1]);
});

describe("several servers", () => {
  /** The valid run, whose consumes two servers shared. */
  function twoServers(): ValidRun {
    const run = validEvidence();
    const second = { ...structuredClone(serverOf(run)), id: "server-2" };
    run.resources["server-2"] = structuredClone(run.resources["server-1"] as RoleResources);
    for (const usage of [second.at_window_open, second.at_end]) {
      usage.requests = 0;
      usage.consumes = { calls: 0, allowed: 0, limited: 0, failed: 0 };
    }
    run.consumers.push(second);
    return run;
  }

  test("count together", () => {
    const run = twoServers();
    const [first, second] = run.consumers.map(({ at_end }) => at_end);
    if (!first?.consumes || !second?.consumes) throw new Error("two servers");
    first.requests -= 300;
    second.requests += 300;
    first.consumes.allowed -= 300;
    second.consumes.allowed += 300;
    expect(judge(run)).toMatchObject({ status: "valid", not_applicable: [] });
    second.consumes.allowed--;
    expect(judge(run).reasons).toMatchObject([{ rule: "M8", text: /^server-1, server-2 decided/ }]);
  });

  test.each<[string, string, (server: ConsumerEvidence) => void]>([
    ["M12", "server-2", (server) => (server.target = "ioredis@valkey:standalone")],
    ["M13", "server-2", (server) => (server.at_start.requests = 1)],
    ["M14", "server-2", (server) => (server.at_end.uptime_s = 0.5)],
  ])("%s names the one at fault", (rule, text, spoil) => {
    const run = twoServers();
    spoil(run.consumers[1] as ConsumerEvidence);
    expect(judge(run).reasons).toMatchObject([{ rule, text: expect.stringContaining(text) }]);
  });
});

test("rules that need evidence which a store does not give are not applicable", () => {
  const run = validEvidence();
  const { version, uptime_s } = storeOf(run).at_end;
  run.store.nodes = [
    { role: "store-1", at_start: { version, uptime_s }, at_end: { version, uptime_s } },
  ];
  delete serverOf(run).limiter_script;
  const { status, not_applicable } = judge(run);
  expect(status).toBe("valid");
  expect(not_applicable.map(({ rule }) => rule)).toEqual(["M8", "M13", "M14", "M14"]);
});

test("a store without an id of its process has restarted if it is younger than the window", () => {
  const judged = (uptime_s: number) => {
    const run = validEvidence();
    const { version } = storeOf(run).at_end;
    const at_start = { version, uptime_s: 3 };
    run.store.nodes = [{ role: "store-1", at_start, at_end: { version, uptime_s } }];
    delete serverOf(run).limiter_script;
    return judge(run).reasons.map(({ rule }) => rule);
  };
  const { duration } = validEvidence();
  expect(judged(Math.ceil(3 + duration))).toEqual([]);
  expect(judged(1)).toEqual(["M14"]);
});

describe("M8, decisions that are not one command each,", () => {
  const judged = (spoil: (run: ValidRun) => void) => {
    const run = validEvidence();
    spoil(run);
    return judge(run).reasons.filter(({ rule }) => rule === "M8");
  };
  const consumesOf = (run: ValidRun) => {
    const { at_start, at_end } = serverOf(run);
    if (!at_start.consumes || !at_end.consumes) throw new Error("consumes");
    return { before: at_start.consumes, after: at_end.consumes };
  };

  test("are reconciled by their commands", () => {
    const plant = (run: ValidRun, difference: number): void => {
      const { before, after } = consumesOf(run);
      const node = storeOf(run);
      before.commands = 0;
      after.commands = 1_000_000;
      node.at_end.decisions = (node.at_start.decisions ?? 0) + 1_000_000 + difference;
    };
    expect(judged((run) => plant(run, 0))).toEqual([]);
    for (const difference of [-1, 1])
      expect(judged((run) => plant(run, difference))).toMatchObject([{ severity: "invalid" }]);
  });

  test("may lack denials in the store where the process denies itself, and nothing else", () => {
    const plant = (run: ValidRun, seen: (allowed: number, all: number) => number): void => {
      const { before, after } = consumesOf(run);
      if (run.configuration) run.configuration.target.decides_locally = true;
      const node = storeOf(run);
      const allowed = after.allowed - before.allowed;
      const all = allowed + after.limited - before.limited;
      node.at_end.decisions = (node.at_start.decisions ?? 0) + seen(allowed, all);
    };
    expect(judged((run) => plant(run, (allowed) => allowed))).toEqual([]);
    expect(judged((run) => plant(run, (_allowed, all) => all))).toEqual([]);
    expect(judged((run) => plant(run, (allowed) => allowed - 1))).toMatchObject([
      { severity: "invalid" },
    ]);
    expect(judged((run) => plant(run, (_allowed, all) => all + 1))).toMatchObject([
      { severity: "invalid" },
    ]);
  });

  test("may lack in the store what was decided without it, and no more", () => {
    const plant = (run: ValidRun, missing: number): void => {
      const { before, after } = consumesOf(run);
      before.without_store = 5;
      after.without_store = 12;
      const node = storeOf(run);
      const decided = after.allowed - before.allowed + after.limited - before.limited;
      node.at_end.decisions = (node.at_start.decisions ?? 0) + decided - missing;
    };
    for (const missing of [0, 7]) expect(judged((run) => plant(run, missing))).toEqual([]);
    expect(judged((run) => plant(run, 8))).toMatchObject([{ severity: "invalid" }]);
  });
});

const starve = (run: ValidRun): void => {
  for (const worker of generatorOf(run).workers) worker.cpu_wait_share = 0.8;
};

describe("M25, CPU time of other programs,", () => {
  const judged = (foreign_cpu_percent: number, spoil: Spoil = () => {}) => {
    const run = validEvidence();
    run.host_load = { cpus: 2, busy_cpu_percent: 190, foreign_cpu_percent };
    spoil(run);
    return judge(run);
  };

  test("is a reason from a tenth of one CPU on, with the figure", () => {
    expect(judged(9.9).status).toBe("valid");
    expect(judged(10)).toMatchObject({ status: "suspect" });
    expect(judged(188.4).reasons).toEqual([
      { rule: "M25", severity: "suspect", text: expect.stringContaining("188 %") },
    ]);
  });

  test("is the only reason for a generator that waited for a CPU; roles that wait for each other are not a reason", () => {
    expect(judged(3, starve)).toMatchObject({ status: "valid", reasons: [] });
    expect(judged(120, starve).reasons.map(({ rule }) => rule)).toEqual(["M25"]);
  });

  test("is unknown if the system does not report it", () => {
    const run = validEvidence();
    delete run.host_load;
    expect(judge(run)).toMatchObject({ status: "valid", not_applicable: [{ rule: "M25" }] });
  });
});

test("M26 names the figures, the warm-up and the remedy", () => {
  const run = validEvidence();
  run.warmup = { ...run.warmup, took_s: 10.02, steady: false };
  run.slices.allowed.fill(90, 0, 10);
  const text = judge(run).reasons.find(({ rule }) => rule === "M26")?.text;
  for (const part of ["1100", "2000", "10 s", "--warmup"]) expect(text).toContain(part);
});

test("M26 does not blame the target for what other programs explain; then M25 says so", () => {
  const run = validEvidence();
  run.slices.allowed.fill(90, 0, 10);
  run.host_load = { cpus: 2, busy_cpu_percent: 195, foreign_cpu_percent: 60 };
  const { reasons, not_applicable } = judge(run);
  expect(reasons.map(({ rule }) => rule)).toContain("M25");
  expect(reasons.map(({ rule }) => rule)).not.toContain("M26");
  expect(not_applicable.map(({ rule }) => rule)).toContain("M26");
});

test("a clean run is valid, without a reason and with every rule applied", () => {
  expect(judge(validEvidence())).toEqual({
    rules_version: RULES_VERSION,
    status: "valid",
    reasons: [],
    not_applicable: [],
  });
});

test("a rule whose evidence an older result does not hold is not checked, and doubts nothing", () => {
  const { admissions: _, prediction: __, ...older } = validEvidence();
  const byTurns = { group: 2, turns: 100, lead_in_ms: 5, slice_ms: 100, drained_s: 0 };
  const { status, not_checked } = judge({ ...older, turns: byTurns });
  expect(status).toBe("valid");
  expect(not_checked?.map(({ rule }) => rule)).toEqual(["M16", "M10", "M27"]);
});

test("an open loop whose result has no latencies from the send is not checked for them", () => {
  expect(judge(openLoopEvidence())).toMatchObject({ reasons: [], not_checked: [{ rule: "M2" }] });
});

test("without a reading of the generator's clock M36 is not checked", () => {
  const run = validEvidence();
  delete generatorOf(run).longest_gap_ms;
  expect(judge(run).not_checked?.map(({ rule }) => rule)).toEqual(["M36"]);
  delete run.clock_change;
  expect(judge(run).not_checked?.map(({ rule }) => rule)).toEqual(["M36"]);
  generatorOf(run).longest_gap_ms = 2000;
  expect(judge(run)).toMatchObject({ status: "invalid", reasons: [{ rule: "M36" }] });
});

test("the load generator may stand still for a hundredth of a long window", () => {
  const reasonsIn = (duration: number, longest_gap_ms: number) => {
    const run = { ...validEvidence(), duration };
    generatorOf(run).longest_gap_ms = longest_gap_ms;
    return judge(run).reasons.flatMap(({ rule, text }) => (rule === "M36" ? [text] : []));
  };
  expect(reasonsIn(60, 600)).toEqual([]);
  expect(reasonsIn(60, 601)).toEqual([expect.stringContaining("0.60 s")]);
  expect(reasonsIn(5, 100)).toEqual([]);
});

test("our own control group that was throttled for longer than anything may stand still makes a run invalid [R-throttled-1]", () => {
  const run = validEvidence();
  run.own_throttling = { periods: 100, throttled_periods: 90, throttled_us: 4_000_000 };
  const reasons = judge(run).reasons.map(({ rule, severity }) => `${rule} ${severity}`);
  expect(reasons).toEqual(["M36 invalid", "M14 suspect"]);
  expect(judge(run).reasons[0]?.text).toContain("4.0 s");
});

describe("where something outside the target spoiled the run", () => {
  const outside: Record<string, (run: ValidRun) => void> = {
    "a generator that stood still": (run) => (generatorOf(run).longest_gap_ms = 2000),
    "a control group that was throttled": (run) =>
      (run.own_throttling = { periods: 100, throttled_periods: 90, throttled_us: 4_000_000 }),
    "a clock that was set": (run) => (run.clock_change = { changed_ms: -3_600_000, over_s: 12 }),
  };

  test.each(Object.entries(outside))(
    "%s is the reason, not what target or store seem to do [R-standstill-2] [R-clock-1]",
    (_, spoil) => {
      const run = validEvidence();
      run.admissions = admissionsOf([{ key: "a", least: 10, most: 10, counted: 4 }]);
      run.slices.allowed = run.slices.allowed.map((count, index) =>
        index < 10 ? count / 2 : count,
      );
      expect(judge(run).reasons.map(({ rule }) => rule)).toEqual(
        expect.arrayContaining(["M26", "M27"]),
      );
      spoil(run);
      const verdict = judge(run);
      const reasons = verdict.reasons.map(({ rule }) => rule);
      expect(reasons).toContain("M36");
      expect(reasons).not.toContain("M26");
      expect(reasons).not.toContain("M27");
      expect(verdict.not_applicable.map(({ rule }) => rule)).toEqual(
        expect.arrayContaining(["M26", "M27"]),
      );
      expect(outcomeOf(run, verdict)).toEqual({});
    },
  );

  test("requests that failed meanwhile are no outcome of the target", () => {
    const run = validEvidence();
    addFailures(run, "timed_out", 100);
    generatorOf(run).longest_gap_ms = 15_000;
    expect(outcomeOf(run, judge(run))).toEqual({});
  });
});

describe.each(Object.entries(faults))("%s, and nothing else, for", (expected, cases) => {
  test.each(Object.entries(cases))("%s", (_what, spoil) => {
    const run = validEvidence();
    spoil(run);
    const { status, reasons } = judge(run);
    expect(reasons.map(({ rule, severity }) => `${rule} ${severity}`).join(", ")).toBe(expected);
    expect(status).toBe(expected.includes("invalid") ? "invalid" : "suspect");
    for (const { text } of reasons) expect(text).toMatch(/\S/);
  });
});

test("each rule has a spoiled run to which it objects", () => {
  // An open loop, a run without requests, and one beside other programs have tests of their own.
  const objecting = new Set(["M5", "M9", "M25"]);
  for (const expected of Object.keys(faults)) {
    for (const word of expected.split(/,? /)) objecting.add(word);
  }
  expect(rules.map(({ id }) => id).filter((id) => !objecting.has(id))).toEqual([]);
});
