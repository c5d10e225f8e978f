import { describe, expect, test } from "vitest";
import type { Evidence } from "../../../src/judge/evidence.js";
import { carriedLinks, limitOf } from "../../../src/judge/limit.js";
import { judge } from "../../../src/judge/rules.js";
import { validEvidence } from "../../helpers/evidence.js";

type Role = Evidence["resources"][string];

const MEGABYTE = 1e6;
const GIGABIT = { there: 1e9, back: 1e9 };

const role = (kind: Role["kind"], sent_mb?: number, received_mb = 0): Role => ({
  kind,
  source: "cgroup",
  cpu_us: 1,
  cpu_percent: 10,
  samples: [],
  ...(sent_mb === undefined
    ? {}
    : { network: { sent_bytes: sent_mb * MEGABYTE, received_bytes: received_mb * MEGABYTE } }),
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
      "generator-1": role("generator", 100, 400),
      "server-1": role("server", 900, 900),
      "store-1": role("store", 50, 200),
    };
    const [first, second] = carriedLinks({ links, placement, resources }, 10);
    // 400 MB in 10 s are 320 Mbit/s.
    expect(first).toEqual({ between: ["a", "b"], share: 0.32, bits_per_second: 1e9 });
    expect(second?.share).toBeCloseTo(0.16);
  });

  test("several generators of a machine add up, and peers on several machines divide it", () => {
    const resources = {
      "generator-1": role("generator", 100),
      "generator-2": role("generator", 300),
      "server-1": role("server"),
      "server-2": role("server"),
    };
    const spread = { "generator-1": "a", "generator-2": "a", "server-1": "b", "server-2": "a" };
    expect(carriedLinks({ links: [link("a", "b")], placement: spread, resources }, 1)[0]?.share).toBeCloseTo(
      1.6,
    );
  });

  test("is not known without counters, without links, or on one machine", () => {
    const resources = { "generator-1": role("generator", 1), "server-1": role("server", 1) };
    expect(carriedLinks({ resources }, 10)).toEqual([]);
    expect(carriedLinks({ links: [], placement, resources }, 10)).toEqual([]);
    expect(carriedLinks({ links, placement, resources: { "generator-1": role("generator") } }, 10)).toEqual(
      [],
    );
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
      "generator-1": role("generator", 0, received_mb),
      "server-1": role("server"),
      "store-1": role("store", 0),
    },
  });
  const loaded = (share: number) => {
    const plain = run(0);
    const loaded_s = plain.duration + plain.warmup.lead_in.took_s;
    return limitOf(run((share * loaded_s * 1e9) / 8 / MEGABYTE));
  };

  test("is told from 80 % of the measured rate on", () => {
    expect(loaded(0.81)).toEqual({ resource: "network", text: expect.stringMatching(/a ⇄ b .*81 %/) });
    expect(loaded(0.79).resource).toBe("none");
  });

  test("is told of a machine whose roles have no counters of their own", () => {
    const plain = run(0);
    const loaded_s = plain.duration + plain.warmup.lead_in.took_s;
    const network = { received_bytes: (0.9 * loaded_s * 1e9) / 8, sent_bytes: 0 };
    const machine_load = { b: { cpus: 8, busy_cpu_percent: 100, foreign_cpu_percent: 0, network } };
    expect(limitOf({ ...plain, machine_load })).toEqual({
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
    expect(judge({ ...plain, machine_load }).reasons).toContainEqual(
      expect.objectContaining({ rule: "M25", text: expect.stringMatching(/25 % .*machine b/) }),
    );
  });
});
