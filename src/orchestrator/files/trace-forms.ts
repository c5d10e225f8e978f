import { isIP } from "node:net";
import { type OffsetAt, type TraceTime, timeOf } from "./trace-times.js";

/** What a line says. */
export interface TraceEntry {
  time: TraceTime;
  key: string;
  cost?: number | undefined;
}

/** What the fields of a file are taken for. */
export interface FieldChoice {
  time: string;
  /** The key of a line is the first of these that has a value in it. */
  keys: readonly string[];
}

export interface TraceForm extends FieldChoice {
  format: string;
  isHeaderFirst: boolean;
  /** The entry of a line; undefined where the line has no time or no key. */
  parse(line: string, offsetAt?: OffsetAt): TraceEntry | undefined;
  /** The value of a field as the line has it. */
  textOf(line: string, field: string): unknown;
}

/** The value of a field of one line. */
type Row = (field: string) => unknown;

interface Format {
  name: string;
  isHeaderFirst?: true;
  /** Undefined where the line has another form. */
  rowOf(line: string): Row | undefined;
  fieldsOf(line: string): string[];
  timeFields: readonly string[];
  keyFields: readonly string[];
  costField: string;
}

/** Names of columns and members; of several that have a value the first counts. */
const TIME_FIELDS = [
  "time",
  "timestamp",
  "ts",
  "@timestamp",
  "msec",
  "time_iso8601",
  "time_local",
  "date",
];
/**
 * `host` is not one of them: some servers write the client's address to it, and others the name of
 * the site.
 */
const KEY_FIELDS = ["key", "user_id", "user", "client_ip", "remote_addr", "remote_ip", "ip"];
const COST_FIELD = "cost";

/**
 * Logs have broken lines: a field that has a value in this share of the lines is in all of them.
 */
const COMPLETE_SHARE = 0.99;
const MAX_NAMED_FIELDS = 12;

const PORT_OF_IPV4 = /^(\d+\.\d+\.\d+\.\d+):\d+$/;
const BRACKETED = /^\[([^\]]+)\](?::\d+)?$/;

/** An address without its port; any other text as it is. */
function withoutPort(text: string): string {
  if (!text.includes(":")) return text;
  const address = (PORT_OF_IPV4.exec(text) ?? BRACKETED.exec(text))?.[1];
  return address !== undefined && isIP(address) > 0 ? address : text;
}

const isAddress = (word: string | undefined): boolean =>
  word !== undefined && isIP(withoutPort(word)) > 0;

/**
 * The key that a value is; undefined where it says that there is none, as `-` does in access logs.
 */
function keyOf(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const text = String(value).trim();
  return text === "" || text === "-" ? undefined : withoutPort(text);
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  const begins = text.indexOf("{");
  if (begins < 0) return undefined;
  try {
    // Before the object may stand what syslog or a container engine wrote.
    const found: unknown = JSON.parse(text.slice(begins));
    return typeof found === "object" && found !== null
      ? (found as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A member by its name, or by its path with points; servers nest what the request had in `request`.
 */
function member(object: Record<string, unknown>, field: string): unknown {
  if (Object.hasOwn(object, field)) return object[field];
  const { request } = object;
  if (typeof request === "object" && request !== null && Object.hasOwn(request, field))
    return (request as Record<string, unknown>)[field];
  if (!field.includes(".")) return undefined;
  return field
    .split(".")
    .reduce<unknown>(
      (value, name) =>
        typeof value === "object" && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined,
      object,
    );
}

const json: Format = {
  name: "JSON lines",
  rowOf(line) {
    const object = jsonObject(line);
    return object && ((field) => member(object, field));
  },
  fieldsOf: (line) =>
    Object.entries(jsonObject(line) ?? {}).flatMap(([name, value]) =>
      typeof value === "object" && value !== null
        ? Object.keys(value).map((inner) => `${name}.${inner}`)
        : [name],
    ),
  timeFields: TIME_FIELDS,
  keyFields: KEY_FIELDS,
  costField: COST_FIELD,
};

const SYSLOG_PREFIX =
  /^(?:<\d+>)?(?:1 )?(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+) \S+ (?:[^\s:[]+(?:\[\d+\])?:|\S+ \S+ \S+ (?:-|\[.*?\])) /;
/**
 * What stands before the time of a common or combined line, the time, and the begin of the request.
 */
const ACCESS_LINE = /^(.*?) \[([^\]]{20,32})\] "/;

/**
 * The words of an access log's line: the last three before the time are address, identity and user.
 * Before them stand the name of a virtual host, or what syslog or a container engine wrote.
 */
function accessWords(line: string): { words: string[]; time: string } | undefined {
  const [, head, time] = ACCESS_LINE.exec(line) ?? [];
  if (head === undefined || time === undefined) return undefined;
  const words = head.split(" ");
  return { words: words.length > 3 ? head.replace(SYSLOG_PREFIX, "").split(" ") : words, time };
}

/**
 * The place of the one address of the line, or of the first of three words, which may be a host's
 * name; else -1.
 */
function addressPlace(words: readonly string[]): number {
  if (words.length === 3) return 0;
  const place = words.findIndex(isAddress);
  return words.findLastIndex(isAddress) === place ? place : -1;
}

function accessField({ words, time }: { words: string[]; time: string }, field: string): unknown {
  if (field === "time") return time;
  if (field !== "address" && field !== "user") return words[Number(field) - 1];
  const place = addressPlace(words);
  if (place < 0) return undefined;
  return field === "address" ? words[place] : words.slice(place + 2).join(" ");
}

const access: Format = {
  name: "an access log",
  rowOf(line) {
    const found = accessWords(line);
    return found && ((field) => accessField(found, field));
  },
  fieldsOf: (line) => [
    "address",
    "user",
    ...(accessWords(line)?.words ?? []).map((_, at) => String(at + 1)),
  ],
  timeFields: ["time"],
  keyFields: ["address"],
  costField: "",
};

/** Docker's json-file driver: each line is an object that holds the program's own line. */
const insideDocker = (format: Format): Format => {
  const inner = (line: string): string => {
    const log = jsonObject(line)?.log;
    return typeof log === "string" ? log.trimEnd() : "";
  };
  return {
    ...format,
    name: `${format.name} in Docker's JSON`,
    rowOf: (line) => format.rowOf(inner(line)),
    fieldsOf: (line) => format.fieldsOf(inner(line)),
  };
};

const SEPARATORS = ["\t", ";", "|", ","] as const;
type Separator = (typeof SEPARATORS)[number];

const SEPARATOR_NAMES: Readonly<Record<Separator, string>> = {
  "\t": "CSV with tabs",
  ";": "CSV with semicolons",
  "|": "CSV with bars",
  ",": "CSV",
};

const QUOTED_FIELDS: Readonly<Record<Separator, RegExp>> = {
  "\t": /(?:^|\t)(?:"((?:[^"]|"")*)"|([^\t]*))/g,
  ";": /(?:^|;)(?:"((?:[^"]|"")*)"|([^;]*))/g,
  "|": /(?:^|\|)(?:"((?:[^"]|"")*)"|([^|]*))/g,
  ",": /(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g,
};

function csvFields(line: string, separator: Separator): string[] {
  if (!line.includes('"')) return line.split(separator);
  return [...line.matchAll(QUOTED_FIELDS[separator])].map(
    ([, quoted, plain = ""]) => quoted?.replaceAll('""', '"') ?? plain,
  );
}

/** Whether a line names the columns: one of them is the time. */
const isHeader = (line: string, separator: Separator): boolean =>
  csvFields(line.toLowerCase(), separator).some((name) => TIME_FIELDS.includes(name.trim()));

/** CSV whose first line has the names of columns. */
function csvWithHeader(header: string, separator: Separator): Format {
  const names = csvFields(header, separator).map((name) => name.trim());
  const places = new Map(names.map((name, at) => [name.toLowerCase(), at]));
  return {
    name: SEPARATOR_NAMES[separator],
    isHeaderFirst: true,
    rowOf(line) {
      const fields = csvFields(line, separator);
      return (field) => fields[places.get(field.toLowerCase()) ?? -1];
    },
    fieldsOf: () => names,
    timeFields: TIME_FIELDS,
    keyFields: KEY_FIELDS,
    costField: COST_FIELD,
  };
}

/** CSV of time, key and cost, whose columns have numbers. More columns need a name, or `--key`. */
const csvByPlace = (separator: Separator): Format => ({
  name: SEPARATOR_NAMES[separator],
  rowOf(line) {
    const fields = csvFields(line, separator);
    return fields.length < 2 ? undefined : (field) => fields[Number(field) - 1];
  },
  fieldsOf: (line) => csvFields(line, separator).map((_, at) => String(at + 1)),
  timeFields: ["1"],
  keyFields: ["2"],
  costField: "3",
});

const firstKey = (row: Row, fields: readonly string[]): string | undefined => {
  for (const field of fields) {
    const key = keyOf(row(field));
    if (key !== undefined) return key;
  }
  return undefined;
};

const count = <Item>(items: readonly Item[], holds: (item: Item) => boolean): number =>
  items.reduce((total, item) => total + (holds(item) ? 1 : 0), 0);

/** How well a format reads the first lines of a file. */
interface Fit {
  format: Format;
  rows: readonly Row[];
  time: string | undefined;
  timed: number;
  keyed: number;
}

function fitOf(format: Format, lines: readonly string[], keys: readonly string[]): Fit {
  const rows = (format.isHeaderFirst ? lines.slice(1) : lines).flatMap(
    (line) => format.rowOf(line) ?? [],
  );
  const timed = format.timeFields.map((field) =>
    count(rows, (row) => timeOf(row(field)) !== undefined),
  );
  const most = Math.max(0, ...timed);
  const time = most > 0 ? format.timeFields[timed.indexOf(most)] : undefined;
  const isWhole = (row: Row) =>
    time !== undefined && timeOf(row(time)) !== undefined && firstKey(row, keys) !== undefined;
  return { format, rows, time, timed: most, keyed: count(rows, isWhole) };
}

const quotedList = (names: readonly string[]): string => {
  const shown = [...new Set(names)].slice(0, MAX_NAMED_FIELDS).map((name) => JSON.stringify(name));
  return names.length > shown.length ? `${shown.join(", ")}, …` : shown.join(", ");
};

/**
 * The field that is the key in all lines. @throws Error where some lines have it and others have
 * another one
 */
function keyFieldOf({ format, rows }: Fit, fields: readonly string[]): string {
  const hasValue = (field: string) => (row: Row) => keyOf(row(field)) !== undefined;
  const withAny = count(rows, (row) => firstKey(row, fields) !== undefined);
  const present = fields.filter((field) => rows.some(hasValue(field)));
  const [field = "", other] = present;
  const filled = count(rows, hasValue(field));
  if (filled >= COMPLETE_SHARE * withAny) return field;
  throw new Error(
    `${field} has a value in ${filled} of the first ${rows.length} lines and ${other} in others: say with --key which one is the key (--key ${field},${other}: the first that has a value; ${format.name})`,
  );
}

/** Whether columns without names are more than time, key and cost. */
const isWide = ({ format, rows, timed }: Fit): boolean =>
  format.timeFields[0] === "1" && count(rows, (row) => row("4") !== undefined) > timed / 2;

const REMEDY_FOR_KEY = "name the field that is the key with --key";

/** @throws Error that names the fields of a file whose key is not known */
function requireKey(fit: Fit, lines: readonly string[], given: boolean): void {
  const { format, keyed } = fit;
  const line = lines[format.isHeaderFirst ? 1 : 0] ?? "";
  const fields = quotedList(format.fieldsOf(line));
  if (keyed === 0)
    throw new Error(
      given
        ? `no line has a value in the field of --key; as ${format.name} it has ${fields}`
        : `it was read as ${format.name}, and none of its fields is known to be the key: ${REMEDY_FOR_KEY} (it has ${fields})`,
    );
  if (isWide(fit) && !given)
    throw new Error(
      `it is CSV without names of columns, and has more than three: ${REMEDY_FOR_KEY} 2`,
    );
}

/**
 * How the lines of a file are read, by its first ones.
 * @param keys the fields of `--key`; empty: the first known one that has values
 * @returns undefined where the lines have no known form
 * @throws Error where more than one reading is possible
 */
export function formOf(lines: readonly string[], keys: readonly string[]): TraceForm | undefined {
  const [first = ""] = lines;
  const formats = [
    json,
    access,
    insideDocker(json),
    insideDocker(access),
    ...SEPARATORS.map((separator) =>
      isHeader(first, separator) ? csvWithHeader(first, separator) : csvByPlace(separator),
    ),
  ];
  const fits = formats.map((format) =>
    fitOf(format, lines, keys.length > 0 ? keys : format.keyFields),
  );
  const best = (score: (fit: Fit) => number): Fit | undefined =>
    fits.reduce<Fit | undefined>(
      (chosen, fit) => (score(fit) > (chosen ? score(chosen) : 0) ? fit : chosen),
      undefined,
    );
  const fit = best(({ keyed }) => keyed) ?? best(({ timed }) => timed);
  if (!fit?.time) return undefined;
  requireKey(fit, lines, keys.length > 0);
  const chosen = keys.length > 0 ? keys : [keyFieldOf(fit, fit.format.keyFields)];
  return formFrom(fit, { time: fit.time, keys: chosen });
}

/**
 * The points that a request uses; undefined where the line has none, NaN where its text is no such
 * number.
 */
function costOf(value: unknown): number | undefined {
  if (value === undefined || value === "") return undefined;
  const points = Number(value);
  return Number.isInteger(points) && points > 0 ? points : Number.NaN;
}

/** Reads times of which many lines in a row have the same, as in logs of whole seconds. */
function timesInOrder(): typeof timeOf {
  let last:
    | { value: unknown; offsetAt: OffsetAt | undefined; time: TraceTime | undefined }
    | undefined;
  return (value, offsetAt) => {
    if (last === undefined || last.value !== value || last.offsetAt !== offsetAt)
      last = { value, offsetAt, time: timeOf(value, offsetAt) };
    return last.time;
  };
}

function formFrom(fit: Fit, { time: timeField, keys }: FieldChoice): TraceForm {
  const { format } = fit;
  const timeAt = timesInOrder();
  const hasCost = format.costField !== "" && !keys.includes(format.costField) && !isWide(fit);
  return {
    format: format.name,
    isHeaderFirst: format.isHeaderFirst === true,
    time: timeField,
    keys,
    textOf: (line, field) => format.rowOf(line)?.(field),
    parse(line, offsetAt) {
      const row = format.rowOf(line);
      const time = row && timeAt(row(timeField), offsetAt);
      const key = row && firstKey(row, keys);
      const cost = row && hasCost ? costOf(row(format.costField)) : undefined;
      return time === undefined || key === undefined || Number.isNaN(cost)
        ? undefined
        : { time, key, cost };
    },
  };
}
