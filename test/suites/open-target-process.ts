import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { decodePlugins } from "../../src/contract/plugins.js";
import type { Target } from "../../src/contract/target.js";
import { loadPlugins } from "../../src/plugins/load.js";
import { registerTargets } from "../../src/plugins/register-targets.js";
import type { Decision, StorePlace } from "../../src/targets/target-types.js";
import { openRequestLimiter } from "./open-target.js";

/**
 * The program of `useInChildProcess`: opens all, uses and closes each, and does not call
 * `process.exit`.
 */
const { targets, place, pauses } = JSON.parse(process.argv[2] ?? "") as {
  targets: Target[];
  place: StorePlace;
  pauses: boolean;
};
registerTargets(await loadPlugins(decodePlugins(process.env)));
const openings = targets.map((target) => openRequestLimiter(target, place));
await Promise.allSettled(openings);
for (const [n, opening] of openings.entries()) {
  const text = targets[n]?.text;
  try {
    const { client, limiter } = await opening;
    if (pauses) {
      process.send?.("open");
      await once(process, "message");
    }
    const consume: Promise<Decision> = limiter.consume("visit");
    if (pauses) await delay(100);
    else await consume;
    await client.close();
    process.stdout.write(`${text} ${(await consume).outcome}\n`);
  } catch (error) {
    process.stdout.write(`${text} refused: ${(error as Error).message}\n`);
  }
}
// The channel to the parent would keep the process alive.
process.disconnect();
