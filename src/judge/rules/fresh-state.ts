import { usesStore } from "../../contract/target.js";
import type { Evidence, Finding, Rule } from "../evidence.js";

const hasStore = ({ configuration }: Evidence): boolean =>
  configuration !== undefined && usesStore(configuration.target);

function withStore(evidence: Evidence): Finding | undefined {
  if (evidence.store || !hasStore(evidence)) return undefined;
  return { severity: "not applicable", text: "no reading of the store" };
}

/** M13: a new server process, an empty store, and reset statistics. */
export const cleanStart: Rule = {
  id: "M13",
  check(evidence) {
    const { server, store } = evidence;
    if (!server) return { severity: "not applicable", text: "the server reports no uptime" };
    if (server.at_start.requests > 0) {
      return {
        severity: "invalid",
        text: `the server had served ${server.at_start.requests} requests before`,
      };
    }
    // An external store is never emptied; the keys of this run have their own prefix.
    for (const { role, at_start } of store?.external ? [] : (store?.nodes ?? [])) {
      if (at_start.keys > 0)
        return { severity: "invalid", text: `${role} held ${at_start.keys} keys at the start` };
      const calls = Object.values(at_start.script_calls).reduce((total, entry) => total + entry.calls, 0);
      if (calls > 0)
        return { severity: "invalid", text: `${role} still counted ${calls} calls at the start` };
    }
    return withStore(evidence);
  },
};

/** M14: nothing was evicted. */
export const nothingEvicted: Rule = {
  id: "M14",
  check(evidence) {
    const evicted = (evidence.store?.nodes ?? []).flatMap(({ role, at_start, at_end }) => {
      const count = at_end.evicted_keys - at_start.evicted_keys;
      return count > 0 ? [`${role} evicted ${count} keys`] : [];
    });
    if (evicted.length > 0) return { severity: "suspect", text: evicted.join(", ") };
    return withStore(evidence);
  },
};

/** M14: neither the store nor the server restarted during the run. */
export const noRestart: Rule = {
  id: "M14",
  check({ server, store, duration }) {
    for (const { role, at_start, at_end } of store?.nodes ?? []) {
      if (at_start.run_id !== at_end.run_id) {
        return { severity: "invalid", text: `${role} restarted during the run` };
      }
    }
    // The window lies between these two readings, so a younger process did not run for the whole window.
    const grown = server && server.at_end.uptime_s - server.at_window_open.uptime_s;
    if (grown !== undefined && grown < 0.99 * duration - 0.1) {
      return { severity: "invalid", text: "the server restarted during the run" };
    }
    return undefined;
  },
};
