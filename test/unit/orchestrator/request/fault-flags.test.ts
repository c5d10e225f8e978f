import { describe, expect, test } from "vitest";
import { EXIT, messageOf } from "../../../../src/kit/errors.js";
import { makePlan, type PlanContext } from "../../../../src/orchestrator/plan/make-plan.js";
import { parseSingle } from "../../../../src/orchestrator/request/original.js";
import { expectFailure } from "../../../helpers/errors.js";
import { everything, planFor, requestOf } from "../../../helpers/request.js";

const OPEN = ["--rate", "500"];
const faultsOf = (...flags: string[]) => requestOf(...OPEN, ...flags).load.faults;

describe("--fault", () => {
  test("has names with times of their own, and actions on roles", () => {
    expect(faultsOf("--fault", "store-restart")).toEqual([
      [{ name: "store-restart", action: "restart", role: "store", start_s: 10, length_s: 1 }],
    ]);
    expect(faultsOf("--fault", "store-pause@3.5s+0.5s")).toEqual([
      [{ name: "store-pause", action: "pause", role: "store", start_s: 3.5, length_s: 0.5 }],
    ]);
    expect(faultsOf("--fault", "pause:store-1@5s+2s")).toEqual([
      [{ action: "pause", role: "store-1", start_s: 5, length_s: 2 }],
    ]);
    expect(faultsOf("--fault", "thundering-herd")[0]?.[0]).not.toHaveProperty("length_s");
    expect(faultsOf()).toEqual([[]]);
  });

  test("is a list of configurations; / joins the faults of one", () => {
    const faults = ["--fault", "none,store-pause", "--fault", "pause:store@9s+1s/restart:store@4s"];
    const request = requestOf(...OPEN, "--concurrency", "8", ...faults);
    const { runs, configurations } = makePlan(request, everything);
    expect(configurations.map(({ configuration }) => configuration.faults)).toEqual([
      undefined,
      [expect.objectContaining({ name: "store-pause" })],
      [
        expect.objectContaining({ action: "restart" }),
        expect.objectContaining({ action: "pause" }),
      ],
    ]);
    expect(new Set(configurations.map(({ hash }) => hash)).size).toBe(3);
    expect(runs.map(({ file }) => file).sort()).toEqual(
      expect.arrayContaining([
        "iovalkey_light_500rps-8c_120s_run1.json",
        "iovalkey_light_500rps-8c_120s_store-pause_run1.json",
        "iovalkey_light_500rps-8c_120s_restart-store-4s-1s-pause-store-9s-1s_run1.json",
      ]),
    );
  });

  test("is the variable FAULT of a single run", async () => {
    const single = parseSingle({ RATE: "100", FAULT: "store-pause@3s+1s", DURATION: "7" });
    expect(single.load.faults).toEqual([
      [{ name: "store-pause", action: "pause", role: "store", start_s: 3, length_s: 1 }],
    ]);
    const two = { RATE: "100", FAULT: "store-pause,partition" };
    await expectFailure(() => parseSingle(two), EXIT.usage, "FAULT");
  });

  test.each<[string[], ...string[]]>([
    [["--fault", "store-restrt", ...OPEN], "fault", "store-restart"],
    [["--fault", "puase:store", ...OPEN], "pause"],
    [["--fault", "pause:generator-1", ...OPEN], "store or service or server"],
    [["--fault", "flush-keys:server", ...OPEN], "flush-keys is done to store"],
    [["--fault", "store-pause@5", ...OPEN], "NAME[@START[+LENGTH]]"],
    [["--fault", "thundering-herd@5s+2s", ...OPEN], "flush-keys has no length"],
    [["--fault", "store-pause@5s+0s", ...OPEN], "above 0 s"],
    [["--fault", "store-pause@2.9s+1s", ...OPEN], "3s"],
    [["--fault", "pause:store@5s+2s/restart:store@6s", ...OPEN], "restart:store"],
    [["--fault", "none"], "--rate"],
    [["--fault", "store-pause", "--find-max-rate", "--slo", "p99<10ms"], "--find-max-rate"],
    [["--fault", "store-pause", "--diagnose", ...OPEN], "--diagnose"],
    [["--fault", "store-pause", "--duration-mode", "requests:500", ...OPEN], "custom:N"],
    // 10 s before, 2 s of pause, 10 s after it.
    [
      ["--fault", "store-pause", "--duration-mode", "custom:21", ...OPEN],
      "custom:22",
      "store-pause@3s",
    ],
    [["--fault", "store-pause@3s+2s", "--duration-mode", "custom:7", ...OPEN], "custom:8"],
  ])("%j is bad usage in one line that names the fix", async (flags, ...parts) => {
    await expectFailure(() => requestOf(...flags), EXIT.usage, ...parts);
  });

  test.each(["5", "7", "8", "21"])(
    "what the error for a window of %s s suggests is accepted",
    (seconds) => {
      const parse = (fault: string, duration: string) =>
        requestOf(...OPEN, "--fault", fault, "--duration-mode", duration);
      let message = "";
      try {
        parse("store-pause", `custom:${seconds}`);
      } catch (error) {
        message = messageOf(error);
      }
      const [duration = ""] = /custom:\d+/.exec(message) ?? [];
      expect(parse("store-pause", duration).load.faults).toHaveLength(1);
      const [timed] = /store-pause@\S+/.exec(message) ?? [];
      expect(timed).toBe(Number(seconds) >= 8 ? "store-pause@3s" : undefined);
      if (timed) expect(parse(timed, `custom:${seconds}`).load.faults).toHaveLength(1);
    },
  );
});

describe("where a fault cannot be done, the target is skipped with the reason", () => {
  const skipsOf = (context: PlanContext, clients: string, ...faults: string[]) =>
    makePlan(
      requestOf(...OPEN, "--clients", `none,${clients}`, "--fault", ["none", ...faults].join(",")),
      context,
    ).skips.flatMap(({ asked, reason }) => (asked === "none" ? [] : [`${asked}: ${reason}`]));

  test.each([
    ["iovalkey", "primary-kill", "replica"],
    ["iovalkey", "manual-failover", "replica"],
    ["iovalkey", "primary-pause", "no cluster"],
    ["iovalkey", "one-of-n-servers", "--servers 2"],
    ["iovalkey", "pause:store-2", "store-2"],
    ["iovalkey:cluster", "slow-store", "slow-store"],
    ["iovalkey", "pause:service", "no service"],
    ["iovalkey:cluster", "store-restart", "primary-kill"],
    ["iovalkey:cluster", "kill:store-4", "store-1 to store-3"],
    ["memory", "store-restart", "no store"],
    ["memcached", "script-flush", "no scripts"],
    ["memcached", "memory-full", "evicts"],
    ["iovalkey+redis-cell", "script-flush", "redis-cell"],
    ["envoy-http", "script-flush", "envoy-ratelimit"],
  ])("%s %s", (client, fault, part) => {
    expect(skipsOf(everything, client, fault)).toEqual([expect.stringContaining(part)]);
  });

  test("by the runtime, and by a store that already runs", () => {
    const cut = { kill: true, pause: true, disconnect: "nothing can be cut off" } as const;
    const skipsWith = (client: string, ...faults: string[]) =>
      skipsOf({ ...everything, partFaults: cut }, client, ...faults);
    // A relay can stand before one node, and not before a cluster or a service.
    expect(skipsWith("iovalkey", "partition", "store-pause")).toEqual([]);
    expect(skipsWith("iovalkey:cluster", "partition")).toHaveLength(1);
    expect(skipsWith("envoy-http", "disconnect:service")).toHaveLength(1);
    const nodes = [{ host: "127.0.0.1", port: 6379 }];
    const external = { store: "valkey", version: "9.1.2", topology: "standalone", nodes };
    expect(
      skipsOf({ ...everything, external }, "iovalkey", "store-pause", "server-restart"),
    ).toEqual([expect.stringContaining("already runs")]);
  });

  test("a fault of one primary, with traffic of one key: the plan notes that it meets all requests or none", () => {
    const notesOf = (clients: string, ...flags: string[]) =>
      planFor(...OPEN, "--clients", clients, ...flags).notes;
    const kill = ["--fault", "primary-kill"];
    expect(notesOf("iovalkey:cluster", ...kill, "--traffic", "fixed,realistic")).toEqual([
      expect.stringContaining("fixed"),
    ]);
    const whole = ["--fault", "store-pause", "--traffic", "fixed"];
    expect(notesOf("iovalkey:cluster,iovalkey", ...whole)).toEqual([]);
  });

  test("what can be done is planned", () => {
    expect(
      skipsOf(everything, "memcached", "store-restart", "thundering-herd", "partition"),
    ).toEqual([]);
    expect(
      skipsOf(everything, "iovalkey:cluster", "primary-kill", "manual-failover", "memory-full"),
    ).toEqual([]);
  });
});
