import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Target } from "../../../src/contract/target.js";
import { resolveTarget } from "../../../src/targets/resolve.js";
import { withOpenTargets } from "../../suites/open-target.js";
import { StoreSetup } from "../../suites/store-setup.js";

const CONSUMES = 300;

/** A client of ioredis's kind: its own connection, or those to the nodes of a cluster. */
interface Handle {
  stream?: Socket;
  nodes?(role: "master"): { stream: Socket }[];
}

function targetOf(text: string): Target {
  const resolution = resolveTarget(text);
  if ("skip" in resolution) throw new Error(resolution.skip);
  return resolution.target;
}

describe.each(["standalone", "cluster"])("on a %s", (topology) => {
  let setup: StoreSetup;
  beforeAll(async () => {
    setup = await StoreSetup.start("valkey", topology);
  });
  afterAll(() => setup?.stop());

  /** How often the client writes to its sockets for consumes of one turn of the event loop. */
  const writes = (text: string): Promise<number> =>
    withOpenTargets([targetOf(text)], setup.place, async ([subject]) => {
      const handle = subject?.client.handle as Handle;
      const streams = handle.nodes?.("master").map(({ stream }) => stream) ?? [handle.stream];
      const spies = streams.map((stream) => vi.spyOn(stream as Socket, "write"));
      await Promise.all(Array.from({ length: CONSUMES }, (_, n) => subject?.standard.consume(`key-${n}`)));
      return spies.reduce((total, { mock }) => total + mock.calls.length, 0);
    });

  test.each(["ioredis", "iovalkey"])(
    "+autopipelining sends what %s gathered in one turn at once",
    async (id) => {
      const base = `${id}@valkey:${topology}`;
      expect(await writes(base)).toBe(CONSUMES);
      expect(await writes(`${base}+autopipelining`)).toBeLessThanOrEqual(setup.primaries.length);
    },
  );
});
