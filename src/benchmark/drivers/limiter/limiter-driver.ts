import { storeAccessFrom } from "../../../contract/store-url.js";
import { definedOnly } from "../../../kit/defined-only.js";
import { formatNodes } from "../../../kit/env.js";
import type { Driver } from "../driver.js";
import { type ConsumingLimiter, limiterChannels, limiterOutcomes } from "./limiter-channel.js";

const ALLOWED = { outcome: "allowed" } as const;

/**
 * Admits all requests at once. It is the loopback, and a target without a limiter, whose figures
 * are the cost of the driver.
 */
const admitAll: ConsumingLimiter = { consume: async () => ALLOWED };

/**
 * Calls the target's limiter without HTTP and without a server. Each worker has a client of the
 * store.
 */
export const limiterDriver: Driver = {
  id: "limiter",
  codeText: (code) => limiterOutcomes[code] ?? String(code),
  endpoint: ({ store }) => formatNodes(store.nodes) || store.id,
  versions: () => ({}),
  async open(spec, plugins) {
    // The main thread loads this file, too, and needs no client.
    const { registerTargets } = await import("../../../plugins/register-targets.js");
    const { openTarget } = await import("../../../targets/open-target.js");
    registerTargets(plugins);
    const target = await openTarget(spec, storeAccessFrom(process.env, spec.store));
    const { client, limiter } = target;
    const store = await client.storeVersion();
    const calls = { begun: 0, finished: 0 };

    return {
      openChannels: (requests) => limiterChannels(limiter ?? admitAll, requests, calls),
      startLoopback: async () => ({
        openChannels: (requests) => limiterChannels(admitAll, requests, { begun: 0, finished: 0 }),
        close: async () => undefined,
      }),
      limiterReport: () =>
        definedOnly({
          versions: definedOnly({
            client: client.version,
            limiter: limiter?.version,
            store,
          }),
          client_settings: client.settings,
          limiter_script: limiter?.script,
          algorithm: target.target.algorithm,
          requests: calls.begun,
          in_flight: calls.begun - calls.finished,
          consumes: limiter ? { ...limiter.consumes } : undefined,
        }),
      close: () => target.close(),
    };
  },
};
