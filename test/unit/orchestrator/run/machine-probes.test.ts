import { describe, expect, test } from "vitest";
import {
  MACHINE_PROBE_LISTENS,
  type MachineReply,
  parseMachineRequest,
} from "../../../../src/contract/machine-probe.js";
import type { Lease } from "../../../../src/orchestrator/ownership/lease.js";
import { MachineProbes } from "../../../../src/orchestrator/run/machine-probes.js";
import type { Part, Runtime } from "../../../../src/runtimes/types.js";

const READING = { round_trips_us: [100, 120], clock: { offset_us: 500, bound_us: 100 } };

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
        const reply: MachineReply = left-- > 0 ? { id, error: "no answer" } : { id, answer: READING };
        for (const listener of listeners) listener(JSON.stringify(reply));
      },
    };
  };
  const probes = await MachineProbes.open(
    { machines: [{ name: "a" }, { name: "b" }] } as unknown as Runtime,
    { start } as unknown as Lease,
    (text) => warnings.push(text),
  );
  return { links: await probes.links([["a", "b"]], false), warnings };
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
