import { isClientLayer } from "../../contract/layers.js";
import { sum } from "../../contract/numbers.js";
import type { StoreEvidence } from "../../contract/store.js";
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

/** Decisions that the store counted between its two readings; undefined where one of its nodes counts none. */
function storeDecisions({ nodes }: StoreEvidence): number | undefined {
  const counted = nodes.map(({ at_start, at_end }) =>
    at_start.decisions === undefined || at_end.decisions === undefined
      ? undefined
      : at_end.decisions - at_start.decisions,
  );
  return counted.includes(undefined) ? undefined : sum(counted.map((count) => count ?? 0));
}

/**
 * Calls of the limiter that the store must have counted, over the whole life of the consumers: between `least` and
 * `most`, because a call that failed may or may not have reached it. Undefined where one of the consumers counts none.
 */
function callsOf(consumers: Evidence["consumers"]) {
  let [calls, decided, failed, inFlight, preload] = [0, 0, 0, 0, 0];
  for (const { at_start, at_end, preload_consumes = 0 } of consumers) {
    const [before, after] = [at_start.consumes, at_end.consumes];
    if (!before || !after) return undefined;
    calls += after.calls - before.calls;
    decided += after.allowed + after.limited - before.allowed - before.limited;
    failed += after.failed - before.failed;
    inFlight += at_end.in_flight;
    preload += preload_consumes;
  }
  // With more decisions than calls, one call decides on all descriptors of a request.
  return decided + failed > calls
    ? { least: calls - failed - inFlight, most: calls, preload }
    : { least: decided, most: decided + failed, preload };
}

function storeReconciles({ consumers, store, configuration, request }: Evidence): Finding | undefined {
  const notApplicable = (why: string): Finding => ({
    severity: "not applicable",
    text: `decisions of the store: ${why}`,
  });
  if (configuration && !usesStore(configuration.target)) return notApplicable("the target has no store");
  const calls = callsOf(consumers);
  const counted = store && storeDecisions(store);
  if (!store || !calls || counted === undefined) return notApplicable("the store does not count them");
  if (
    isClientLayer(request.layer) &&
    consumers.some(({ preload_consumes }) => preload_consumes === undefined)
  )
    return notApplicable("the limiter does not say how many consumes loaded its scripts");
  const { least, most, preload } = calls;
  const seen = counted - preload;
  if (seen >= least && seen <= most) return undefined;
  const text = `${namesOf(consumers)} decided ${least} consumes, the store counted ${seen}`;
  // Others may use an external store, so additional calls prove nothing.
  if (store.external && seen > least)
    return { severity: "suspect", text: `${text} (do others use it, too?)` };
  return invalid(text);
}

const namesOf = (consumers: Evidence["consumers"]): string => consumers.map(({ id }) => id).join(", ");

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
    const { counts, generators, request, consumers } = evidence;
    if (accounted(counts) !== counts.sent) {
      return invalid(`${counts.sent} requests were sent, ${accounted(counts)} are accounted for`);
    }
    const { connections } = request.load;
    if (counts.cut > connections) {
      return invalid(`${counts.cut} requests were cut at the end on ${connections} connections`);
    }
    const unreconciled = scheduleReconciles(evidence);
    if (unreconciled) return unreconciled;
    const parts = addCounts(generators.map((part) => part.counts));
    if (parts.sent !== counts.sent || answered(parts) !== answered(counts)) {
      return invalid("the counts are not the sum of the generators' counts");
    }
    if (consumers.length === 0) return { severity: "not applicable", text: "the server reports no counters" };
    const received = sum(
      consumers.map(({ at_window_open, at_end }) => at_end.requests - at_window_open.requests),
    );
    const surelyReceived = answered(counts) + counts.failed_answers;
    if (received < surelyReceived || received > counts.sent) {
      return invalid(
        `${counts.sent} requests were sent and ${surelyReceived} answered, ${namesOf(consumers)} counted ${received}`,
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
