import { createHash, randomBytes } from "node:crypto";
import { messageOf, usageError } from "../../contract/errors.js";
import { userFileParts } from "../../contract/user-files.js";
import { spreadSeed as mixed } from "../../traffic/shuffle.js";
import { meanRate, traceColumns } from "../../traffic/trace.js";
import type { Trace } from "../../traffic/types.js";

/** A trace, and what the reader of a plan should know of its file. */
export interface ReadTrace extends Trace {
  left_out: number;
  format: string;
  cost: { least: number; most: number };
}

const MAX_LINE_BYTES = 64 * 1024;
const MAX_FILE_BYTES = 4 * 1024 ** 3;
/** More would keep the machine busy for longer than an interruption may take. */
const MAX_LINES = 5_000_000;
/** The programs of a run prepare a request for each key, in about 1 kB a worker. */
const MAX_KEYS = 1_000_000;
/** Servers write a request when it ends, and some write the time when it began. */
const MAX_DISORDER_MS = 60_000;
/** Logs have broken lines; a file with more of them is something else. */
const MAX_LEFT_OUT_SHARE = 0.01;

/** What a line says; undefined where it has no time or key. */
type Entry = { time_ms: number; key: string; cost?: number | undefined };
type ParseLine = (line: string) => Entry | undefined;

/** Names of columns and members, the first that is there counts. */
const NAMES = {
  time: ["time", "timestamp", "ts", "@timestamp", "msec", "time_iso8601", "time_local", "date"],
  key: ["key", "user_id", "user", "client_ip", "remote_addr", "remote_ip", "ip", "host"],
  cost: ["cost"],
} as const;

const MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";

/** `10/Oct/2000:13:55:36 -0700`; NaN for other texts. */
function combinedTimeMs(text: string): number {
  const month = MONTHS.indexOf(text.slice(3, 6)) / 3;
  if (text.length !== 26 || !Number.isInteger(month) || text[2] !== "/" || text[11] !== ":")
    return Number.NaN;
  const part = (from: number, to: number) => Number(text.slice(from, to));
  const zone_min = (text[21] === "-" ? -1 : 1) * (60 * part(22, 24) + part(24, 26));
  const [year, day] = [part(7, 11), part(0, 2)];
  return Date.UTC(year, month, day, part(12, 14), part(15, 17), part(18, 20)) - 60_000 * zone_min;
}

/** Numbers from 1e11 on are milliseconds, from 1e14 on microseconds: as seconds they would be in the year 5138. */
function timeMs(value: unknown): number {
  if (typeof value === "string") {
    const text = value.trim();
    if (text !== "" && !Number.isNaN(Number(text))) return timeMs(Number(text));
    const combined = combinedTimeMs(text);
    return Number.isNaN(combined) ? Date.parse(text) : combined;
  }
  if (typeof value !== "number" || value < 0) return Number.NaN;
  return value >= 1e14 ? value / 1000 : value >= 1e11 ? value : value * 1000;
}

function entry(time: unknown, key: unknown, cost?: unknown): Entry | undefined {
  const time_ms = timeMs(time);
  if (!Number.isFinite(time_ms) || (typeof key !== "string" && typeof key !== "number") || key === "")
    return undefined;
  const points = cost === undefined || cost === "" ? undefined : Number(cost);
  if (points !== undefined && !(Number.isInteger(points) && points > 0)) return undefined;
  return { time_ms, key: String(key), cost: points };
}

function jsonLine(line: string): Entry | undefined {
  let found: Record<string, unknown>;
  try {
    found = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { request } = found;
  const nested = typeof request === "object" && request !== null ? (request as typeof found) : {};
  const member = (names: readonly string[]) => {
    for (const name of names) {
      const value = found[name] ?? nested[name];
      if (value !== undefined && value !== null) return value;
    }
    return undefined;
  };
  return entry(member(NAMES.time), member(NAMES.key), member(NAMES.cost));
}

/** Address and time of a combined (or common) line. */
const COMBINED = /^(\S+) \S+ .*?\[([^\]]{26})\] "/;

function combinedLine(line: string): Entry | undefined {
  const [, key, time] = COMBINED.exec(line) ?? [];
  return key === undefined || time === undefined ? undefined : entry(time, key);
}

function csvFields(line: string): string[] {
  if (!line.includes('"')) return line.split(",");
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain = ""]) => quoted?.replaceAll('""', '"') ?? plain,
  );
}

function csvLine(order: readonly number[]): ParseLine {
  const [time = 0, key = 1, cost = 2] = order;
  return (line) => {
    const fields = csvFields(line);
    return entry(fields[time], fields[key], fields[cost]);
  };
}

/** How the lines of a file are read, by its first line. @returns undefined where it has no known form */
function formOf(line: string): { format: string; parse: ParseLine; isHeader: boolean } | undefined {
  if (jsonLine(line)) return { format: "JSON lines", parse: jsonLine, isHeader: false };
  if (combinedLine(line)) return { format: "an access log", parse: combinedLine, isHeader: false };
  const columns = csvFields(line.toLowerCase()).map((name) => name.trim());
  const place = (names: readonly string[]) =>
    columns.indexOf(names.find((name) => columns.includes(name)) ?? "");
  const [time, key, cost] = [place(NAMES.time), place(NAMES.key), place(NAMES.cost)];
  if (time >= 0 && key >= 0) return { format: "CSV", parse: csvLine([time, key, cost]), isHeader: true };
  const plain = csvLine([0, 1, 2]);
  return plain(line) ? { format: "CSV", parse: plain, isHeader: false } : undefined;
}

/**
 * Numbers texts by first appearance. It keeps salted hashes of 64 bits instead of the texts: a million of them take 24 MB,
 * and who knows the salt of one file learns nothing about another.
 */
class Numbering {
  readonly #salt = randomBytes(8);
  readonly #seeds = [this.#salt.readUInt32LE(0), this.#salt.readUInt32LE(4)] as const;
  #size = 1 << 16;
  #hashes = new Uint32Array(2 * this.#size);
  #numbers = new Uint32Array(this.#size);
  count = 0;

  numberOf(text: string): number {
    let [one, other]: [number, number] = [...this.#seeds];
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      one = Math.imul(one ^ code, 0x85ebca6b);
      one = (one << 13) | (one >>> 19);
      other = Math.imul(other ^ code, 0xc2b2ae35);
      other = (other << 15) | (other >>> 17);
    }
    one = mixed(one ^ text.length) >>> 0;
    other = mixed(other ^ one) >>> 0;
    const place = this.#placeOf(one, other);
    const known = this.#numbers[place] ?? 0;
    if (known > 0) return known - 1;
    this.#hashes[2 * place] = one;
    this.#hashes[2 * place + 1] = other;
    this.#numbers[place] = ++this.count;
    if (2 * this.count > this.#size) this.#grow();
    return this.count - 1;
  }

  #placeOf(one: number, other: number): number {
    for (let place = one & (this.#size - 1); ; place = (place + 1) & (this.#size - 1)) {
      if (this.#numbers[place] === 0) return place;
      if (this.#hashes[2 * place] === one && this.#hashes[2 * place + 1] === other) return place;
    }
  }

  #grow(): void {
    const [hashes, numbers] = [this.#hashes, this.#numbers];
    this.#size *= 2;
    this.#hashes = new Uint32Array(2 * this.#size);
    this.#numbers = new Uint32Array(this.#size);
    for (const [old, number] of numbers.entries()) {
      if (number === 0) continue;
      const [one = 0, other = 0] = [hashes[2 * old], hashes[2 * old + 1]];
      const place = this.#placeOf(one, other);
      this.#hashes[2 * place] = one;
      this.#hashes[2 * place + 1] = other;
      this.#numbers[place] = number;
    }
  }
}

const notText = (number: number): Error =>
  new Error(`line ${number} is not text: unpack the file, or ${REMEDY}`);

function* linesOf(parts: Iterable<Buffer>): Generator<{ line: string; number: number }> {
  let number = 1;
  let rest: Buffer = Buffer.alloc(0);
  for (const part of parts) {
    const text = rest.length > 0 ? Buffer.concat([rest, part]) : part;
    let begins = 0;
    for (let ends = text.indexOf(10); ; ends = text.indexOf(10, begins)) {
      if ((ends < 0 ? text.length : ends) - begins > MAX_LINE_BYTES)
        throw text.includes(0, begins)
          ? notText(number)
          : new Error(`line ${number} is longer than ${MAX_LINE_BYTES / 1024} kB: remove it`);
      if (ends < 0) break;
      yield { line: text.toString("latin1", begins, ends), number: number++ };
      begins = ends + 1;
    }
    rest = text.subarray(begins);
  }
  if (rest.length > 0) yield { line: rest.toString("latin1"), number };
}

class Rows {
  count = 0;
  times_ms = new Float64Array(1 << 16);
  keys = new Uint32Array(1 << 16);

  add(time_ms: number, key: number): void {
    if (this.count === this.keys.length) {
      const [times_ms, keys] = [this.times_ms, this.keys];
      this.times_ms = new Float64Array(2 * this.count);
      this.keys = new Uint32Array(2 * this.count);
      this.times_ms.set(times_ms);
      this.keys.set(keys);
    }
    this.times_ms[this.count] = time_ms;
    this.keys[this.count++] = key;
  }
}

/** That of UTF-8, read byte by byte: keys are only compared, so their encoding does not matter. */
const BYTE_ORDER_MARK = "\xef\xbb\xbf";
const REMEDY = "give CSV or JSON lines with time and key, or an access log";

/**
 * Reads times, keys and costs of a file by its content: CSV or JSON lines of time, key and cost, or an access log.
 * @throws usageError naming the line that is wrong
 */
export function readTrace(path: string, source = "--trace"): ReadTrace {
  try {
    return traceIn(userFileParts(path, MAX_FILE_BYTES));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file" : messageOf(error);
    throw usageError(`${source} ${JSON.stringify(path.slice(0, 300))}: ${why}`, { cause: error });
  }
}

function traceIn(parts: Iterable<Buffer>): ReadTrace {
  const hash = createHash("sha256");
  const rows = new Rows();
  const numbering = new Numbering();
  let form: ReturnType<typeof formOf>;
  let latest_ms = Number.NEGATIVE_INFINITY;
  let isSorted = true;
  const cost = { least: Number.POSITIVE_INFINITY, most: 0 };
  const leftOut = { count: 0, first: 0 };
  for (const { line, number } of linesOf(hashed(parts, hash))) {
    const unmarked = number === 1 && line.startsWith(BYTE_ORDER_MARK) ? line.slice(3) : line;
    const text = unmarked.endsWith("\r") ? unmarked.slice(0, -1) : unmarked;
    if (text === "") continue;
    if (text.includes("\0") || text.startsWith("\x1f\x8b")) throw notText(number);
    if (!form) {
      form = formOf(text);
      if (!form) throw new Error(`line ${number} has no known form: ${REMEDY}`);
      if (form.isHeader) continue;
    }
    const found = form.parse(text);
    if (!found) {
      leftOut.first ||= number;
      leftOut.count++;
      continue;
    }
    if (rows.count === MAX_LINES)
      throw new Error(`it has more than ${MAX_LINES} lines: cut it, e.g. head -n ${number - 1}`);
    if (latest_ms - found.time_ms > MAX_DISORDER_MS)
      throw new Error(
        `the time of line ${number} is ${Math.round((latest_ms - found.time_ms) / 1000)} s before an earlier line's: sort the file by time`,
      );
    if (found.time_ms < latest_ms) isSorted = false;
    else latest_ms = found.time_ms;
    const points = found.cost ?? 1;
    cost.least = Math.min(cost.least, points);
    cost.most = Math.max(cost.most, points);
    rows.add(found.time_ms, numbering.numberOf(found.key));
    if (numbering.count > MAX_KEYS)
      throw new Error(`it has more than ${MAX_KEYS} keys: cut it, e.g. head -n ${number - 1}`);
  }
  if (!form || rows.count === 0) throw new Error(`it has no requests: ${REMEDY}`);
  if (leftOut.count > MAX_LEFT_OUT_SHARE * (rows.count + leftOut.count))
    throw new Error(
      `${leftOut.count} lines have no time or key, the first is line ${leftOut.first}: remove them, or ${REMEDY}`,
    );
  const columns = sortedColumns(rows, isSorted);
  const counts = new Uint32Array(numbering.count);
  for (const key of columns.keys) counts[key] = (counts[key] ?? 0) + 1;
  const facts = {
    sha256: hash.digest("hex"),
    lines: rows.count,
    keys: numbering.count,
    rate_per_second: meanRate(columns),
    span_s: (columns.times_ms.at(-1) ?? 0) / 1000,
    top_shares: topShares(counts, rows.count),
  };
  return { facts, ...columns, left_out: leftOut.count, format: form.format, cost };
}

function* hashed(parts: Iterable<Buffer>, hash: ReturnType<typeof createHash>): Generator<Buffer> {
  for (const part of parts) {
    hash.update(part);
    yield part;
  }
}

/** The requests in the order of time, counted from the first. */
function sortedColumns({ count, times_ms, keys }: Rows, isSorted: boolean): ReturnType<typeof traceColumns> {
  const columns = traceColumns(count);
  const order = isSorted
    ? undefined
    : Uint32Array.from({ length: count }, (_, row) => row).sort(
        (one, other) => (times_ms[one] ?? 0) - (times_ms[other] ?? 0) || one - other,
      );
  const began_ms = times_ms[order?.[0] ?? 0] ?? 0;
  let areSeconds = true;
  for (let at = 0; at < count; at++) {
    const row = order?.[at] ?? at;
    const time_ms = times_ms[row] ?? 0;
    if (time_ms % 1000 !== 0) areSeconds = false;
    columns.times_ms[at] = time_ms - began_ms;
    columns.keys[at] = keys[row] ?? 0;
  }
  if (areSeconds) spreadInSeconds(columns.times_ms);
  return columns;
}

/** Requests of one second of a clock that knows no less were not all made at once. */
function spreadInSeconds(times_ms: Float64Array): void {
  for (let first = 0, next = 0; first < times_ms.length; first = next) {
    const second_ms = times_ms[first] ?? 0;
    while (next < times_ms.length && times_ms[next] === second_ms) next++;
    for (let at = first; at < next; at++) times_ms[at] = second_ms + (1000 * (at - first)) / (next - first);
  }
}

function topShares(counts: Uint32Array, requests: number) {
  const sorted = counts.toSorted().reverse();
  const share = (keys: number) => sorted.subarray(0, keys).reduce((all, count) => all + count, 0) / requests;
  return { top_1: share(1), top_10: share(10), top_100: share(100) };
}
