import { environmentError } from "../contract/errors.js";
import { probeReportSchema } from "../contract/store.js";
import type { Runtime } from "../runtimes/types.js";
import { probePart } from "./parts.js";
import type { ExternalStore } from "./store-of-run.js";

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
  const place = { nodes: [], store: "valkey", topology: "standalone", timeoutS: ANSWER_WITHIN_S };
  const probe = await runtime.start(probePart(place, ["discover"], access), async () => {});
  try {
    const { code, signal } = await probe.exited;
    const last = probe.lastLines().at(-1) ?? `the probe ended with ${code ?? signal}`;
    if (code !== 0) throw environmentError(`the store that STORE_URL names: ${last}`);
    const { discovered } = probeReportSchema.parse(JSON.parse(await probe.output()));
    if (!discovered) throw environmentError("the store that STORE_URL names did not say what it is");
    return { ...discovered, access };
  } finally {
    await probe.stop();
  }
}
