import type { StoreReading } from "../../contract/store.js";
import { usesStore } from "../../contract/target.js";
import { accounted, addCounts, answered, failedShare } from "../counts.js";
import type { Evidence, Finding, Rule } from "../evidence.js";

const invalid = (text: string): Finding => ({ severity: "invalid", text });

/** M1: requests/s × measured seconds = answered requests. */
export const throughputFollows: Rule = {
  id: "M1",
  check({ requests, duration, counts }) {
    if (requests.total !== answered(counts)) {
      return invalid(
        `the result has ${requests.total} answered requests, but ${answered(counts)} were counted`,
      );
    }
    const implied = requests.average * duration;
    // The rate in the result is rounded to three decimals.
    if (Math.abs(implied - requests.total) <= 0.5 + duration * 0.001) return undefined;
    return invalid(`${requests.average}/s over ${duration} s are not ${requests.total} requests`);
  },
};

/** Script calls that succeeded: a call of a script that the node does not know fails and is repeated. */
const successfulCalls = (reading: StoreReading): number =>
  Object.values(reading.script_calls).reduce((total, { calls, failed }) => total + calls - failed, 0);

function storeReconciles({ server, store, configuration }: Evidence): Finding | undefined {
  const consumes = server?.at_end.consumes;
  const before = server?.at_start.consumes;
  if (!store || !consumes || !before) {
    const why =
      configuration && !usesStore(configuration.target) ? "the target has no store" : "no store counters";
    return { severity: "not applicable", text: `store calls: ${why}` };
  }
  const sum = (reading: "at_start" | "at_end") =>
    store.nodes.reduce((total, node) => total + successfulCalls(node[reading]), 0);
  const calls = sum("at_end") - sum("at_start");
  const decided = consumes.allowed + consumes.limited - before.allowed - before.limited;
  const uncertain = consumes.failed - before.failed;
  // A failed consume may or may not have reached the store.
  if (calls >= decided && calls <= decided + uncertain) return undefined;
  const text = `the server decided ${decided} consumes, the store ran ${calls} limiter scripts`;
  // Others may use an external store, so additional calls prove nothing.
  if (store.external && calls > decided)
    return { severity: "suspect", text: `${text} (do others use it, too?)` };
  return invalid(text);
}

/** In an open loop every send of the schedule was sent, dropped, or still waiting at the end. */
function scheduleReconciles({ counts, schedule }: Evidence): Finding | undefined {
  if (!schedule) return undefined;
  const { offered, sent, dropped, unsent } = schedule;
  if (offered === sent + dropped + unsent && sent === counts.sent) return undefined;
  return invalid(
    `${offered} sends fell due: ${sent} sent (${counts.sent} by the other count), ${dropped} dropped, ${unsent} unsent`,
  );
}

/** M8: counts reconcile from the generator through the server to the store. */
export const countsReconcile: Rule = {
  id: "M8",
  check(evidence) {
    const { counts, generators, request, server } = evidence;
    if (accounted(counts) !== counts.sent) {
      return invalid(`${counts.sent} requests were sent, ${accounted(counts)} are accounted for`);
    }
    if (counts.cut > request.connections) {
      return invalid(`${counts.cut} requests were cut at the end on ${request.connections} connections`);
    }
    const unreconciled = scheduleReconciles(evidence);
    if (unreconciled) return unreconciled;
    const parts = addCounts(generators.map((part) => part.counts));
    if (parts.sent !== counts.sent || answered(parts) !== answered(counts)) {
      return invalid("the counts are not the sum of the generators' counts");
    }
    if (!server) return { severity: "not applicable", text: "the server reports no counters" };
    const received = server.at_end.requests - server.at_window_open.requests;
    const surelyReceived = answered(counts) + counts.failed_answers;
    if (received < surelyReceived || received > counts.sent) {
      return invalid(
        `${counts.sent} requests were sent and ${surelyReceived} answered, the server counted ${received}`,
      );
    }
    return storeReconciles(evidence);
  },
};

/** With a larger share of failures the run does not measure a working limiter (M9). */
const MAX_FAILED_SHARE = 0.001;

/** M9: errors are not throughput. */
export const failuresAreFew: Rule = {
  id: "M9",
  check({ counts }) {
    const share = failedShare(counts);
    if (share === undefined) return invalid("no request was sent");
    if (share <= MAX_FAILED_SHARE) return undefined;
    const kinds = [
      `${counts.failed_answers} failed answers`,
      `${counts.connection_errors} connection errors`,
      `${counts.timed_out} time-outs`,
    ].join(", ");
    return invalid(
      `${(100 * share).toFixed(2)} % of ${counts.sent} requests failed, more than 0.1 % (${kinds})`,
    );
  },
};
