import { limiters } from "./limiters/index.js";
import type { OptionDescription } from "./types.js";

/** A limiter that a client can have instead of its own. */
const limiterOptions: readonly OptionDescription[] = limiters.flatMap(({ id, summary = "", applyTo }) =>
  applyTo ? [{ id, summary, apply: applyTo }] : [],
);

/**
 * The same script for all clients, which separates the cost of a client from the cost of its script: the script of
 * rate-limiter-flexible for Redis, which runs on Valkey, too. For a client whose class sends it anyway nothing changes.
 */
const sameScript: OptionDescription = {
  id: "same-script",
  summary: "the script of RateLimiterRedis, whatever the client's own class is",
  apply: (client) => {
    if (client.sameScript) return { ...client, ...client.sameScript };
    const other = client.limiter === "rate-limiter-flexible" ? "" : ` with the limiter ${client.limiter}`;
    return {
      skip: `${client.id} does not support +same-script${other}: it runs no script of rate-limiter-flexible`,
    };
  },
};

/** Sends the commands of one turn of the event loop as one pipeline, where the library has a switch for it. */
const autopipelining: OptionDescription = {
  id: "autopipelining",
  summary: "commands of one turn of the event loop are sent as one pipeline",
  apply(client, topology) {
    const possible = client.autoPipelining(topology);
    if (possible !== true) return { skip: `${client.id} does not support +autopipelining: ${possible}` };
    return { ...client, open: (place, tuning) => client.open(place, { ...tuning, autoPipelining: true }) };
  },
};

/**
 * In the order in which they are applied: an option that replaces the limiter comes first, because others depend on the
 * limiter; then one that replaces `open`, before those that extend it.
 */
export const options: readonly OptionDescription[] = [...limiterOptions, sameScript, autopipelining];
