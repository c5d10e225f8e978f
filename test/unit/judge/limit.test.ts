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

describe("the resource that limited a run", () => {
  test("is the resource that was used up, with the figure", () => {
    const busy = limitOf(run(0.97, { "server-1": role("server", 90), "store-1": role("store", 40) }));
    expect(busy).toEqual({ resource: "server loop", text: "the server's event loop was 97 % busy" });
    expect(limitOf(run(0.5, { "store-1": role("store", 30), "store-2": role("store", 96) }))).toMatchObject({
      resource: "store CPU",
      text: "store-2 used 96 % of one core",
    });
  });

  test("is the most used one of several, all of which are named", () => {
    const { resource, text } = limitOf(run(0.92, { "store-1": role("store", 99) }));
    expect(resource).toBe("store CPU");
    expect(text).toContain("event loop was 92 % busy");
  });

  test("is a CPU cap if that is the limit", () => {
    const caps = { cpus: 0.5 };
    const throttling = { periods: 10, throttled_periods: 10, throttled_us: 1 };
    expect(limitOf(run(0.4, { "server-1": role("server", 48, { caps }) })).resource).toBe("server CPU");
    expect(
      limitOf(run(0.4, { "server-1": role("server", 30, { caps: { cpus: 2 }, throttling }) })).resource,
    ).toBe("server CPU");
    expect(limitOf(run(0.4, { "store-1": role("store", 49, { caps }) })).resource).toBe("store CPU");
    expect(limitOf(run(0.4, { "store-1": role("store", 49, { caps: { cpus: 2 } }) })).resource).toBe("none");
  });

  test("is the generator, busy or without a CPU", () => {
    const of = (worker: Partial<Evidence["generators"][number]["workers"][number]>) => {
      const { generators } = validEvidence();
      const changed = generators.map((part) => ({
        ...part,
        workers: part.workers.map((each) => ({ ...each, ...worker })),
      }));
      return limitOf(run(0.5, {}, { generators: changed }));
    };
    expect(of({ event_loop_utilisation: 0.95 }).resource).toBe("generator");
    expect(of({ cpu_wait_share: 0.7 })).toMatchObject({
      resource: "generator",
      text: /waited for a CPU 70 %/,
    });
  });

  test("is the client at the limiter layer, where the generator calls the limiter itself", () => {
    const plain = limiterLayerEvidence();
    for (const worker of plain.generators.flatMap(({ workers }) => workers))
      worker.event_loop_utilisation = 0.98;
    expect(limitOf(plain)).toEqual({ resource: "client", text: "the client's event loop was 98 % busy" });
  });

  test("is a store whose threads are all busy, where it has several", () => {
    const plain = run(0.5, { "store-1": role("store", 150) });
    plain.store = { ...validEvidence().store, command_threads: 2 };
    expect(limitOf(plain).resource).toBe("none");
    plain.resources["store-1"] = role("store", 190);
    expect(limitOf(plain)).toEqual({ resource: "store CPU", text: "store-1 used 95 % of its 2 threads" });
  });

  test("is the server's loop by its active time in the window, not by the pauses around it or by samples", () => {
    const sampled = { t_s: 1, interval_s: 1, allowed: 1, limited: 0, failed: 0 };
    const samples = [{ ...sampled, server_event_loop_utilisation: 0.8 }];
    expect(limitOf(run(0.96, {}, { samples }))).toEqual({
      resource: "server loop",
      text: "the server's event loop was 96 % busy",
    });
    // Answers to requests that were under way when the window closed come after it.
    expect(limitOf(run(1.02, {})).text).toBe("the server's event loop was 100 % busy");
    expect(limitOf(run(0.5, {}, { consumers: [] })).text).toContain("the generator's event loop");
  });

  test("is the host's CPU, rather than a loop that may have waited for it, and other programs are named", () => {
    const load = (busy_cpu_percent: number, foreign_cpu_percent = 0) => ({
      host_load: { cpus: 2, busy_cpu_percent, foreign_cpu_percent },
    });
    expect(limitOf(run(1, {}, load(184)))).toEqual({
      resource: "host CPU",
      text: "this machine's 2 CPUs were 92 % busy; the server's event loop was 100 % busy",
    });
    expect(limitOf(run(0.4, {}, load(198, 112.4)))).toEqual({
      resource: "host CPU",
      text: "this machine's 2 CPUs were 99 % busy, 112 % of one CPU by other programs",
    });
    expect(limitOf(run(0.95, {}, load(178))).resource).toBe("server loop");
    expect(limitOf(run(0.3, {}, load(160))).text).toBe(
      "nothing was used up; most of all, this machine's 2 CPUs were 80 % busy",
    );
  });

  test("is the network if a link of the generator's machine was full in one direction", () => {
    const over = (received_bytes: number, sent_bytes: number) => {
      const { generators } = validEvidence();
      const link = { name: "eth0", bits_per_second: 1e9, received_bytes, sent_bytes };
      const with_link = generators.map((part) => ({ ...part, links: [link] }));
      return limitOf(run(0.5, {}, { generators: with_link, duration: 10 }));
    };
    expect(over(1.2e9, 0.3e9)).toEqual({
      resource: "network",
      text: "link eth0 carried 96 % of its 1 Gbit/s",
    });
    expect(over(0.3e9, 1.2e9).resource).toBe("network");
    // A link carries its rate each way: the two do not add up.
    expect(over(0.7e9, 0.7e9).resource).toBe("none");
  });

  test("is the quota if almost nothing was admitted under explicit limits", () => {
    const prediction = { limited_share: 1, seen_share: 1, tolerance: 0.01, basis: "limits" as const };
    const { counts } = validEvidence();
    const denied = { ...counts, allowed: 10, limited: 9_990 };
    expect(limitOf(run(0.5, {}, { counts: denied, prediction })).resource).toBe("quota");
    expect(
      limitOf(run(0.5, {}, { counts: denied, prediction: { ...prediction, basis: "traffic" } })).resource,
    ).toBe("none");
  });
});
