import { isClientLayer } from "../../contract/layers.js";
import type { Order } from "../../contract/plan.js";
import type { Discovery } from "../../contract/store.js";
import { CURVE_LEAD_IN_MS, hasLongTurns, LONG_TURN, MIN_CYCLES } from "../../contract/turns.js";
import { secondsOfSlices, shortestLengths } from "../../traffic/turn-order.js";
import { extentText } from "../ui/event-text.js";
import type { Planned } from "./rankings.js";

/** Notes on the precision of turns, and on planned times that they change. */
export function notesOnTurns(order: Order, configurations: readonly Planned[]): string[] {
  if (order !== "turns") return [];
  return [
    ...precisionNotes(configurations),
    ...lengthenedNotes(configurations),
    ...longTurnsNotes(configurations),
  ];
}

/** Notes on what a load curve measures, and on how long. */
export function notesOnCurve(configurations: readonly Planned[]): string[] {
  const [first] = configurations;
  if (!first) return [];
  const lead_in_s = CURVE_LEAD_IN_MS / 1000;
  return [
    `each target has one turn of ${extentText(first.configuration)} at each load of a round, after ${lead_in_s} s at the same load that do not count`,
    "CPU is read before and after each turn, while no request is in flight: it is that of one target at one load",
    "a cost holds at the load where it was measured: between measured rates it is interpolated, and never from full load (M35)",
  ];
}

/** A note on consecutive runs, which leave the machine's drift in the comparisons (M16). */
export function notesOnDrift(order: Order, configurations: readonly Planned[]): string[] {
  if (order !== "consecutive" || configurations.length < 2) return [];
  return [
    "runs of a configuration follow each other: drift of the machine is not excluded from comparisons",
  ];
}

/** A note on how far ratios of one round lie apart where each target has its own generator. */
function precisionNotes(configurations: readonly Planned[]): string[] {
  const hasOwnGenerators = configurations.some(({ configuration }) =>
    isClientLayer(configuration.layer),
  );
  if (!hasOwnGenerators) return [];
  return [
    "limiter layer: each target has a generator of its own; there pairs of equal targets deviated by about 8 % on two shared CPUs",
  ];
}

/** Notes on targets that get more than the planned seconds, because these hold too few cycles. */
function lengthenedNotes(configurations: readonly Planned[]): string[] {
  const texts = configurations.flatMap(({ configuration: { layer, extent } }) => {
    if (!("duration_s" in extent)) return [];

    const shortest = shortestLengths(layer);
    const duration_s = secondsOfSlices(extent.duration_s, shortest);
    if (duration_s === extent.duration_s) return [];
    return [
      `${layer} layer: ${extent.duration_s} s hold fewer than ${MIN_CYCLES} slices of ${shortest.slice_ms} ms: each target gets ${duration_s} s`,
    ];
  });
  return [...new Set(texts)];
}

/** A note on the long turns that windows of some length have. */
function longTurnsNotes(configurations: readonly Planned[]): string[] {
  const haveLongTurns = configurations.some(
    ({ configuration: { extent } }) => "duration_s" in extent && hasLongTurns(extent.duration_s),
  );
  if (!haveLongTurns) return [];
  const seconds = (LONG_TURN.lead_in_ms + LONG_TURN.slice_ms) / 1000;
  return [
    `each target has a turn of ${seconds} s before the window of each round, with which its short turns are compared (M33)`,
  ];
}

/** Notes on apps that already run, of which a campaign knows and controls less. */
export const notesOnRunningApps = (configurations: readonly Planned[]): string[] => [
  ...new Set(
    configurations.flatMap(({ configuration: { target, external_server } }) =>
      external_server && target.copy_of === undefined
        ? [
            `${target.label} already runs: all rounds meet the same process, whose start may have been a lucky one, so its systematic error is larger; its CPU time and memory are not known`,
          ]
        : [],
    ),
  ),
];

/** Notes on a store that the campaign did not start, and on the limit of its memory. */
export function notesOnExternalStore({ store, version, memory }: Discovery): string[] {
  const name = `the store is one that already ran: ${store} ${version}`;
  if (!memory) return [name, "the limit of its memory (maxmemory) is not known"];

  const { max_bytes, policy } = memory;
  if (max_bytes === 0) return [name, "its memory has no limit (maxmemory 0)"];

  const megabytes = (max_bytes / 1e6).toFixed(0);
  return [name, `its memory is limited to ${megabytes} MB: ${textAtLimit(policy)}`];
}

/** A text on what a store does to the counters of a limiter at its memory's limit. */
function textAtLimit(policy: string): string {
  if (policy === "noeviction") return "at it, decisions fail";
  return `at it, keys are evicted (${policy}): limits are forgotten without an error`;
}
