import { describe, expect, test } from "vitest";
import { EXIT } from "../../../../src/contract/errors.js";
import { conditionsOf } from "../../../../src/orchestrator/host/machine.js";
import { pinnedToOwnCores, requireCpus } from "../../../../src/orchestrator/request/caps.js";
import { parseCampaign } from "../../../../src/orchestrator/request/parse-request.js";
import { expectFailure } from "../../../helpers/errors.js";
import { requestOf } from "../../../helpers/request.js";

const GIB = 1024 ** 3;
const caps = (flags: readonly string[], env = {}) =>
  parseCampaign(["--clients", "none", ...flags], env)?.caps;

describe("caps", () => {
  test("are 2 CPUs and 2 GB for a store node by default", () => {
    expect(caps([])).toEqual({
      store: { cpus: 2, memory_bytes: 2 * GIB },
      server: { memory_bytes: 2 * GIB },
      generator: { memory_bytes: 2 * GIB },
    });
  });

  test("come from flags and environment; the flag wins", () => {
    const given = caps(
      ["--store-cpus", "0.5", "--store-memory", "512m", "--cpuset-server", "0,2-3", "--loadtest-cpus", "1"],
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
    ["--cpuset-store", "0;rm"],
  ])("%s %s is refused with what is valid", (flag, value) => {
    expect(() => caps([flag, value])).toThrow(new RegExp(`${flag} .*give `));
  });
});

test("CPUs that do not exist are refused, naming the flag and the existing ones [R-machine-1]", async () => {
  const asked = (text: string) => requestOf("--cpuset-loadtest", text);
  await expectFailure(
    () => requireCpus(asked("1-2").caps, [0, 1]),
    EXIT.environment,
    "--cpuset-loadtest 1-2",
    "no CPU 2",
    "0,1",
  );
  requireCpus(asked("1,3").caps, [0, 1, 3]);
});

describe("conditions of a campaign in containers", () => {
  const machine = { platform: "x", kernel: "x", cpu_model: "x", cpus: 64, memory_bytes: 1, sysctl: {} };
  const engine = (cpus: number) => ({ cpus }) as never;
  const plain = { store: { cpus: 2 }, server: {}, generator: {} };
  const one = { store: 1, server: 1, generator: 1 };

  test("a lowered cap is reported", () => {
    const conditions = conditionsOf(machine, { engine: engine(1), capsApplied: true }, plain, one);
    expect(conditions.join("\n")).toContain("the cap of 2 CPUs for the store is lowered to 1");
  });

  test("roles share the engine's cores, unless each has its own", () => {
    const apart = { store: { cpuset: "0" }, server: { cpuset: "1" }, generator: { cpuset: "2" } };
    const shared = { ...apart, generator: { cpuset: "0-1" } };
    const conditions = (caps: typeof apart, most = one) =>
      conditionsOf(machine, { engine: engine(3), capsApplied: true }, caps, most).join();
    expect(conditions(shared)).toContain("3 CPUs for 3 roles: server, store and load generator share them");
    expect(conditions(apart)).not.toContain("share them");
    const manyServers = { store: 0, server: 4, generator: 1 };
    expect(conditions(apart, manyServers)).toContain("3 CPUs for 5 roles: servers and load generator share");
  });

  test("pinned kinds of roles have two cores each, the store all that are left", () => {
    const { caps: given } = requestOf();
    expect(pinnedToOwnCores(given, [], 8)).toMatchObject({
      server: { cpuset: "0-1" },
      generator: { cpuset: "2-3" },
      store: { cpuset: "4-7", cpus: 2 },
    });
    const notices: string[] = [];
    expect(pinnedToOwnCores(given, notices, 5)).toEqual(given);
    expect(notices).toEqual([expect.stringContaining("5 CPUs, 6 are needed")]);
  });
});
