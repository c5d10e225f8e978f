import { describe, expect, test } from "vitest";
import { carriedLinks } from "../../../src/judge/carried-links.js";
import type { Evidence } from "../../../src/judge/evidence.js";
import { limitOf } from "../../../src/judge/limit.js";
import { judgeRun } from "../../../src/judge/rules.js";
import { limiterLayerEvidence, role, serverOf, validEvidence } from "../../helpers/evidence.js";

type Role = Evidence["resources"][string];

const MEGABYTE = 1e6;
const GIGABIT = { there: 1e9, back: 1e9 };

/** A role that sent and received so many megabytes. */
const over = (kind: Role["kind"], sent_mb: number, received_mb = 0): Role =>
  role(kind, 10, {
    network: { sent_bytes: sent_mb * MEGABYTE, received_bytes: received_mb * MEGABYTE },
  });

const link = (one: string, other: string, bits_per_second = GIGABIT) => ({
  between: [one, other] as [string, string],
  round_trip_us: { p50: 100, p90: 120, count: 1000 },
  bits_per_second,
});

const placement = { "generator-1": "a", "server-1": "b", "store-1": "c" };
const links = [link("a", "b"), link("b", "c")];

describe("what links between machines carried", () => {
  test("is the traffic of the role at its end, in the busier direction", () => {
    const resources = {
      "generator-1": over("generator", 100, 400),
      "server-1": over("server", 900, 900),
      "store-1": over("store", 50, 200),
    };
    const [first, second] = carriedLinks({ links, placement, resources }, 10);
    // 400 MB in 10 s are 320 Mbit/s.
    expect(first).toEqual({ between: ["a", "b"], share: 0.32, bits_per_second: 1e9 });
    expect(second?.share).toBeCloseTo(0.16);
  });

  test("several generators of a machine add up, and peers on several machines divide it", () => {
    const resources = {
      "generator-1": over("generator", 100),
      "generator-2": over("generator", 300),
      "server-1": role("server"),
      "server-2": role("server"),
    };
    const spread = { "generator-1": "a", "generator-2": "a", "server-1": "b", "server-2": "a" };
    expect(
      carriedLinks({ links: [link("a", "b")], placement: spread, resources }, 1)[0]?.share,
    ).toBeCloseTo(1.6);
  });

  test("is not known without counters, without links, or on one machine", () => {
    const resources = { "generator-1": over("generator", 1), "server-1": over("server", 1) };
    expect(carriedLinks({ resources }, 10)).toEqual([]);
    expect(carriedLinks({ links: [], placement, resources }, 10)).toEqual([]);
    expect(
      carriedLinks({ links, placement, resources: { "generator-1": role("generator") } }, 10),
    ).toEqual([]);
    const together = { "generator-1": "a", "server-1": "a" };
    expect(carriedLinks({ links, placement: together, resources }, 10)).toEqual([]);
  });
});

describe("the network as the limit of a run", () => {
  const run = (received_mb: number): Evidence => ({
    ...validEvidence(),
    duration: 10,
    placement,
    links,
    resources: {
      "generator-1": over("generator", 0, received_mb),
      "server-1": role("server"),
      "store-1": over("store", 0),
    },
  });
  const loaded = (share: number) => {
    const undisturbed = run(0);
    const loaded_s = undisturbed.duration + undisturbed.warmup.lead_in.took_s;
    return limitOf(run((share * loaded_s * 1e9) / 8 / MEGABYTE));
  };

  test("is told from 80 % of the measured rate on", () => {
    expect(loaded(0.81)).toEqual({
      resource: "network",
      text: expect.stringMatching(/a ⇄ b .*81 %/),
    });
    expect(loaded(0.79).resource).toBe("none");
  });

  test("is told of a machine whose roles have no counters of their own", () => {
    const undisturbed = run(0);
    const loaded_s = undisturbed.duration + undisturbed.warmup.lead_in.took_s;
    const network = { received_bytes: (0.9 * loaded_s * 1e9) / 8, sent_bytes: 0 };
    const machine_load = { b: { cpus: 8, busy_cpu_percent: 100, foreign_cpu_percent: 0, network } };
    expect(limitOf({ ...undisturbed, machine_load })).toEqual({
      resource: "network",
      text: expect.stringMatching(/^b.*90 %/),
    });
  });
});

describe("the CPUs of several machines", () => {
  const machine_load = {
    a: { cpus: 2, busy_cpu_percent: 40, foreign_cpu_percent: 3 },
    b: { cpus: 2, busy_cpu_percent: 190, foreign_cpu_percent: 25 },
  };
  const plain = validEvidence();
  delete plain.host_load;

  test("are the limit of a run, by machine", () => {
    expect(limitOf({ ...plain, machine_load })).toMatchObject({
      resource: "host CPU",
      text: expect.stringMatching(/^b.* 95 % .*25 %/),
    });
  });

  test("make it suspect where other programs use them, with the machine's name", () => {
    expect(judgeRun({ ...plain, machine_load }).reasons).toContainEqual(
      expect.objectContaining({ rule: "M25", text: expect.stringMatching(/25 % .*machine b/) }),
    );
  });
});

/** In which nothing is sent, so that counters can be read. */
const PAUSES_MS = 700;

/**
 * A run with a server's event loop so busy between its drained readings, which are longer apart
 * than the window, and these roles.
 */
function run(
  loop: number,
  resources: Record<string, Role>,
  changes: Partial<Evidence> = {},
): Evidence {
  const plain = validEvidence();
  const { at_window_open: open, at_end } = serverOf(plain);
  const window_ms = 1000 * plain.duration;
  at_end.event_loop_active_ms = open.event_loop_active_ms + loop * window_ms;
  at_end.event_loop_idle_ms = open.event_loop_idle_ms + (1 - loop) * window_ms + PAUSES_MS;
  return { ...plain, resources: { "server-1": role("server", 0), ...resources }, ...changes };
}

const withWorkers = (
  change: Partial<Evidence["generators"][number]["workers"][number]>,
): Partial<Evidence> => ({
  generators: validEvidence().generators.map((part) => ({
    ...part,
    workers: part.workers.map((worker) => ({ ...worker, ...change })),
  })),
});
const hostLoad = (busy_cpu_percent: number, foreign_cpu_percent = 0): Partial<Evidence> => ({
  host_load: { cpus: 2, busy_cpu_percent, foreign_cpu_percent },
});
/**
 * A run of 10 s whose generator has a link of 1 Gbit/s that carried so many bytes in each
 * direction.
 */
const overLink = (received_bytes: number, sent_bytes: number): Partial<Evidence> => {
  const link = { name: "eth0", bits_per_second: 1e9, received_bytes, sent_bytes };
  return {
    generators: validEvidence().generators.map((part) => ({ ...part, links: [link] })),
    duration: 10,
  };
};
const denied = (basis: "limits" | "traffic"): Partial<Evidence> => ({
  counts: { ...validEvidence().counts, allowed: 10, limited: 9_990 },
  prediction: { limited_share: 1, seen_share: 1, tolerance: 0.01, basis },
});
const store = (cpuPercent: number, more: Partial<Role> = {}) => ({
  "store-1": role("store", cpuPercent, more),
});
const server = (cpuPercent: number, more: Partial<Role> = {}) => ({
  "server-1": role("server", cpuPercent, more),
});
const throttling = { periods: 10, throttled_periods: 10, throttled_us: 1 };
const samples = [
  { t_s: 1, interval_s: 1, allowed: 1, limited: 0, failed: 0, server_event_loop_utilisation: 0.8 },
];

const TURNS = { group: 2, turns: 10, lead_in_ms: 5, slice_ms: 100, drained_s: 0.01 };
const halves = (ratio: number) => ({ turns: { ...TURNS, halves: { ratio, error: 0.01 } } });
const stores = { ...store(30), "store-2": role("store", 96) };

describe("the resource that limited a run, with its figure", () => {
  test.each<[string, Evidence, string, ...string[]]>([
    ["a busy loop", run(0.97, { ...server(90), ...store(40) }), "server loop", "97 %"],
    ["a busy store", run(0.5, stores), "store CPU", "store-2", "96 %"],
    [
      "the most used of several, all of which are named",
      run(0.92, store(99)),
      "store CPU",
      "92 %",
      "99 %",
    ],
    ["a server at its cap", run(0.4, server(48, { caps: { cpus: 0.5 } })), "server CPU"],
    [
      "a server that was held up",
      run(0.4, server(30, { caps: { cpus: 2 }, throttling })),
      "server CPU",
    ],
    ["a store at its cap", run(0.4, store(49, { caps: { cpus: 0.5 } })), "store CPU"],
    ["a store below its cap", run(0.4, store(49, { caps: { cpus: 2 } })), "none"],
    ["an unsteady window", run(0.97, {}, halves(0.8)), "none"],
    ["a steady one", run(0.97, {}, halves(0.95)), "server loop"],
    ["a busy generator", run(0.5, {}, withWorkers({ event_loop_utilisation: 0.95 })), "generator"],
    [
      "a generator without a CPU",
      run(0.5, {}, withWorkers({ cpu_wait_share: 0.7 })),
      "generator",
      "70 %",
    ],
    [
      "the loop by its active time, not by samples",
      run(0.96, {}, { samples }),
      "server loop",
      "96 %",
    ],
    // Answers to requests that were under way when the window closed come after it.
    ["a loop that went on after the window", run(1.02, {}), "server loop", "100 %"],
    [
      "the host, not a loop that may have waited for it",
      run(1, {}, hostLoad(184)),
      "host CPU",
      "92 %",
    ],
    [
      "the CPUs that our processes may use, while others are idle",
      run(
        0.4,
        {},
        { host_load: { cpus: 2, cpus_allowed: 1, busy_cpu_percent: 98, foreign_cpu_percent: 1 } },
      ),
      "host CPU",
      "the 1 of 2 CPUs",
    ],
    ["other programs on the host", run(0.4, {}, hostLoad(198, 112.4)), "host CPU", "99 %", "112 %"],
    ["a loop on a host that was not full", run(0.95, {}, hostLoad(178)), "server loop"],
    ["nothing, most of all the host", run(0.3, {}, hostLoad(160)), "none", "80 %"],
    [
      "a link that was full one way",
      run(0.5, {}, overLink(1.2e9, 0.3e9)),
      "network",
      "eth0",
      "96 %",
    ],
    ["a link that was full the other way", run(0.5, {}, overLink(0.3e9, 1.2e9)), "network"],
    // A link carries its rate each way: the two do not add up.
    ["a link that was half full both ways", run(0.5, {}, overLink(0.7e9, 0.7e9)), "none"],
    ["a quota that admitted almost nothing", run(0.5, {}, denied("limits")), "quota"],
    ["traffic that is denied by itself", run(0.5, {}, denied("traffic")), "none"],
  ])("%s", (_what, evidence, resource, ...figures) => {
    const limit = limitOf(evidence);
    expect(limit.resource).toBe(resource);
    for (const figure of figures) expect(limit.text).toContain(figure);
  });

  test("is the client at the limiter layer, where the generator calls the limiter itself", () => {
    const plain = limiterLayerEvidence();
    for (const worker of plain.generators.flatMap(({ workers }) => workers))
      worker.event_loop_utilisation = 0.98;
    expect(limitOf(plain).resource).toBe("client");
  });

  test("is a store whose threads are all busy, where it has several", () => {
    const undisturbed = run(0.5, store(150));
    undisturbed.store = { ...validEvidence().store, command_threads: 2 };
    expect(limitOf(undisturbed).resource).toBe("none");
    undisturbed.resources["store-1"] = role("store", 190);
    expect(limitOf(undisturbed).resource).toBe("store CPU");
  });
});
