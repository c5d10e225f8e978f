import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { targetOf } from "../../helpers/target.js";
import { type OpenTarget, withOpenTargets } from "../../suites/open-target.js";
import { StoreSetup } from "../../suites/store-setup.js";

const CONSUMES = 300;

describe("on one node", () => {
  let setup: StoreSetup;
  beforeAll(async () => {
    setup = await StoreSetup.start("valkey", "standalone");
  });
  afterAll(() => setup?.stop());

  /** How often the client writes to its sockets for consumes of one turn of the event loop. */
  const writes = (text: string): Promise<number> =>
    withOpenTargets([targetOf(text)], setup.place, async ([subject]) => {
      const { stream } = (subject as OpenTarget).client.handle as { stream: Socket };
      const { mock } = vi.spyOn(stream, "write");
      await Promise.all(
        Array.from({ length: CONSUMES }, (_, n) => subject?.standard.consume(`key-${n}`)),
      );
      return mock.calls.length;
    });

  test.each(["ioredis", "iovalkey"])(
    "+autopipelining sends what %s gathered in one turn at once",
    async (id) => {
      const base = `${id}@valkey`;
      expect(await writes(base)).toBe(CONSUMES);
      expect(await writes(`${base}+autopipelining`)).toBe(1);
    },
  );
});
