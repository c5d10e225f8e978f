import { describe, expect, type TestContext, test } from "vitest";
import type { Target } from "../../src/contract/target.js";
import { type StoreKind, until } from "../helpers/store.js";
import { countOutcomes, targetsOf, useInChildProcess, withOpenTargets } from "./open-target.js";
import { StoreSetup } from "./store-setup.js";

/**
 * The part of the contract of clients about a store that is missing, starting, or not answering.
 * One kind of store is enough.
 */
export function unavailableStoreContract(
  id: string,
  kind: StoreKind,
  topologies: readonly string[],
  variants: string[],
): void {
  const plain = (topology: string): Target => {
    const [target] = targetsOf(id, kind, topology, variants);
    if (!target) throw new Error(`${id} has no target on ${kind} ${topology}`);
    return target;
  };

  // These tests mostly wait, so they run concurrently, each on its own store.
  describe.concurrent("waits a limited time", () => {
    const ownSetup = async (topology: string, { onTestFinished }: TestContext) => {
      const setup = await StoreSetup.start(kind, topology);
      // Also after a time-out of the test.
      onTestFinished(() => setup.stop());
      return setup;
    };

    test("for an address without a store: opening fails and leaves nothing open", async () => {
      const nobody = {
        store: kind,
        topology: "standalone",
        nodes: [{ host: "127.0.0.1", port: 1 }],
      };
      const { code, output } = await useInChildProcess([plain("standalone")], nobody);
      expect(output).toMatch(/^\S+ refused: [^\n]+\n$/);
      expect(code).toBe(0);
    });

    test("for a store that is starting: opening succeeds", async (context) => {
      const setup = await ownSetup("standalone", context);
      await setup.kill();
      const consuming = withOpenTargets([plain("standalone")], setup.place, ([opened]) =>
        opened ? opened.standard.consume("ada") : Promise.reject(new Error("nothing is open")),
      );
      await setup.run();
      expect(await consuming).toMatchObject({ outcome: "allowed" });
    });

    test.for(topologies)(
      "for a %s store that hangs: opening fails, closing ends, consumes fail without a denial; then the client recovers",
      async (topology, context) => {
        const setup = await ownSetup(topology, context);
        await withOpenTargets(
          targetsOf(id, kind, topology, variants),
          setup.place,
          async (opened) => {
            const one = [plain(topology)];
            let hangs = false;
            const closing = useInChildProcess(one, setup.place, () => {
              setup.pause();
              hangs = true;
            });
            await until(() => hangs);
            const opening = useInChildProcess(one, setup.place);
            const waiting = opened.filter(({ description }) => description.waitsForStore);
            const waited = waiting.map(({ standard }) => standard.consume("ada"));
            const bounded = opened.filter(({ description }) => !description.waitsForStore);
            const hung = await Promise.all(bounded.map(({ standard }) => standard.consume("ada")));
            expect(countOutcomes(hung)).toEqual({ allowed: 0, limited: 0, failed: bounded.length });
            expect(await closing).toMatchObject({
              output: `${plain(topology).text} failed\n`,
              code: 0,
            });
            const { output, code } = await opening;
            expect(output).toMatch(/^\S+ refused: [^\n]+\n$/);
            expect(code).toBe(0);
            setup.resume();
            expect(countOutcomes(await Promise.all(waited)).limited).toBe(0);
            for (const { standard } of opened) {
              await until(async () => (await standard.consume("ada")).outcome !== "failed");
            }
          },
        );
      },
    );
  });
}
