import { environmentError } from "../../contract/errors.js";
import type { Runtime } from "../../runtimes/types.js";
import { probePart } from "./parts.js";
import { askProbe, ProbeEnded } from "./probe.js";
import type { ExternalStore } from "./store.js";

const ANSWER_WITHIN_S = 10;

/**
 * Looks at the store that the user already runs; undefined where none was named.
 * @throws environmentError when it cannot be reached, or is none that we know
 */
export async function discoverStore(
  access: Readonly<Record<string, string>>,
  runtime: Runtime,
): Promise<ExternalStore | undefined> {
  if (!access.STORE_URL) return undefined;
  const probe = await runtime.start(probePart(access), async () => {});
  try {
    const { discovered } = await askProbe(probe, {
      actions: ["discover"],
      nodes: [],
      store: "valkey",
      topology: "standalone",
      timeout_s: ANSWER_WITHIN_S,
    });
    if (!discovered) throw environmentError("the store that STORE_URL names did not say what it is");
    return { ...discovered, access };
  } catch (error) {
    if (!(error instanceof ProbeEnded)) throw error;
    throw environmentError(`the store that STORE_URL names: ${error.message}`);
  } finally {
    await probe.stop();
  }
}
