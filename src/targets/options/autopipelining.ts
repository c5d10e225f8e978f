import type { OptionDescription } from "../types.js";

/** Sends the commands of one turn of the event loop as one pipeline, where the library has a switch for it. */
export const autopipelining: OptionDescription = {
  id: "autopipelining",
  summary: "commands of one turn of the event loop are sent as one pipeline",
  apply(client, topology) {
    const possible = client.autoPipelining(topology);
    if (possible !== true) return { skip: `${client.id} cannot have +autopipelining: ${possible}` };
    return { ...client, open: (place, tuning) => client.open(place, { ...tuning, autoPipelining: true }) };
  },
};
