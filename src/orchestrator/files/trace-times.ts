import { usageError } from "../../kit/errors.js";

/** The offset of a wall clock from UTC in ms. The wall-clock time is taken as if it were UTC. */
export type OffsetAt = (wall_ms: number) => number;

/** A time of a trace. `names_zone` is false where the zone is taken from outside of the text. */
export interface TraceTime {
  ms: number;
  names_zone: boolean;
}

const MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Numbers from these bounds on are in smaller units: as seconds they would be after the year 5138. */
const MILLISECONDS_FROM = 1e11;
const MICROSECONDS_FROM = 1e14;
const NANOSECONDS_FROM = 1e17;

const ZONE = String.raw`(Z|UTC|GMT|[+-]\d\d:?\d\d)`;
const CLOCK = String.raw`(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?`;
/** Matches `2025-10-09T08:53:20.5Z` and `2025/10/09 08:53:20`. */
const YEAR_FIRST = new RegExp(String.raw`^(\d{4})([-/])(\d\d)\2(\d\d)[T ]${CLOCK} ?${ZONE}?$`, "i");
/** Matches `10/Oct/2000:13:55:36 -0700` and `Thu, 10 Oct 2000 13:55:36 GMT`. */
const DAY_FIRST = new RegExp(
  String.raw`^(?:[A-Z][a-z]{2}, )?(\d{1,2})([/ ])([A-Z][a-z]{2})\2(\d{4})[: ]${CLOCK} ?${ZONE}?$`,
);

const UTC_OFFSET: OffsetAt = () => 0;

/** Minutes east of UTC; undefined where a text names no zone. */
function zoneMinutes(zone: string | undefined): number | undefined {
  if (zone === undefined) return undefined;
  if (!/^[+-]/.test(zone)) return 0;
  const minutes = 60 * Number(zone.slice(1, 3)) + Number(zone.slice(-2));
  return zone.startsWith("-") ? -minutes : minutes;
}

/** The wall-clock time as if it were UTC; NaN where a part is out of its range. */
function wallMs(
  date: readonly [number, number, number],
  clock: readonly (string | undefined)[],
): number {
  const [year, month, day] = date;
  const [hour = 0, minute = 0, second = 0] = clock.slice(0, 3).map((part) => Number(part ?? 0));
  const fraction_ms = 1000 * Number(`0.${clock[3] ?? 0}`);
  if (hour > 23 || minute > 59 || second > 60) return Number.NaN;

  const midnight = new Date(Date.UTC(year, month - 1, day));
  // Date counts 31 April as 1 May.
  if (midnight.getUTCMonth() !== month - 1 || midnight.getUTCDate() !== day) return Number.NaN;
  return midnight.getTime() + hour * HOUR_MS + minute * MINUTE_MS + second * 1000 + fraction_ms;
}

function textTime(text: string, offsetAt: OffsetAt): TraceTime | undefined {
  const yearFirst = YEAR_FIRST.exec(text);
  const parts = yearFirst ?? DAY_FIRST.exec(text);
  if (!parts) return undefined;

  const month = yearFirst ? Number(parts[3]) : MONTHS.indexOf(parts[3] ?? "") / 3 + 1;
  const [year, day] = yearFirst ? [parts[1], parts[4]] : [parts[4], parts[1]];
  const wall_ms = wallMs([Number(year), month, Number(day)], parts.slice(5, 9));
  if (!Number.isInteger(month) || Number.isNaN(wall_ms)) return undefined;

  const minutes = zoneMinutes(parts[9]);
  const offset_ms = minutes === undefined ? offsetAt(wall_ms) : minutes * MINUTE_MS;
  return { ms: wall_ms - offset_ms, names_zone: minutes !== undefined };
}

function numberTime(value: number): TraceTime | undefined {
  if (!Number.isFinite(value) || value < 0) return undefined;
  return { ms: milliseconds(value), names_zone: true };
}

/** A time in ms. The size of a number tells its unit, because all traces are of about our days. */
function milliseconds(value: number): number {
  if (value >= NANOSECONDS_FROM) return value / 1e6;
  if (value >= MICROSECONDS_FROM) return value / 1000;
  if (value >= MILLISECONDS_FROM) return value;
  return value * 1000;
}

const NUMBER = /^\d+(?:[.,]\d+)?(?:e\+?\d+)?$/i;

/**
 * The time that a value names; undefined for any other value. The size of a number tells whether it
 * is in seconds, ms, µs or ns.
 */
export function timeOf(value: unknown, offsetAt: OffsetAt = UTC_OFFSET): TraceTime | undefined {
  if (typeof value === "number") return numberTime(value);
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  return NUMBER.test(text) ? numberTime(Number(text.replace(",", "."))) : textTime(text, offsetAt);
}

/** A function that gives the offset of a named zone from UTC in ms, at a time in UTC. */
function namedOffset(zone: string): (utc_ms: number) => number {
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  return (utc_ms) => {
    const part =
      format.formatToParts(utc_ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
    return (zoneMinutes(part.slice("GMT".length) || undefined) ?? 0) * MINUTE_MS;
  };
}

/**
 * How far the clock of a zone, such as `UTC`, `+02:00` or `Europe/Berlin`, is from UTC.
 * @throws usageError where there is no such zone
 */
export function zoneOffset(zone: string, source: string): OffsetAt {
  if (new RegExp(`^${ZONE}$`, "i").test(zone)) {
    const offset_ms = (zoneMinutes(zone) ?? 0) * MINUTE_MS;
    return () => offset_ms;
  }
  try {
    const offsetOf = namedOffset(zone);
    const offsetsByQuarter = new Map<number, number>();
    return (wall_ms) => {
      // No zone changes its clock more often than every quarter of an hour.
      const quarter = Math.floor(wall_ms / (15 * MINUTE_MS));
      const offset_ms = offsetsByQuarter.get(quarter) ?? offsetOf(wall_ms - offsetOf(wall_ms));
      offsetsByQuarter.set(quarter, offset_ms);
      return offset_ms;
    };
  } catch (error) {
    throw usageError(
      `${source} ${JSON.stringify(zone.slice(0, 60))}: there is no such zone: give UTC, +02:00 or a name such as Europe/Berlin`,
      { cause: error },
    );
  }
}
