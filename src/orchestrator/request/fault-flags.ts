import {
  type FaultAction,
  faultActionIds,
  propertiesOfAction,
} from "../../contract/fault-actions.js";
import { type Fault, faultKind, faultSchema } from "../../contract/fault-schemas.js";
import { FAULT_SEPARATOR } from "../../contract/fault-text.js";
import {
  defaultLengthS,
  FAULT_START_S,
  faultEndS,
  LEAST_BASELINE_S,
  LEAST_SETTLING_S,
  SETTLES_S,
} from "../../contract/fault-times.js";
import { isProgramLayer } from "../../contract/layers.js";
import { findNamedFault, namedFaults } from "../../contract/named-faults.js";
import { definedOnly } from "../../kit/defined-only.js";
import { usageError } from "../../kit/errors.js";
import { requireKnown } from "../../targets/did-you-mean.js";
import { CUSTOM_DURATION, DYNAMIC } from "./durations.js";
import type { DurationMode, RequestedEntries, RequestedLoad, RequestedRounds } from "./request.js";
import type { Settings, SettingValue } from "./setting-layers.js";

/** The value that stands for a configuration without faults. */
export const NO_FAULT = "none";

const FORM =
  /^(?<what>[a-z][a-z-]*)(?::(?<role>[a-z]+(?:-[1-9]\d?)?))?(?:@(?<start>\d{1,5}(?:\.\d{1,3})?)s(?:\+(?<length>\d{1,5}(?:\.\d{1,3})?)s)?)?$/;

const FORMS =
  "NAME[@START[+LENGTH]] or ACTION:ROLE[@START[+LENGTH]], e.g. store-restart or pause:store-1@5s+2s";

/** A fault, and whether the user gave its times. */
type RequestedFault = { fault: Fault; isTimed: boolean };

/**
 * The length of a fault in seconds; undefined where the text has none.
 * @throws usageError for an action without a length, because it happens at one moment or lasts to
 *   the end
 */
function lengthOf(
  source: string,
  text: string,
  action: FaultAction,
  length: string | undefined,
): number | undefined {
  if (length === undefined) return undefined;
  if (propertiesOfAction(action).length_s === undefined)
    throw usageError(`${source} ${text}: ${action} has no length: leave out +${length}s`);
  if (Number(length) > 0) return Number(length);
  throw usageError(`${source} ${text}: give a length above 0 s`);
}

function faultOf(source: string, text: string): RequestedFault {
  const shown = JSON.stringify(text.slice(0, 60));
  const { what = "", role, start, length } = FORM.exec(text)?.groups ?? {};
  if (what === "") throw usageError(`${source} ${shown}: give ${FORMS}`);

  const named = role === undefined ? findNamedFault(what) : undefined;
  const names = namedFaults.map(({ id }) => id);
  if (role === undefined && !named) requireKnown("fault", what, names);
  if (!named) requireKnown("fault action", what, faultActionIds);

  const action = named?.action ?? (what as FaultAction);
  const identity = definedOnly({ name: named?.id, action });
  const fault = definedOnly({
    ...identity,
    role: named?.role ?? role ?? "",
    start_s: start === undefined ? FAULT_START_S : Number(start),
    length_s: lengthOf(source, text, action, length) ?? defaultLengthS(identity),
  });

  const { kinds } = propertiesOfAction(action);
  if (!faultSchema.safeParse(fault).success || !kinds.includes(faultKind(fault)))
    throw usageError(
      `${source} ${shown}: ${action} is done to ${kinds.join(" or ")}, or to one of them, e.g. ${kinds[0]}-1`,
    );
  return { fault, isTimed: start !== undefined };
}

/** @throws usageError for a fault without a baseline before it, or time to recover after it */
function requireTime(
  { fault, isTimed }: RequestedFault,
  source: string,
  text: string,
  mode: DurationMode,
): void {
  const named = findNamedFault(fault.name);
  if (mode.mode === "requests")
    throw usageError(
      `${source} ${text}: runs of faults have a duration: give --duration-mode ${CUSTOM_DURATION}N`,
    );
  if (fault.start_s < LEAST_BASELINE_S)
    throw usageError(
      `${source} ${text}: begin at ${LEAST_BASELINE_S}s or later: outage and recovery are measured by what was before`,
    );
  // Every dynamic duration is long enough for faults whose times the user does not set.
  const window_s = mode.mode === "fixed" ? mode.seconds : DYNAMIC.seconds;
  const settling_s = isTimed ? LEAST_SETTLING_S : (named?.settles_s ?? SETTLES_S);
  const least_s = Math.ceil(faultEndS(fault) + settling_s);
  if (window_s >= least_s) return;

  const earliest = { ...fault, start_s: LEAST_BASELINE_S };
  const isEarlyEnough = !isTimed && faultEndS(earliest) + LEAST_SETTLING_S <= window_s;
  const shorter = isEarlyEnough
    ? `, or give the times of the fault, e.g. ${text}@${LEAST_BASELINE_S}s`
    : "";
  throw usageError(
    `${source} ${text} ends ${faultEndS(fault)} s into a window of ${window_s} s and needs ${settling_s} s after it: give --duration-mode ${CUSTOM_DURATION}${least_s}${shorter}`,
  );
}

/** @throws usageError for two faults of one run that overlap, because nobody could tell them apart */
function requireApart(faults: readonly Fault[], source: string, text: string): void {
  for (const [index, fault] of faults.entries()) {
    const next = faults[index + 1];
    if (next && next.start_s <= faultEndS(fault))
      throw usageError(
        `${source} ${text}: a fault begins before the one before it has ended: give them other times`,
      );
  }
}

/** The other settings of a campaign that decide whether it can have faults. */
interface Surroundings
  extends Pick<RequestedEntries, "layers">,
    Pick<RequestedLoad, "rates" | "objectives">,
    Pick<RequestedRounds, "diagnose"> {
  mode: DurationMode;
}

/**
 * The faults of each configuration. The words of the list are configurations, and `/` joins the
 * faults of one run.
 * @throws usageError
 */
export function faultsOf(settings: Settings, surroundings: Surroundings): Fault[][] {
  const setting = settings.find("fault");
  if (!setting) return [[]];

  const { source } = setting;
  requireFitting(setting, surroundings);
  return settings.list("fault").map((text) => {
    if (text === NO_FAULT) return [];
    const faults = text.split(FAULT_SEPARATOR).map((word) => {
      const requested = faultOf(source, word);
      requireTime(requested, source, word, surroundings.mode);
      return requested.fault;
    });
    const ordered = faults.toSorted((a, b) => a.start_s - b.start_s);
    requireApart(ordered, source, text);
    return ordered;
  });
}

/** @throws usageError where a campaign with these settings cannot have faults */
function requireFitting(
  { source, value }: SettingValue,
  { layers, rates, objectives, diagnose }: Surroundings,
): void {
  const shown = `${source} ${value.slice(0, 60)}`;
  if (layers.some(isProgramLayer))
    throw usageError(`${shown}: the store layer has no faults: leave it out`);
  if (objectives) throw usageError(`${shown} and --find-max-rate: give one of them`);
  if (diagnose) throw usageError(`${shown} and --diagnose: give one of them`);
  if (rates.length === 0)
    throw usageError(
      `${shown} is for open loops: give --rate, or a fault, for which one is found by calibration`,
    );
}
