import type { FaultFigures, FiguresOfFault } from "../contract/fault-figures.js";
import type { FaultRecord } from "../contract/fault-schemas.js";
import { LEAST_BASELINE_S } from "../contract/fault-times.js";
import type { Sample } from "../contract/generator-part.js";
import type { Timeline } from "../contract/timeline.js";
import { definedOnly } from "../kit/defined-only.js";
import { rounded, sum } from "../kit/numbers.js";

/**
 * A service serves again when so many seconds in a row serve this share of their requests. It has
 * recovered when each of these seconds also has at most this multiple of the p99 before the fault.
 */
export const RECOVERED = { seconds: 3, served_share: 0.99, p99_factor: 2 } as const;
export const BEFORE_S = { most: 10, least: LEAST_BASELINE_S } as const;
/** An outage ends with the first second that serves this share of the rate before. */
export const BACK_SHARE = 0.9;
/** From this share on, requests that fail or wait are what a fault does. */
const UNSERVED_SHARE = 0.1;
/** A fault of a moment has too few answers to tell whether the limiter still limits. */
const LEAST_SLICES = 3;
/** With a smaller share of limited answers no figure tells whether the limiter still limits. */
const LEAST_LIMITED_SHARE = 0.01;

/**
 * The admissions that the limiter's model predicts from the injection of a fault to the next one,
 * or to the end of the window.
 */
export type PredictedAdmissions = { counters_kept: number; counters_lost?: number };

/** A moment this close before a slice belongs to it, because no fault begins exactly on time. */
export const SAME_S = 0.01;

export const sliceAt = (s: number, { width_ms }: Pick<Timeline, "width_ms">): number =>
  Math.max(0, Math.floor(((s + SAME_S) * 1000) / width_ms));

export interface FaultRun {
  timeline: Timeline;
  faults: readonly FaultRecord[];
  samples: readonly Pick<Sample, "t_s" | "server_resident_bytes">[];
  /**
   * The predictions in the order of the faults. A prediction is null where the quotas cannot be
   * used up, and undefined where nothing is predicted.
   */
  predicted?: readonly (PredictedAdmissions | null | undefined)[];
}

/** The slices of a timeline from `from` to before `to`. */
type Span = { from: number; to: number };

type Ends = { allowed: number; limited: number; failed: number };

const ended = ({ allowed, limited, failed }: Ends): number => allowed + limited + failed;

/**
 * What the requests of a timeline got, slice by slice, to compare with what they got before
 * faults.
 */
class ObservedService {
  readonly slices: number;
  readonly before: FaultFigures["before"];
  readonly perSecond: number;
  readonly #timeline: Timeline;
  /** The most requests that waited at the same time before the first fault. */
  readonly #usualBacklog: number;
  readonly #servedBefore: number;

  constructor(timeline: Timeline, firstFault_s: number) {
    this.#timeline = timeline;
    this.slices = timeline.allowed.length;
    this.perSecond = 1000 / timeline.width_ms;
    const to = Math.min(this.slices, sliceAt(firstFault_s, timeline));
    const span = { from: Math.max(0, to - BEFORE_S.most * this.perSecond), to };
    this.#usualBacklog = Math.max(0, ...(timeline.backlog ?? []).slice(span.from, span.to));
    const ends = this.ends(span);
    const answers = ends.allowed + ends.limited;
    this.#servedBefore = to > 0 ? (answers * this.perSecond) / (span.to - span.from) : 0;
    if (to < BEFORE_S.least * this.perSecond) return;
    this.before = {
      seconds: (span.to - span.from) / this.perSecond,
      p99_us: timeline.p99_before_us[to] ?? null,
      limited_share: answers > 0 ? rounded(ends.limited / answers, 6) : null,
    };
  }

  /** Counts how the requests ended that ended in a span. */
  ends({ from, to }: Span): Ends {
    const { allowed, limited, failed, timed_out } = this.#timeline;
    const total = (counts: readonly number[]) => sum(counts.slice(from, to));
    return {
      allowed: total(allowed),
      limited: total(limited),
      failed: total(failed) + total(timed_out),
    };
  }

  /**
   * The requests that were due in a span and still wait at its end, less those that waited
   * before the faults. It is undefined in a closed loop.
   */
  waiting({ from, to }: Span): number | undefined {
    const { backlog } = this.#timeline;
    if (!backlog) return undefined;
    const backlogBefore = Math.max(this.#usualBacklog, backlog[from - 1] ?? 0);
    return Math.max(0, (backlog[to - 1] ?? 0) - backlogBefore);
  }

  /**
   * The share of served requests among those that ended and those that began to wait. It is
   * undefined without any.
   */
  servedShare(span: Span): number | undefined {
    const ends = this.ends(span);
    // A closed loop always has requests in flight: where none ends, all wait.
    const waiting = this.waiting(span) ?? (ended(ends) === 0 ? 1 : 0);
    const requests = ended(ends) + waiting;
    return requests === 0 ? undefined : (ends.allowed + ends.limited) / requests;
  }

  isDisturbed(span: Span): boolean {
    return (this.servedShare(span) ?? 1) < RECOVERED.served_share;
  }

  /**
   * Whether requests fail, which a busy host alone does not cause. Requests that are given up
   * do not count, because they were due long before.
   */
  isFailing(span: Span): boolean {
    const { failed } = this.#timeline;
    const count = sum(failed.slice(span.from, span.to));
    return count > (1 - RECOVERED.served_share) * ended(this.ends(span));
  }

  #isGoodSecond(from: number, p99_before_us: number): boolean {
    const p99_us = this.#timeline.p99_second_us[from] ?? 0;
    return (
      !this.isDisturbed({ from, to: from + this.perSecond }) &&
      p99_us <= RECOVERED.p99_factor * p99_before_us
    );
  }

  /**
   * Whether a good second may begin with this slice. It must not begin before the burst in
   * which what waited is answered.
   */
  #beginsServed(slice: number): boolean {
    return (this.servedShare({ from: slice, to: slice + 1 }) ?? 1) >= BACK_SHARE;
  }

  /**
   * The first slice of a span that begins a second at the rate before the faults, or else
   * the end of the span.
   */
  backAt({ from, to }: Span): number {
    for (let slice = from; slice + this.perSecond <= to; slice++) {
      const { allowed, limited } = this.ends({ from: slice, to: slice + this.perSecond });
      if (this.#beginsServed(slice) && allowed + limited >= BACK_SHARE * this.#servedBefore)
        return slice;
    }
    return to;
  }

  /**
   * The highest p99 of a second that begins in a span. It is null where none has an answer.
   */
  worstP99({ from, to }: Span): number | null {
    const p99s_us = this.#timeline.p99_second_us.slice(from, to).filter((us) => us !== null);
    return p99s_us.length > 0 ? Math.max(...p99s_us) : null;
  }

  /**
   * The first slice of a span with which three good seconds begin. It is undefined without
   * one.
   */
  #firstOfThree({ from, to }: Span, isGood: (second: number) => boolean): number | undefined {
    const neededSlices = RECOVERED.seconds * this.perSecond;
    for (let slice = from; slice + neededSlices <= to; slice++) {
      const seconds = Array.from(
        { length: RECOVERED.seconds },
        (_, second) => slice + second * this.perSecond,
      );
      if (seconds.every(isGood)) return slice;
    }
    return undefined;
  }

  /** The first slice of a span from which on requests are served, at any latency. */
  servedAgain(span: Span): number | undefined {
    return this.#firstOfThree(
      span,
      (from) => this.#beginsServed(from) && !this.isDisturbed({ from, to: from + this.perSecond }),
    );
  }

  /** The first slice of a span from which on requests are served as fast as before. */
  recovery(span: Span, p99_before_us: number): number | undefined {
    return this.#firstOfThree(span, (second) => this.#isGoodSecond(second, p99_before_us));
  }

  /** The slices of a span of which something holds. */
  where({ from, to }: Span, holds: (slice: Span) => boolean): number[] {
    return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index).filter(
      (slice) => holds({ from: slice, to: slice + 1 }),
    );
  }
}

/** What a fault did to the service, as its requests show it. */
interface Outage {
  /** The first slice of the outage. It is undefined where none is seen. */
  begins?: number;
  /** The slice before which the outage does not end. */
  shown: number;
  /** Requests are neither served again nor settled before this slice. */
  search_from: number;
}

/**
 * A fault may take long to show, and a busy host makes requests wait but never fail. Where requests
 * fail, these slices are the outage, with the waiting that leads to them.
 * @param away the slices in which the fault is in place
 */
function outageOf(service: ObservedService, observed: Span, away: Span): Outage {
  const isDisturbed = (slice: Span) => service.isDisturbed(slice);
  const failing = service.where(away, (slice) => service.isFailing(slice));
  const [first] = failing;
  if (first === undefined) {
    const [begins] = service.where(observed, isDisturbed);
    const [whileAway = observed.from] = service.where(away, isDisturbed);
    return definedOnly({ begins, shown: whileAway, search_from: whileAway });
  }

  const disturbed = service.where({ from: observed.from, to: first }, isDisturbed);
  const p99_us = service.before?.p99_us ?? Number.POSITIVE_INFINITY;
  const begins = disturbed.find(
    (slice) => service.recovery({ from: slice, to: first }, p99_us) === undefined,
  );

  return { begins: begins ?? first, shown: first, search_from: failing.at(-1) ?? first };
}

/** Whether and from which slice on the service has recovered, or why that is not known. */
function recoveryOf(
  service: ObservedService,
  observed: Span,
  { search_from }: Outage,
): Pick<FiguresOfFault, "recovery" | "recovery_text"> & { slice?: number } {
  const { before } = service;
  const notKnown = (recovery_text: string) => ({ recovery: "not known" as const, recovery_text });
  if (!before)
    return notKnown(
      `the run has less than ${BEFORE_S.least} s before its first fault to compare with`,
    );
  if (before.p99_us === null) return notKnown("nothing was answered before the first fault");
  const observed_s = (observed.to - observed.from) / service.perSecond;
  if (observed_s < RECOVERED.seconds)
    return notKnown(
      `only ${rounded(observed_s, 1)} s of the run are left after it, and ${RECOVERED.seconds} s are needed`,
    );
  const slice = service.recovery({ from: search_from, to: observed.to }, before.p99_us);
  if (slice === undefined)
    return {
      recovery: "never",
      recovery_text: `not in the ${rounded(observed_s, 1)} s that were observed`,
    };

  if (before.seconds >= BEFORE_S.most) return { recovery: "recovered", slice };
  return {
    recovery: "recovered",
    recovery_text: `compared with the ${before.seconds} s before it`,
    slice,
  };
}

/**
 * The slice from which on requests are served again. It is null where they are not, and
 * undefined where that is not known.
 */
function servedAgainOf(
  service: ObservedService,
  observed: Span,
  outage: Outage,
): number | null | undefined {
  if (observed.to - observed.from < RECOVERED.seconds * service.perSecond) return undefined;
  return service.servedAgain({ from: outage.search_from, to: observed.to }) ?? null;
}

/** The outcomes as shares of the requests that ended. It is null where none ended. */
function shares(ends: Ends): FiguresOfFault["answers"] {
  const requests = ended(ends);
  if (requests === 0) return null;
  const share = (count: number) => rounded(count / requests, 6);
  return { allowed: share(ends.allowed), limited: share(ends.limited), failed: share(ends.failed) };
}

/** Describes what requests got in a span, compared with what they got before the faults. */
function behaviourOf(service: ObservedService, span: Span): FiguresOfFault["behaviour"] {
  const ends = service.ends(span);
  const answers = ends.allowed + ends.limited;
  const waiting = service.waiting(span) ?? (ended(ends) === 0 ? 1 : 0);
  const unserved = ends.failed + waiting;
  if (unserved > 0 && unserved >= UNSERVED_SHARE * (answers + unserved))
    return ends.failed >= waiting ? "errors" : "waits";
  if (answers === 0 || span.to - span.from < LEAST_SLICES) return "unchanged";
  const limitedBefore = service.before?.limited_share ?? 0;
  const limited = ends.limited / answers;
  if (limited > (1 + limitedBefore) / 2) return "closed";
  return limitedBefore >= LEAST_LIMITED_SHARE && limited < limitedBefore / 2 ? "open" : "unchanged";
}

/**
 * The largest reading of the servers' resident memory in a span, and the last reading
 * before it.
 */
function memoryOf(
  samples: FaultRun["samples"],
  from_s: number,
  to_s: number,
): Pick<FiguresOfFault, "server_memory_peak_bytes" | "server_memory_before_bytes"> {
  const readings = (isIncluded: (t_s: number) => boolean) =>
    samples.flatMap(({ t_s, server_resident_bytes: bytes }) =>
      bytes !== undefined && isIncluded(t_s) ? [bytes] : [],
    );
  const since = readings((t_s) => t_s >= from_s && t_s <= to_s);
  const lastBefore = readings((t_s) => t_s < from_s).at(-1);
  return definedOnly({
    server_memory_peak_bytes: since.length > 0 ? Math.max(...since) : undefined,
    server_memory_before_bytes: lastBefore,
  });
}

function figuresOf(
  service: ObservedService,
  injected: NonNullable<FaultRecord["injected"]>,
  ends_s: number,
  { samples, timeline }: FaultRun,
): Omit<FiguresOfFault, "fault" | "over_admission"> & { admitted: number } {
  const { perSecond, slices } = service;
  const sliceOf = (s: number) => Math.min(slices, sliceAt(s, timeline));
  const observed = { from: sliceOf(injected.from_s), to: sliceOf(ends_s) };
  // Slices count as away that lie in the fault by half at least: in the one in which it ends, what
  // waited is answered.
  const nearest = (s: number) => Math.min(observed.to, Math.round(s * perSecond));
  const away_from = Math.min(nearest(injected.from_s), observed.to - 1);
  const away = { from: away_from, to: Math.max(away_from + 1, nearest(injected.to_s)) };
  const since = (slice: number) => rounded(Math.max(0, slice / perSecond - injected.from_s), 3);

  const causedOutage = outageOf(service, observed, away);
  const { slice: recovered, ...recovery } = recoveryOf(service, observed, causedOutage);
  const served = servedAgainOf(service, observed, causedOutage);
  const begins = causedOutage.begins ?? observed.to;
  const outage = {
    from: begins,
    to: service.backAt({ from: Math.max(begins, causedOutage.shown), to: observed.to }),
  };
  // Requests may be served again long before the end of a fault that lasts to the end of the run,
  // and only long after a fault of a moment.
  const differs = away.to >= observed.to || away.to - away.from < LEAST_SLICES;
  const affected = differs && outage.to > outage.from ? outage : away;
  const [firstError] = service.where(observed, (slice) => service.ends(slice).failed > 0);
  const ends = service.ends(observed);

  return definedOnly({
    observed_s: rounded((observed.to - observed.from) / perSecond, 1),
    outage_injected_s: rounded(injected.to_s - injected.from_s, 3),
    outage_seen_s: rounded((outage.to - outage.from) / perSecond, 1),
    first_error_s: firstError === undefined ? null : since(firstError),
    error_share: shares(service.ends(outage.to > outage.from ? outage : away))?.failed ?? null,
    served_again_s: typeof served === "number" ? since(served) : served,
    ...recovery,
    recovery_s: recovered === undefined ? null : since(recovered),
    requests_lost: ends.failed,
    answers: shares(service.ends(affected)),
    behaviour: behaviourOf(service, affected),
    p99_worst_us: service.worstP99(affected),
    ...memoryOf(samples, injected.from_s, ends_s),
    admitted: ends.allowed,
  });
}

/**
 * The figures of each injected fault, in the order of the plan, or undefined without
 * faults. A fault is followed until the next one or the end of the window, and all are judged by
 * the service before the first. docs/faults.md defines each figure.
 */
export function faultFigures(run: FaultRun): FaultFigures | undefined {
  const { timeline, faults, predicted = [] } = run;
  const injected = faults
    .flatMap((fault, place) => (fault.injected ? [{ place, ...fault.injected }] : []))
    .toSorted((a, b) => a.from_s - b.from_s);
  const [first] = injected;
  if (!first) return undefined;

  const service = new ObservedService(timeline, first.from_s);
  const window_s = service.slices / service.perSecond;
  const figures = injected.map(({ place, ...fault }, index) => {
    const ends_s = injected[index + 1]?.from_s ?? window_s;
    const { admitted, ...observed } = figuresOf(service, fault, ends_s, run);
    const model = predicted[place];
    const over_admission = model && { admitted, ...model };
    return definedOnly({ fault: place, ...observed, over_admission });
  });

  return definedOnly({
    before: service.before,
    faults: figures.toSorted((a, b) => a.fault - b.fault),
  });
}
