import { storeAddressFrom } from "../../../contract/store-url.js";
import type { OpenChannel } from "../channel.js";
import type { Driver } from "../driver.js";

/** Asks the store for its version, over the client of the target. */
const channels =
  (call: () => Promise<unknown>, calls: { begun: number; finished: number }): OpenChannel =>
  (_index, listener) => {
    let epoch = 0;
    queueMicrotask(() => listener.ready());
    return {
      send() {
        const own = epoch;
        calls.begun++;
        const settle = (outcome: "allowed" | "failed") => () => {
          calls.finished++;
          if (own !== epoch) return;
          listener.answered(outcome, outcome === "allowed" ? 0 : 1);
          listener.ready();
        };
        call().then(settle("allowed"), settle("failed"));
      },
      abandon() {
        epoch++;
        queueMicrotask(() => listener.ready());
      },
      close() {
        epoch++;
      },
    };
  };

export const clientDriver: Driver = {
  id: "client",
  codeText: (code) => (code === 0 ? "answered" : "failed"),
  endpoint: ({ store }) => store.id,
  versions: () => ({}),
  async open(spec) {
    const { openTarget } = await import("../../../targets/open-target.js");
    const target = await openTarget(spec, storeAddressFrom(process.env)?.access);
    const calls = { begun: 0, finished: 0 };
    return {
      openChannels: () => channels(() => target.client.storeVersion(), calls),
      startLoopback: async () => ({
        openChannels: () => channels(async () => "", { begun: 0, finished: 0 }),
        close: async () => undefined,
      }),
      limiterReport: () => ({
        versions: {},
        client_settings: target.client.settings,
        requests: calls.begun,
        in_flight: calls.begun - calls.finished,
      }),
      close: () => target.close(),
    };
  },
};
