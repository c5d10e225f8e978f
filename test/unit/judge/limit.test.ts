import { describe, expect, test } from "vitest";
import type { Evidence } from "../../../src/judge/evidence.js";
import { limitOf } from "../../../src/judge/limit.js";
import { limiterLayerEvidence, serverOf, validEvidence } from "../../helpers/evidence.js";

/** In which nothing is sent, so that counters can be read. */
const PAUSES_MS = 700;

type Role = Evidence["resources"][string];

function role(kind: Role["kind"], cpuPercent: number, more: Partial<Role> = {}): Role {
  return { kind, source: "x", cpu_us: 1, cpu_percent: cpuPercent, samples: [], ...more };
}

/** A run with a server's event loop so busy between its drained readings, which are longer apart than the window, and these roles. */
function run(loop: number, resources: Record<string, Role>, changes: Partial<Evidence> = {}): Evidence {
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
    workers: part.workers.map((each) => ({ ...each, ...change })),
  })),
});
const hostLoad = (busy_cpu_percent: number, foreign_cpu_percent = 0): Partial<Evidence> => ({
  host_load: { cpus: 2, busy_cpu_percent, foreign_cpu_percent },
});
/** A run of 10 s whose generator has a link of 1 Gbit/s that carried so many bytes in each direction. */
const overLink = (received_bytes: number, sent_bytes: number): Partial<Evidence> => {
  const link = { name: "eth0", bits_per_second: 1e9, received_bytes, sent_bytes };
  return { generators: validEvidence().generators.map((part) => ({ ...part, links: [link] })), duration: 10 };
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

describe("the resource that limited a run, with its figure", () => {
  test.each<[string, Evidence, string, ...string[]]>([
    ["a busy loop", run(0.97, { ...server(90), ...store(40) }), "server loop", "97 %"],
    [
      "a busy store",
      run(0.5, { ...store(30), "store-2": role("store", 96) }),
      "store CPU",
      "store-2",
      "96 %",
    ],
    ["the most used of several, all of which are named", run(0.92, store(99)), "store CPU", "92 %", "99 %"],
    ["a server at its cap", run(0.4, server(48, { caps: { cpus: 0.5 } })), "server CPU"],
    ["a server that was held up", run(0.4, server(30, { caps: { cpus: 2 }, throttling })), "server CPU"],
    ["a store at its cap", run(0.4, store(49, { caps: { cpus: 0.5 } })), "store CPU"],
    ["a store below its cap", run(0.4, store(49, { caps: { cpus: 2 } })), "none"],
    [
      "an unsteady window",
      run(0.97, {}, { turns: { ...TURNS, halves: { ratio: 0.8, error: 0.01 } } }),
      "none",
    ],
    [
      "a steady one",
      run(0.97, {}, { turns: { ...TURNS, halves: { ratio: 0.95, error: 0.01 } } }),
      "server loop",
    ],
    ["a busy generator", run(0.5, {}, withWorkers({ event_loop_utilisation: 0.95 })), "generator"],
    ["a generator without a CPU", run(0.5, {}, withWorkers({ cpu_wait_share: 0.7 })), "generator", "70 %"],
    ["the loop by its active time, not by samples", run(0.96, {}, { samples }), "server loop", "96 %"],
    // Answers to requests that were under way when the window closed come after it.
    ["a loop that went on after the window", run(1.02, {}), "server loop", "100 %"],
    [
      "the host, rather than a loop that may have waited for it",
      run(1, {}, hostLoad(184)),
      "host CPU",
      "92 %",
    ],
    ["other programs on the host", run(0.4, {}, hostLoad(198, 112.4)), "host CPU", "99 %", "112 %"],
    ["a loop on a host that was not full", run(0.95, {}, hostLoad(178)), "server loop"],
    ["nothing, most of all the host", run(0.3, {}, hostLoad(160)), "none", "80 %"],
    ["a link that was full one way", run(0.5, {}, overLink(1.2e9, 0.3e9)), "network", "eth0", "96 %"],
    ["a link that was full the other way", run(0.5, {}, overLink(0.3e9, 1.2e9)), "network"],
    // A link carries its rate each way: the two do not add up.
    ["a link that was half full both ways", run(0.5, {}, overLink(0.7e9, 0.7e9)), "none"],
    ["a quota that admitted almost nothing", run(0.5, {}, denied("limits")), "quota"],
    ["traffic that is denied by itself", run(0.5, {}, denied("traffic")), "none"],
  ])("%s", (_what, evidence, resource, ...figures) => {
    const found = limitOf(evidence);
    expect(found.resource).toBe(resource);
    for (const figure of figures) expect(found.text).toContain(figure);
  });

  test("is the client at the limiter layer, where the generator calls the limiter itself", () => {
    const plain = limiterLayerEvidence();
    for (const worker of plain.generators.flatMap(({ workers }) => workers))
      worker.event_loop_utilisation = 0.98;
    expect(limitOf(plain).resource).toBe("client");
  });

  test("is a store whose threads are all busy, where it has several", () => {
    const plain = run(0.5, store(150));
    plain.store = { ...validEvidence().store, command_threads: 2 };
    expect(limitOf(plain).resource).toBe("none");
    plain.resources["store-1"] = role("store", 190);
    expect(limitOf(plain).resource).toBe("store CPU");
  });
});
