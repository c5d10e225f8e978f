import { describe, expect, type TestContext, test } from "vitest";
import type { Target } from "../../src/contract/target.js";
import { type StoreKind, until } from "../helpers/store.js";
import { Ground } from "./ground.js";
import { tally, targetsOf, visit, withSubjects } from "./subject.js";

/**
 * How a client waits for a store that is not there, not yet, or not answering. Part of the contract of clients; one
 * kind of store is enough.
 */
export function patienceContract(
  id: string,
  kind: StoreKind,
  topologies: readonly string[],
  ways: string[],
): void {
  const plain = (topology: string): Target => {
    const [target] = targetsOf(id, kind, topology, ways);
    if (!target) throw new Error(`${id} has no target on ${kind} ${topology}`);
    return target;
  };

  // Most of these tests is waiting: all run at once, each on a store of its own.
  describe.concurrent("waits with an end", () => {
    const ownGround = async (topology: string, { onTestFinished }: TestContext) => {
      const ground = await Ground.start(kind, topology);
      // Also after a time-out of the test, when what it waits for is still under way.
      onTestFinished(() => ground.stop());
      return ground;
    };

    test("for nobody: it is refused and leaves nothing behind", async () => {
      const nobody = { store: kind, topology: "standalone", nodes: [{ host: "127.0.0.1", port: 1 }] };
      const { code, output } = await visit([plain("standalone")], nobody);
      expect(output).toMatch(/^\S+ refused: [^\n]*refused[^\n]*\n$/i);
      expect(code).toBe(0);
    });

    test("for a store that is still starting: it gets it", async (context) => {
      const ground = await ownGround("standalone", context);
      await ground.kill();
      const opening = visit([plain("standalone")], ground.place);
      await ground.run();
      expect((await opening).output).toMatch(/ allowed\n$/);
    });

    test.for(topologies)(
      "for a %s that hangs: opening is given up, closing ends, consumes fail and none is a denial; then it goes on",
      async (topology, context) => {
        const ground = await ownGround(topology, context);
        await withSubjects(targetsOf(id, kind, topology, ways), ground.place, async (subjects) => {
          const one = [plain(topology)];
          let hangs = false;
          const closing = visit(one, ground.place, () => {
            ground.pause();
            hangs = true;
          });
          await until(() => hangs);
          const opening = visit(one, ground.place);
          const hung = await Promise.all(subjects.map(({ standard }) => standard.consume("ada")));
          expect(tally(hung)).toEqual({ allowed: 0, limited: 0, failed: subjects.length });
          expect(await closing).toMatchObject({ output: `${plain(topology).text} failed\n`, code: 0 });
          const { output, code } = await opening;
          expect(output).toMatch(/^\S+ refused: [^\n]+\n$/);
          expect(code).toBe(0);
          ground.resume();
          for (const { standard } of subjects) {
            await until(async () => (await standard.consume("ada")).outcome !== "failed");
          }
        });
      },
    );
  });
}
