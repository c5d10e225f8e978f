import { describe, expect, test } from "vitest";
import {
  MACHINE_PROBE_LISTENS,
  type MachineReply,
  parseMachineRequest,
} from "../../../../src/contract/machine-probe.js";
import type { PlacedKind } from "../../../../src/contract/machines.js";
import type { Lease } from "../../../../src/orchestrator/ownership/lease.js";
import {
  linkOf,
  linksBetween,
  MachineProbes,
} from "../../../../src/orchestrator/run/machine-probes.js";
import type { Part, Runtime } from "../../../../src/runtimes/runtime-types.js";

const READING = { round_trips_us: [100, 120] };

/** Two machines whose links fail as often as told. */
async function probesWhoseLinksFail(times: number) {
  const warnings: string[] = [];
  let left = times;
  const start = async (_runtime: Runtime, { role }: Part) => {
    const listeners: ((line: string) => void)[] = [];
    setImmediate(() => {
      for (const listener of listeners) listener(MACHINE_PROBE_LISTENS);
    });
    return {
      role,
      address: { host: role, port: 7000 },
      exited: new Promise(() => {}),
      onLine: (listener: (line: string) => void) => listeners.push(listener),
      write: (line: string) => {
        const { id } = parseMachineRequest(line);
        const reply: MachineReply =
          left-- > 0 ? { id, error: "no answer" } : { id, answer: READING };
        for (const listener of listeners) listener(JSON.stringify(reply));
      },
    };
  };
  const probes = await MachineProbes.open(
    { machines: [{ name: "a" }, { name: "b" }] } as unknown as Runtime,
    { start } as unknown as Lease,
    (text) => warnings.push(text),
  );
  return { links: await probes.links([["a", "b"]]), warnings };
}

describe("a link between machines", () => {
  test("is measured again when it fails at first, as in a network that has just been made", async () => {
    const { links, warnings } = await probesWhoseLinksFail(1);
    expect(links).toMatchObject([{ between: ["a", "b"] }]);
    expect(warnings).toEqual([]);
  });

  test("that fails twice is told with both ends", async () => {
    const { links, warnings } = await probesWhoseLinksFail(2);
    expect(links).toEqual([]);
    expect(warnings).toEqual(["from a to b: no answer"]);
  });
});

const links = (machines: Record<PlacedKind, readonly string[]>) =>
  linksBetween((kind) => machines[kind]);

describe("the links between machines", () => {
  test("are those over which roles talk to each other, each once", () => {
    expect(links({ generator: ["a"], server: ["b"], store: ["c"] })).toEqual([
      ["a", "b"],
      ["b", "c"],
    ]);
    expect(links({ generator: ["a", "b"], server: ["b"], store: ["a"] })).toEqual([["a", "b"]]);
    expect(links({ generator: ["a"], server: ["a"], store: ["a"] })).toEqual([]);
  });

  test("grow with the machines of a kind", () => {
    const machines = Array.from({ length: 32 }, (_, index) => `g${index}`);
    expect(links({ generator: machines, server: ["s"], store: ["t"] })).toHaveLength(33);
  });
});

test("a link's round trip is that of both ends, and its rates have directions", () => {
  const there = {
    round_trips_us: [10, 12, 14, 90],
    sent_bits_per_second: 9e9,
    received_bits_per_second: 1e9,
  };
  const back = { round_trips_us: [11, 13, 15, 16] };
  expect(linkOf(["a", "b"], there, back)).toEqual({
    between: ["a", "b"],
    round_trip_us: { p50: 13, p90: 90, count: 8 },
    bits_per_second: { there: 9e9, back: 1e9 },
  });
});
