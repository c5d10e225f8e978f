import type { FaultFigures, FiguresOfFault } from "../contract/fault-figures.js";
import { type FaultRecord, LEAST_BASELINE_S } from "../contract/faults.js";
import type { Sample } from "../contract/generator-part.js";
import type { Timeline } from "../contract/timeline.js";
import { definedOnly } from "../kit/defined-only.js";
import { rounded, sum } from "../kit/numbers.js";

/**
 * Served again: this many seconds in a row, each with this share of requests served. Settled again,
 * which is called recovery: each of them also with at most this much of the p99 before.
 */
export const RECOVERED = { seconds: 3, served_share: 0.99, p99_factor: 2 } as const;
export const BEFORE_S = { most: 10, least: LEAST_BASELINE_S } as const;
/** An outage ends with the first second that serves this share of the rate before. */
export const BACK_SHARE = 0.9;
/** From this share on, requests that fail or wait are what a fault does. */
const UNSERVED_SHARE = 0.1;
/** A fault of a moment has too few answers to tell whether the limiter still limits. */
const LEAST_SLICES = 3;
/** Below it, no figure tells whether the limiter still limits. */
const LEAST_LIMITED_SHARE = 0.01;

/**
 * Admissions of the model from the injection of a fault to the next one, or to the end of the
 * window.
 */
export type PredictedAdmissions = { counters_kept: number; counters_lost?: number };

/**
 * A moment this close before a slice belongs to it: faults begin a hair before or after the slice
 * that is meant.
 */
export const SAME_S = 0.01;

export const sliceAt = (s: number, { width_ms }: Pick<Timeline, "width_ms">): number =>
  Math.max(0, Math.floor(((s + SAME_S) * 1000) / width_ms));

export interface FaultRun {
  timeline: Timeline;
  faults: readonly FaultRecord[];
  samples: readonly Pick<Sample, "t_s" | "server_resident_bytes">[];
  /**
   * Predictions in the order of the faults; null where the quotas cannot be used up, absent where
   * nothing is predicted.
   */
  predicted?: readonly (PredictedAdmissions | null | undefined)[];
}

/** Slices of a timeline: `from` to before `to`. */
type Span = { from: number; to: number };

type Ends = { allowed: number; limited: number; failed: number };

const ended = ({ allowed, limited, failed }: Ends): number => allowed + limited + failed;

class ObservedService {
  readonly slices: number;
  readonly before: FaultFigures["before"];
  readonly perSecond: number;
  readonly #timeline: Timeline;
  /** The most requests that waited before the first fault. */
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

  ends({ from, to }: Span): Ends {
    const { allowed, limited, failed, timed_out } = this.#timeline;
    const of = (counts: readonly number[]) => sum(counts.slice(from, to));
    return { allowed: of(allowed), limited: of(limited), failed: of(failed) + of(timed_out) };
  }

  /**
   * Requests that were due in a span and still wait at its end, beyond the usual; undefined in a
   * closed loop.
   */
  waiting({ from, to }: Span): number | undefined {
    const { backlog } = this.#timeline;
    if (!backlog) return undefined;
    const usual = Math.max(this.#usualBacklog, backlog[from - 1] ?? 0);
    return Math.max(0, (backlog[to - 1] ?? 0) - usual);
  }

  /**
   * Share of the requests that were served, of those that ended and those that began to wait;
   * undefined without any.
   */
  servedShare(span: Span): number | undefined {
    const ends = this.ends(span);
    // A closed loop always has requests in flight: where none ends, all wait.
    const waiting = this.waiting(span) ?? (ended(ends) === 0 ? 1 : 0);
    const all = ended(ends) + waiting;
    return all === 0 ? undefined : (ends.allowed + ends.limited) / all;
  }

  isDisturbed(span: Span): boolean {
    return (this.servedShare(span) ?? 1) < RECOVERED.served_share;
  }

  /**
   * Whether requests fail, which the host alone does not cause. Those that are given up were due
   * long before.
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
   * Whether a second may begin here: what waited is answered in a burst, and it must not begin
   * before that.
   */
  #beginsServed(slice: number): boolean {
    return (this.servedShare({ from: slice, to: slice + 1 }) ?? 1) >= BACK_SHARE;
  }

  /**
   * The first slice of a span that begins a second at the rate before; the end of the span where
   * there is none.
   */
  backAt({ from, to }: Span): number {
    for (let slice = from; slice + this.perSecond <= to; slice++) {
      const { allowed, limited } = this.ends({ from: slice, to: slice + this.perSecond });
      if (this.#beginsServed(slice) && allowed + limited >= BACK_SHARE * this.#servedBefore)
        return slice;
    }
    return to;
  }

  /** The highest p99 of a second that begins in a span; null where none has an answer. */
  worstP99({ from, to }: Span): number | null {
    const known = this.#timeline.p99_second_us.slice(from, to).filter((us) => us !== null);
    return known.length > 0 ? Math.max(...known) : null;
  }

  /**
   * The first slice of a span from which on three seconds are good; undefined where there is none.
   */
  #firstOfThree({ from, to }: Span, isGood: (second: number) => boolean): number | undefined {
    const needed = RECOVERED.seconds * this.perSecond;
    for (let slice = from; slice + needed <= to; slice++) {
      const seconds = Array.from(
        { length: RECOVERED.seconds },
        (_, second) => slice + second * this.perSecond,
      );
      if (seconds.every(isGood)) return slice;
    }
    return undefined;
  }

  /** Where requests are served again, at any latency. */
  servedAgain(span: Span): number | undefined {
    return this.#firstOfThree(
      span,
      (from) => this.#beginsServed(from) && !this.isDisturbed({ from, to: from + this.perSecond }),
    );
  }

  recovery(span: Span, p99_before_us: number): number | undefined {
    return this.#firstOfThree(span, (second) => this.#isGoodSecond(second, p99_before_us));
  }

  where({ from, to }: Span, holds: (slice: Span) => boolean): number[] {
    return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index).filter(
      (slice) => holds({ from: slice, to: slice + 1 }),
    );
  }
}

interface Outage {
  /** Its first slice; undefined where none is seen. */
  begins?: number;
  /** Its end comes no sooner. */
  shown: number;
  /** Requests are neither served again nor settled before this slice. */
  search_from: number;
}

/**
 * A fault may take long to show, and a busy host makes requests wait but never fail: where requests
 * fail, the outage is that, with the waiting that leads to it. @param away while the fault is in
 * place
 */
function outageOf(service: ObservedService, observed: Span, away: Span): Outage {
  const isDisturbed = (slice: Span) => service.isDisturbed(slice);
  const failing = service.where(away, (slice) => service.isFailing(slice));
  const [first] = failing;
  if (first === undefined) {
    const [begins] = service.where(observed, isDisturbed);
    const [whileAway = observed.from] = service.where(away, isDisturbed);
    return definedOnly({
      begins,
      shown: whileAway,
      search_from: whileAway,
    });
  }

  const before = service.where({ from: observed.from, to: first }, isDisturbed);
  const p99_us = service.before?.p99_us ?? Number.POSITIVE_INFINITY;
  const begins = before.find(
    (slice) => service.recovery({ from: slice, to: first }, p99_us) === undefined,
  );

  return { begins: begins ?? first, shown: first, search_from: failing.at(-1) ?? first };
}

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
  const text =
    before.seconds < BEFORE_S.most
      ? { recovery_text: `compared with the ${before.seconds} s before it` }
      : {};

  return { recovery: "recovered", slice, ...text };
}

/**
 * The slice from which on requests are served again; null where they are not, undefined where that
 * is not known.
 */
function servedAgainOf(
  service: ObservedService,
  observed: Span,
  outage: Outage,
): number | null | undefined {
  if (observed.to - observed.from < RECOVERED.seconds * service.perSecond) return undefined;
  return service.servedAgain({ from: outage.search_from, to: observed.to }) ?? null;
}

function shares(ends: Ends): FiguresOfFault["answers"] {
  const all = ended(ends);
  if (all === 0) return null;
  const share = (count: number) => rounded(count / all, 6);
  return { allowed: share(ends.allowed), limited: share(ends.limited), failed: share(ends.failed) };
}

/** What requests got in a span, against what they got before. */
function behaviourOf(service: ObservedService, span: Span): FiguresOfFault["behaviour"] {
  const ends = service.ends(span);
  const answers = ends.allowed + ends.limited;
  const waiting = service.waiting(span) ?? (ended(ends) === 0 ? 1 : 0);
  const unserved = ends.failed + waiting;
  if (unserved > 0 && unserved >= UNSERVED_SHARE * (answers + unserved))
    return ends.failed >= waiting ? "errors" : "waits";
  if (answers === 0 || span.to - span.from < LEAST_SLICES) return "unchanged";
  const usual = service.before?.limited_share ?? 0;
  const limited = ends.limited / answers;
  if (limited > (1 + usual) / 2) return "closed";
  return usual >= LEAST_LIMITED_SHARE && limited < usual / 2 ? "open" : "unchanged";
}

/**
 * Resident memory of the servers: the largest reading of the span's seconds, and the last one
 * before them.
 */
function memoryOf(
  samples: FaultRun["samples"],
  from_s: number,
  to_s: number,
): Pick<FiguresOfFault, "server_memory_peak_bytes" | "server_memory_before_bytes"> {
  const read = (wanted: (t_s: number) => boolean) =>
    samples.flatMap(({ t_s, server_resident_bytes: bytes }) =>
      bytes !== undefined && wanted(t_s) ? [bytes] : [],
    );
  const since = read((t_s) => t_s >= from_s && t_s <= to_s);
  const before = read((t_s) => t_s < from_s).at(-1);
  return definedOnly({
    server_memory_peak_bytes: since.length > 0 ? Math.max(...since) : undefined,
    server_memory_before_bytes: before,
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
  // The slices that lie in it by half at least: in the one of its end, what waited is answered.
  const nearest = (s: number) => Math.min(observed.to, Math.round(s * perSecond));
  const away_from = Math.min(nearest(injected.from_s), observed.to - 1);
  const away = { from: away_from, to: Math.max(away_from + 1, nearest(injected.to_s)) };
  const since = (slice: number) => rounded(Math.max(0, slice / perSecond - injected.from_s), 3);

  const caused = outageOf(service, observed, away);
  const { slice: recovered, ...recovery } = recoveryOf(service, observed, caused);
  const served = servedAgainOf(service, observed, caused);
  const begins = caused.begins ?? observed.to;
  const outage = {
    from: begins,
    to: service.backAt({ from: Math.max(begins, caused.shown), to: observed.to }),
  };
  // The requests may have an end of it long before a fault that lasts to the end, and later than
  // one of a moment.
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
 * A fault is followed until the next one or the end of the window; all are judged by the service
 * before the first. docs/faults.md defines each figure. @returns one for each injected fault, in
 * order; undefined without any
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
  const found = injected.map(({ place, ...fault }, index) => {
    const ends_s = injected[index + 1]?.from_s ?? window_s;
    const { admitted, ...figures } = figuresOf(service, fault, ends_s, run);
    const model = predicted[place];
    const over_admission = model && { admitted, ...model };
    return definedOnly({
      fault: place,
      ...figures,
      over_admission,
    });
  });

  return definedOnly({
    before: service.before,
    faults: found.toSorted((a, b) => a.fault - b.fault),
  });
}
