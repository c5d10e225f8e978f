import { createHash } from "node:crypto";
import { messageOf, usageError } from "../../kit/errors.js";
import { userFileParts } from "../../kit/user-files.js";
import { meanRate, traceColumns } from "../../traffic/trace.js";
import type { Trace } from "../../traffic/traffic-types.js";
import { KeyNumbering } from "./key-numbering.js";
import { type FieldChoice, formOf, type TraceEntry, type TraceForm } from "./trace-forms.js";
import { type OffsetAt, zoneOffset } from "./trace-times.js";

/** The user's options for reading a file. */
export interface TraceOptions {
  /** The flag that named the file. */
  source?: string;
  /** The fields that may hold the key. The first with a value counts. */
  keys?: readonly string[];
  /** The zone of times that name no zone; UTC by default. */
  zone?: string | undefined;
}

/** What was read from one line, which lets the user see how its fields were understood. */
export interface TraceExample extends FieldChoice {
  line_number: number;
  time_text: string;
  time_utc: string;
  key: string;
  names_zone: boolean;
}

/** A trace, with what a plan shows of its file. */
export interface ReadTrace extends Trace {
  left_out: number;
  /** Bytes of zeros before lines. A log has them that was truncated while a program wrote it. */
  zero_bytes: number;
  format: string;
  example: TraceExample;
  cost: { least: number; most: number };
}

const MAX_LINE_BYTES = 64 * 1024;
const MAX_FILE_BYTES = 4 * 1024 ** 3;
/** Sorting and counting more lines would take longer than an interruption may wait. */
const MAX_LINES = 5_000_000;
/** The programs of a run prepare a request for each key, in about 1 kB a worker. */
const MAX_KEYS = 1_000_000;
/**
 * How far a line may lie before an earlier one. Servers write a request when it ends, and some write
 * the time when it began.
 */
const MAX_DISORDER_MS = 60_000;
/** The largest share of broken lines. A file with more of them is no log of requests. */
const MAX_LEFT_OUT_SHARE = 0.01;

/** So many lines at the start of a file decide how it is read. */
const SAMPLE_LINES = 1000;

const notText = (number: number): Error =>
  new Error(`line ${number} is not text: unpack the file, or ${REMEDY}`);

interface Line {
  text: string;
  number: number;
}

/**
 * The offset of the first byte that is not zero. A log that was truncated while a program wrote it
 * has zeros before a line.
 */
function behindZeros(bytes: Buffer, start: number): number {
  let offset = start;
  while (bytes[offset] === 0) offset++;
  return offset;
}

function tooLong(number: number, line: Buffer): Error {
  if (line.includes(0)) return notText(number);
  return new Error(`line ${number} is longer than ${MAX_LINE_BYTES / 1024} kB: remove it`);
}

/** So many zeros are no text: a log was truncated while a program was writing a line. */
const ZEROS = Buffer.alloc(16);

/** The offset of the next run of zeros, or that of the end if there is none. */
function nextZeros(bytes: Buffer, start: number): number {
  const offset = bytes.indexOf(ZEROS, start);
  return offset < 0 ? bytes.length : offset;
}

const NEWLINE = 0x0a;

/**
 * The lines of a file, without zeros before, in and behind them. Zeros in a line end it: what follows
 * them is another line.
 * @param countZeros takes how many bytes of zeros are left out
 */
function* linesOf(parts: Iterable<Buffer>, countZeros: (bytes: number) => void): Generator<Line> {
  let number = 1;
  let unfinished: Buffer = Buffer.alloc(0);
  for (const part of parts) {
    const bytes = unfinished.length > 0 ? Buffer.concat([unfinished, part]) : part;
    let offset = 0;
    let zeros = nextZeros(bytes, offset);
    for (;;) {
      const start = behindZeros(bytes, offset);
      countZeros(start - offset);
      offset = start;
      if (zeros < start) zeros = nextZeros(bytes, start);

      const newline = bytes.indexOf(NEWLINE, start);
      const end = newline < 0 ? bytes.length : newline;
      if (zeros < end) {
        yield { text: bytes.toString("latin1", start, zeros), number };
        offset = zeros;
        continue;
      }
      if (end - start > MAX_LINE_BYTES) throw tooLong(number, bytes.subarray(start));
      if (newline < 0) break;

      yield { text: bytes.toString("latin1", start, end), number };
      number++;
      offset = end + 1;
    }
    unfinished = bytes.subarray(offset);
  }

  const text = unfinished.toString("latin1");
  const withoutZeros = text.replace(/\0+$/, "");
  countZeros(text.length - withoutZeros.length);
  if (withoutZeros !== "") yield { text: withoutZeros, number };
}

/**
 * The mark of UTF-8 in a text of single bytes. Keys are only compared, so their encoding does not
 * matter and every byte is read as one character.
 */
const BYTE_ORDER_MARK = "\xef\xbb\xbf";

/** The lines that have text. @throws Error that names a line which is not text */
function* textLines(lines: Iterable<Line>): Generator<Line> {
  for (const { text: raw, number } of lines) {
    const unmarked = number === 1 && raw.startsWith(BYTE_ORDER_MARK) ? raw.slice(3) : raw;
    const text = unmarked.endsWith("\r") ? unmarked.slice(0, -1) : unmarked;
    if (text === "") continue;
    if (text.includes("\0") || text.startsWith("\x1f\x8b")) throw notText(number);
    yield { text, number };
  }
}

/** The first lines, and an iterable of all lines, these included. */
function withSample(lines: Iterator<Line>): { sample: Line[]; all: Iterable<Line> } {
  const sample: Line[] = [];
  while (sample.length < SAMPLE_LINES) {
    const { value, done } = lines.next();
    if (done) break;
    sample.push(value);
  }
  const all = function* (): Generator<Line> {
    yield* sample;
    for (let next = lines.next(); !next.done; next = lines.next()) yield next.value;
  };
  return { sample, all: all() };
}

/** Times and keys of requests, in columns that grow. */
class Rows {
  count = 0;
  times_ms = new Float64Array(1 << 16);
  keys = new Uint32Array(1 << 16);

  add(time_ms: number, key: number): void {
    if (this.count === this.keys.length) {
      const { times_ms, keys } = this;
      this.times_ms = new Float64Array(2 * this.count);
      this.keys = new Uint32Array(2 * this.count);
      this.times_ms.set(times_ms);
      this.keys.set(keys);
    }
    this.times_ms[this.count] = time_ms;
    this.keys[this.count] = key;
    this.count++;
  }
}

const REMEDY = "give CSV or JSON lines with time and key, or an access log";

/**
 * Reads times, keys and costs of a file. Its content decides whether it is read as CSV or JSON lines
 * of time, key and cost, or as an access log.
 * @throws usageError that names the wrong line, or the flag that decides where the content can be
 *   read in several ways
 */
export function readTrace(
  path: string,
  { source = "--trace", keys = [], zone }: TraceOptions = {},
): ReadTrace {
  const offsetAt = zone === undefined ? undefined : zoneOffset(zone, "--trace-zone");
  try {
    const trace = traceIn(userFileParts(path, MAX_FILE_BYTES), keys, offsetAt);
    if (offsetAt && trace.example.names_zone)
      throw new Error("its times need no zone: leave --trace-zone out");
    return trace;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "there is no such file" : messageOf(error);
    throw usageError(`${source} ${JSON.stringify(path.slice(0, 300))}: ${reason}`, {
      cause: error,
    });
  }
}

/** The form of the file. @throws Error where its first lines have no known form */
function requireForm(sample: readonly Line[], keys: readonly string[]): TraceForm {
  if (sample.length === 0) throw new Error(`it has no requests: ${REMEDY}`);
  const form = formOf(
    sample.map(({ text }) => text),
    keys,
  );
  if (!form) throw new Error(`line ${sample[0]?.number} has no known form: ${REMEDY}`);
  return form;
}

/** A key as its file has it in UTF-8, from the text of single bytes. */
const asText = (bytes: string): string => Buffer.from(bytes, "latin1").toString("utf8");

/** What the form takes from the first line that it can read. */
function exampleOf(
  form: TraceForm,
  sample: readonly Line[],
  offsetAt?: OffsetAt,
): TraceExample | undefined {
  for (const { text, number } of form.isHeaderFirst ? sample.slice(1) : sample) {
    const entry = form.parse(text, offsetAt);
    if (!entry) continue;
    return {
      time: form.time,
      keys: form.keys,
      line_number: number,
      time_text: String(form.textOf(text, form.time)),
      time_utc: new Date(entry.time.ms).toISOString(),
      key: asText(entry.key),
      names_zone: entry.time.names_zone,
    };
  }
  return undefined;
}

/** Collects the requests of a file, line by line. */
class Requests {
  readonly rows = new Rows();
  readonly numbering = new KeyNumbering();
  readonly cost = { least: Number.POSITIVE_INFINITY, most: 0 };
  leftOut = { count: 0, first: 0 };
  isSorted = true;
  #latest_ms = Number.NEGATIVE_INFINITY;

  /** Counts a line without a time or a key. */
  leaveOut(number: number): void {
    this.leftOut.first ||= number;
    this.leftOut.count++;
  }

  /** @throws Error where there are too many requests or keys, or a time is far before an earlier one */
  add({ time, key, cost: points = 1 }: TraceEntry, number: number): void {
    const remedy = `cut it, e.g. head -n ${number - 1}`;
    if (this.rows.count === MAX_LINES)
      throw new Error(`it has more than ${MAX_LINES} lines: ${remedy}`);

    const back_ms = this.#latest_ms - time.ms;
    if (back_ms > MAX_DISORDER_MS)
      throw new Error(
        `the time of line ${number} is ${Math.round(back_ms / 1000)} s before an earlier line's: sort the file by time`,
      );
    if (back_ms > 0) this.isSorted = false;
    else this.#latest_ms = time.ms;

    this.cost.least = Math.min(this.cost.least, points);
    this.cost.most = Math.max(this.cost.most, points);
    this.rows.add(time.ms, this.numbering.numberOf(key));
    if (this.numbering.count > MAX_KEYS)
      throw new Error(`it has more than ${MAX_KEYS} keys: ${remedy}`);
  }

  /** @throws Error where there are no requests, or too many lines are left out */
  requireSound(): void {
    const { count, first } = this.leftOut;
    if (this.rows.count === 0) throw new Error(`it has no requests: ${REMEDY}`);
    if (count > MAX_LEFT_OUT_SHARE * (this.rows.count + count))
      throw new Error(
        `${count} lines have no time or key, the first is line ${first}: remove them, or ${REMEDY}`,
      );
  }
}

function traceIn(parts: Iterable<Buffer>, keys: readonly string[], offsetAt?: OffsetAt): ReadTrace {
  const hash = createHash("sha256");
  let zero_bytes = 0;
  const lines = textLines(
    linesOf(hashed(parts, hash), (bytes) => {
      zero_bytes += bytes;
    }),
  );
  const { sample, all } = withSample(lines);
  const form = requireForm(sample, keys);

  const requests = new Requests();
  let isHeader = form.isHeaderFirst;
  for (const { text, number } of all) {
    if (isHeader) {
      isHeader = false;
      continue;
    }

    const entry = form.parse(text, offsetAt);
    if (entry) requests.add(entry, number);
    else requests.leaveOut(number);
  }
  requests.requireSound();
  const example = exampleOf(form, sample, offsetAt);
  if (!example) throw new Error(`its first ${sample.length} lines have no requests: ${REMEDY}`);

  const { rows, numbering, cost, leftOut } = requests;
  const columns = sortedColumns(rows, requests.isSorted);
  const summary = {
    sha256: hash.digest("hex"),
    lines: rows.count,
    keys: numbering.count,
    rate_per_second: meanRate(columns),
    span_s: (columns.times_ms.at(-1) ?? 0) / 1000,
    top_shares: topShares(countsOf(columns.keys, numbering.count), rows.count),
  };
  return {
    summary,
    ...columns,
    left_out: leftOut.count,
    zero_bytes,
    format: form.format,
    example,
    cost,
  };
}

function countsOf(keys: Uint32Array, count: number): Uint32Array {
  const counts = new Uint32Array(count);
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}

function* hashed(parts: Iterable<Buffer>, hash: ReturnType<typeof createHash>): Generator<Buffer> {
  for (const part of parts) {
    hash.update(part);
    yield part;
  }
}

/** The requests in the order of time, with times in ms since the first. */
function sortedColumns(
  { count, times_ms, keys }: Rows,
  isSorted: boolean,
): ReturnType<typeof traceColumns> {
  const columns = traceColumns(count);
  const order = isSorted
    ? undefined
    : Uint32Array.from({ length: count }, (_, row) => row).sort(
        (a, b) => (times_ms[a] ?? 0) - (times_ms[b] ?? 0) || a - b,
      );
  const began_ms = times_ms[order?.[0] ?? 0] ?? 0;
  let areSeconds = true;
  for (let index = 0; index < count; index++) {
    const row = order?.[index] ?? index;
    const time_ms = times_ms[row] ?? 0;
    if (time_ms % 1000 !== 0) areSeconds = false;
    columns.times_ms[index] = time_ms - began_ms;
    columns.keys[index] = keys[row] ?? 0;
  }
  if (areSeconds) spreadInSeconds(columns.times_ms);
  return columns;
}

/**
 * Spreads the requests of each second evenly over it. A clock of whole seconds shows them at once,
 * and they were not.
 */
function spreadInSeconds(times_ms: Float64Array): void {
  for (let first = 0, next = 0; first < times_ms.length; first = next) {
    const second_ms = times_ms[first] ?? 0;
    while (next < times_ms.length && times_ms[next] === second_ms) next++;
    for (let index = first; index < next; index++)
      times_ms[index] = second_ms + (1000 * (index - first)) / (next - first);
  }
}

function topShares(counts: Uint32Array, requests: number) {
  const sorted = counts.toSorted().reverse();
  const share = (keys: number) =>
    sorted.subarray(0, keys).reduce((total, count) => total + count, 0) / requests;
  return { top_1: share(1), top_10: share(10), top_100: share(100) };
}
