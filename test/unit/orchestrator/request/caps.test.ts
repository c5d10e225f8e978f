import { describe, expect, test } from "vitest";
import { cpusInList } from "../../../../src/kit/cpu-list.js";
import { EXIT } from "../../../../src/kit/errors.js";
import { conditionsOf, limitsText } from "../../../../src/orchestrator/host/machine.js";
import { pinnedToOwnCores, requireCpus } from "../../../../src/orchestrator/request/caps.js";
import { parseCampaign } from "../../../../src/orchestrator/request/parse-request.js";
import { expectFailure } from "../../../helpers/errors.js";
import { requestOf } from "../../../helpers/request.js";

const GIB = 1024 ** 3;
const caps = (flags: readonly string[], env = {}) =>
  parseCampaign(["--clients", "none", ...flags], env)?.place.caps;

describe("caps", () => {
  test("are 2 CPUs and 2 GB for a store node by default", () => {
    expect(caps([])).toEqual({
      store: { cpus: 2, memory_bytes: 2 * GIB },
      service: { cpus: 2, memory_bytes: 2 * GIB },
      server: { memory_bytes: 2 * GIB },
      generator: { memory_bytes: 2 * GIB },
    });
  });

  test("come from flags and environment; the flag wins", () => {
    const given = caps(
      [
        "--store-cpus",
        "0.5",
        "--store-memory",
        "512m",
        "--cpuset-server",
        "0,2-3",
        "--loadtest-cpus",
        "1",
      ],
      { STORE_CPUS: "4", SERVER_CPUS: "1.5" },
    );
    expect(given).toMatchObject({
      store: { cpus: 0.5, memory_bytes: 512 * 1024 ** 2 },
      server: { cpus: 1.5, cpuset: "0,2-3" },
      generator: { cpus: 1 },
    });
  });

  test.each([
    ["--store-cpus", "0"],
    ["--store-cpus", "abc"],
    ["--store-cpus", "1e9"],
    ["--store-memory", "1"],
    ["--store-memory", "2x"],
    ["--cpuset-store", "3-1"],
    ["--cpuset-service", "3-1"],
    ["--cpuset-store", "0;rm"],
  ])("%s %s is refused with what is valid", (flag, value) => {
    expect(() => caps([flag, value])).toThrow(new RegExp(`${flag} .*give `));
  });
});

test("CPUs that do not exist are refused, naming the flag and the existing ones [R-machine-1]", async () => {
  const asked = (text: string) => requestOf("--cpuset-loadtest", text);
  const missing = () => requireCpus(asked("1-2").place.caps, [0, 1]);
  await expectFailure(missing, EXIT.environment, "--cpuset-loadtest 1-2", "CPU 2", "0,1");
  requireCpus(asked("1,3").place.caps, [0, 1, 3]);
});

describe("conditions of a campaign in containers", () => {
  const machine = {
    platform: "x",
    kernel: "x",
    cpu_model: "x",
    cpus: 64,
    memory_bytes: 1,
    sysctl: {},
  };
  const engine = (cpus: number) => ({ cpus }) as never;
  const plain = { store: { cpus: 2 }, server: {}, generator: {} };
  const one = { store: 1, server: 1, service: 0, generator: 1 };

  test("a lowered cap is reported", () => {
    const conditions = conditionsOf(machine, { engine: engine(1), capsApplied: true }, plain, one);
    expect(conditions.join("\n")).toContain("lowered to 1");
  });

  test("roles share the engine's cores, unless each has its own", () => {
    const apart = { store: { cpuset: "0" }, server: { cpuset: "1" }, generator: { cpuset: "2" } };
    const shared = { ...apart, generator: { cpuset: "0-1" } };
    const conditions = (caps: typeof apart, most = one) =>
      conditionsOf(machine, { engine: engine(3), capsApplied: true }, caps, most).join();
    expect(conditions(shared)).toContain(
      "3 CPUs for 3 roles: server, store and load generator share them",
    );
    expect(conditions(apart)).not.toContain("share them");
    const manyServers = { store: 0, server: 4, service: 0, generator: 1 };
    expect(conditions(apart, manyServers)).toContain(
      "3 CPUs for 5 roles: servers and load generator share",
    );
  });
});

describe("what this process may use of its machine", () => {
  const machine = {
    platform: "x",
    kernel: "x",
    cpu_model: "x",
    cpus: 8,
    memory_bytes: 2 ** 34,
    sysctl: {},
  };
  const local = { capsApplied: false };
  const one = { store: 1, server: 1, service: 0, generator: 1 };
  const conditions = (limits: object) =>
    conditionsOf({ ...machine, ...limits }, local, {}, one).join();

  test("is what roles share: its quota, or the CPUs of its affinity [R-limits-2]", () => {
    expect(conditions({})).not.toContain("share them");
    expect(conditions({ cpus_allowed: 2 })).toContain("2 CPUs for 3 roles");
    expect(conditions({ cpus_allowed: 2, cpu_quota: 0.5 })).toContain("0.5 CPUs for 3 roles");
  });

  test("stands in the plan, unless it is all of the machine", () => {
    const text = limitsText(
      { cpus_allowed: 2, cpu_quota: 0.5, memory_limit_bytes: 2 ** 31 },
      machine,
    );
    for (const part of ["2 of 8 CPUs", "0.5 CPUs", "2048 MiB"]) expect(text).toContain(part);
    expect(
      limitsText({ cpus_allowed: 8, cpu_quota: 8, memory_limit_bytes: 2 ** 35 }, machine),
    ).toBeUndefined();
  });
});

describe("pinning", () => {
  const {
    place: { caps: given },
  } = requestOf();
  /** The CPUs of server, generator and store, or the notice. */
  function pinned(siblings: string, ...numaNodes: string[]): string[] {
    const notices: string[] = [];
    const topology = {
      siblings: siblings.split(";"),
      ...(numaNodes.length > 0 ? { numa_nodes: numaNodes } : {}),
    };
    const found = pinnedToOwnCores(given, notices, topology);
    if (notices.length > 0) expect(found).toEqual(given);
    return notices.length > 0
      ? notices
      : ["server", "generator", "store"].map((kind) => found[kind as "store"]?.cpuset ?? "");
  }
  const single = (count: number) => Array.from({ length: count }, (_, cpu) => `${cpu}`).join(";");

  test.each<[string, string, string[], string[]]>([
    ["no SMT", single(8), [], ["0-1", "2-3", "4-7"]],
    [
      "threads that are numbered after all cores",
      "0,4;1,5;2,6;3,7",
      ["0-7"],
      ["0,4", "1,5", "2-3,6-7"],
    ],
    ["threads next to each other", "0-1;2-3;4-5;6-7", ["0-7"], ["0-1", "2-3", "4-7"]],
    [
      "two cores each where possible",
      "0,6;1,7;2,8;3,9;4,10;5,11",
      [],
      ["0-1,6-7", "2-3,8-9", "4-5,10-11"],
    ],
    ["CPUs that are switched off", "0;2,6;3,7;5,9;11", [], ["0,2,6", "3,7", "5,9,11"]],
    ["one node that has enough", single(16), ["0-3", "4-15"], ["4-5", "6-7", "8-15"]],
    [
      "nodes whose CPUs alternate",
      single(12),
      ["0,2,4,6,8,10", "1,3,5,7,9,11"],
      ["0,2", "4,6", "8,10"],
    ],
    [
      "a node whose threads are enough",
      "0,8;1,9;2,10;3,11;4,12;5,13;6,14;7,15",
      ["0-3,8-11", "4-7,12-15"],
      ["0,8", "1,9", "2-3,10-11"],
    ],
    [
      "both nodes where none has enough: no kind on two",
      single(10),
      ["0-4", "5-9"],
      ["0-1", "2-3", "5-9"],
    ],
    [
      "a kind on two nodes where it cannot be otherwise",
      single(6),
      ["0-2", "3-5"],
      ["0-1", "3-4", "2,5"],
    ],
    ["fast and slow cores", "0-1;2-3;4;5;6", [], ["0-1", "2-3", "4-6"]],
  ])("gives each kind of role whole cores: %s", (_, siblings, nodes, expected) => {
    const found = pinned(siblings, ...nodes);
    expect(found).toEqual(expected);
    const cores = siblings.split(";").map(cpusInList);
    const shares = found.map(cpusInList);
    expect(new Set(shares.flat()).size).toBe(shares.flat().length);
    for (const share of shares) {
      expect(share.length).toBeGreaterThanOrEqual(2);
      for (const core of cores)
        expect([0, core.length]).toContain(core.filter((cpu) => share.includes(cpu)).length);
    }
  });

  test.each([
    [single(5), "5 cores"],
    ["0,2;1,3", "2 cores"],
    ["0,2;1,3;4", "3 cores"],
    ["0", "1 core"],
  ])("does nothing but say so with too few whole cores: %s", (siblings, all) => {
    expect(pinned(siblings)).toEqual([expect.stringContaining(all)]);
  });
});
