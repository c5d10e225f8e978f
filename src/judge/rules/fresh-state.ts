import type { StoreReading } from "../../contract/store.js";
import { usesStore } from "../../contract/target.js";
import { hasRestarted } from "../counts.js";
import {
  type Evidence,
  invalid,
  notApplicable,
  type Rule,
  type RuleFinding,
  suspect,
  wasEnded,
} from "../evidence.js";

const hasStore = ({ configuration }: Pick<Evidence, "configuration">): boolean =>
  configuration !== undefined && usesStore(configuration.target);

/**
 * Why the evidence of the store is missing, or undefined where it is there.
 * @param member of a reading that the store gives if it has that evidence
 */
function withStore(
  evidence: Pick<Evidence, "store" | "configuration">,
  member: keyof StoreReading,
): RuleFinding | undefined {
  if (!hasStore(evidence)) return undefined;
  const { store, configuration } = evidence;
  if (!store) return notApplicable("no reading of the store");
  if (store.nodes.every(({ at_start }) => at_start[member] !== undefined)) return undefined;
  return notApplicable(
    `${configuration?.target.store} does not report its ${member.replaceAll("_", " ")}`,
  );
}

/** What a node of a store already held; undefined where it was fresh. */
export function dirtyNode({
  keys = 0,
  decisions = 0,
}: Pick<StoreReading, "keys" | "decisions">): string | undefined {
  if (keys > 0) return `held ${keys} keys`;
  return decisions > 0 ? `still counted ${decisions} decisions` : undefined;
}

/** M13: a new server process, an empty store, and reset statistics. */
export const cleanStart: Rule = {
  id: "M13",
  check(evidence) {
    const { consumers, store, turns } = evidence;
    // The harness fails a round whose target was not fresh before its first turn.
    if (turns?.curve)
      return notApplicable("the runs of a load curve share a server and a store, which were fresh");
    if (consumers.length === 0) return notApplicable("the server reports no uptime");
    const usedConsumer = consumers.find(({ at_start }) => at_start.requests > 0);
    if (usedConsumer)
      return invalid(
        `${usedConsumer.id} had served ${usedConsumer.at_start.requests} requests before`,
      );

    // An external store is never emptied; the keys of this run have their own prefix.
    for (const { role, at_start } of store?.external ? [] : (store?.nodes ?? [])) {
      const dirt = dirtyNode(at_start);
      if (dirt !== undefined) return invalid(`${role} ${dirt} at the start`);
    }

    return withStore(evidence, "keys");
  },
};

/** M14: nothing was evicted. */
export const nothingEvicted = {
  id: "M14",
  check(evidence: Pick<Evidence, "store" | "configuration">): RuleFinding | undefined {
    const evicted = (evidence.store?.nodes ?? []).flatMap(({ role, at_start, at_end }) => {
      const count = (at_end.evicted_keys ?? 0) - (at_start.evicted_keys ?? 0);
      return count > 0 ? [`${role} evicted ${count} keys`] : [];
    });
    if (evicted.length > 0) return suspect(evicted.join(", "));
    return withStore(evidence, "evicted_keys");
  },
} satisfies Rule;

/** Whether a node reports no id of its process, but how long the process has been up. */
const tellsByUptime = ({
  at_start,
  at_end,
}: Record<"at_start" | "at_end", StoreReading>): boolean =>
  at_start.run_id === undefined && at_start.uptime_s !== at_end.uptime_s;

/** M14: neither the store, nor the service, nor the server restarted during the run. */
export const noRestart = {
  id: "M14",
  check(
    evidence: Pick<
      Evidence,
      "store" | "service" | "configuration" | "consumers" | "duration" | "faults"
    >,
  ): RuleFinding | undefined {
    const { consumers, store, service, duration } = evidence;
    for (const { role, at_start, at_end } of store?.nodes ?? []) {
      if (wasEnded(evidence, role)) continue;
      // The window lies between these readings, in whole seconds: a younger process is another one.
      const restarted = tellsByUptime({ at_start, at_end })
        ? (at_end.uptime_s ?? 0) - (at_start.uptime_s ?? 0) < 0.99 * duration - 1.1
        : at_start.run_id !== at_end.run_id;
      if (restarted) return invalid(`${role} restarted during the run`);
    }

    // Counters of a new process begin at 0 again.
    if (
      service &&
      !wasEnded(evidence, service.role) &&
      (service.at_start.run_id !== service.at_end.run_id ||
        service.at_end.decisions < service.at_start.decisions)
    )
      return invalid(`${service.role} restarted during the run`);
    const restarted = consumers.find(
      (consumer) => !wasEnded(evidence, consumer.id) && hasRestarted(consumer, duration),
    );
    if (restarted) return invalid(`${restarted.id} restarted during the run`);

    return store?.nodes.every(tellsByUptime) ? undefined : withStore(evidence, "run_id");
  },
} satisfies Rule;
