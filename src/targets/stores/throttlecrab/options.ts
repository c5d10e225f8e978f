import type { OptionDescription } from "../../types.js";

const FLAG = "--store";

/** How ThrottleCrab removes expired keys. Without an option it uses its default, which is `periodic`. */
const cleanUp = (id: string, summary: string): OptionDescription => ({
  id,
  summary: `ThrottleCrab's store of this name: ${summary}`,
  apply(client) {
    if (client.limiter !== "throttlecrab")
      return { skip: `${client.id} does not support +${id}: it is a setting of ThrottleCrab` };
    const { storeArguments = [] } = client;
    if (storeArguments.includes(FLAG))
      return { skip: `${client.id}: +${id} and another store of ThrottleCrab exclude each other` };
    return { ...client, storeArguments: [...storeArguments, FLAG, id] };
  },
});

export const throttlecrabOptions: readonly OptionDescription[] = [
  cleanUp("periodic", "expired keys are removed every five minutes"),
  cleanUp("probabilistic", "one decision in ten thousand removes expired keys"),
  cleanUp("adaptive", "expired keys are removed at intervals that follow the load"),
];
