import { isIP } from "node:net";
import { type OffsetAt, type TraceTime, timeOf } from "./trace-times.js";

/** One request of a trace, from one line of its file. */
export interface TraceEntry {
  time: TraceTime;
  key: string;
  cost?: number | undefined;
}

/** The fields of a file that are read as time and key. */
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

/** Names of columns and members that hold the time. Of several with a value the first counts. */
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
 * Names of columns and members that hold the key. `host` is not one of them, because some servers
 * write the client's address to it, and others the name of the site.
 */
const KEY_FIELDS = ["key", "user_id", "user", "client_ip", "remote_addr", "remote_ip", "ip"];
const COST_FIELD = "cost";

/**
 * A field with a value in this share of the lines counts as one of all lines, because logs have
 * broken lines.
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

/** A value as a key; undefined where it stands for no key, as `-` does in access logs. */
function keyOf(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const text = String(value).trim();
  return text === "" || text === "-" ? undefined : withoutPort(text);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

function jsonObject(text: string): Record<string, unknown> | undefined {
  // Syslog and container engines may write a prefix before the object.
  const start = text.indexOf("{");
  if (start < 0) return undefined;

  try {
    const value: unknown = JSON.parse(text.slice(start));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const ownMember = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/**
 * A member by its name, or by its path with points. Some servers nest the properties of a request in
 * `request`, so a name is looked up there too.
 */
function member(object: Record<string, unknown>, field: string): unknown {
  if (Object.hasOwn(object, field)) return object[field];

  const { request } = object;
  if (isRecord(request) && Object.hasOwn(request, field)) return request[field];

  return field.includes(".") ? field.split(".").reduce<unknown>(ownMember, object) : undefined;
}

const json: Format = {
  name: "JSON lines",
  rowOf(line) {
    const object = jsonObject(line);
    return object && ((field) => member(object, field));
  },
  fieldsOf: (line) =>
    Object.entries(jsonObject(line) ?? {}).flatMap(([name, value]) =>
      isRecord(value) ? Object.keys(value).map((inner) => `${name}.${inner}`) : [name],
    ),
  timeFields: TIME_FIELDS,
  keyFields: KEY_FIELDS,
  costField: COST_FIELD,
};

const SYSLOG_PREFIX =
  /^(?:<\d+>)?(?:1 )?(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+) \S+ (?:[^\s:[]+(?:\[\d+\])?:|\S+ \S+ \S+ (?:-|\[.*?\])) /;
/** Matches a common or combined line: the words before the time, the time, and a quote after it. */
const ACCESS_LINE = /^(.*?) \[([^\]]{20,32})\] "/;

interface AccessWords {
  words: string[];
  time: string;
}

/**
 * The words of an access log's line before its time. The last three are address, identity and user.
 * The name of a virtual host, or a prefix of syslog or a container engine, may stand before them.
 */
function accessWords(line: string): AccessWords | undefined {
  const [, head, time] = ACCESS_LINE.exec(line) ?? [];
  if (head === undefined || time === undefined) return undefined;
  const words = head.split(" ");
  return { words: words.length > 3 ? head.replace(SYSLOG_PREFIX, "").split(" ") : words, time };
}

/** The index of the address among the words; -1 where the line has no address or several. */
function addressPlace(words: readonly string[]): number {
  // The first of three words is the client even where it is a host's name.
  if (words.length === 3) return 0;
  const place = words.findIndex(isAddress);
  return words.findLastIndex(isAddress) === place ? place : -1;
}

function accessField({ words, time }: AccessWords, field: string): unknown {
  if (field === "time") return time;
  if (field !== "address" && field !== "user") return words[Number(field) - 1];
  const place = addressPlace(words);
  if (place < 0) return undefined;
  return field === "address" ? words[place] : words.slice(place + 2).join(" ");
}

const access: Format = {
  name: "an access log",
  rowOf(line) {
    const words = accessWords(line);
    return words && ((field) => accessField(words, field));
  },
  fieldsOf: (line) => [
    "address",
    "user",
    ...(accessWords(line)?.words ?? []).map((_, index) => String(index + 1)),
  ],
  timeFields: ["time"],
  keyFields: ["address"],
  costField: "",
};

/** The form of a log by Docker's json-file driver, whose lines are objects with the program's line. */
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

/** Whether a line names the columns, of which one is the time. */
const isHeader = (line: string, separator: Separator): boolean =>
  csvFields(line.toLowerCase(), separator).some((name) => TIME_FIELDS.includes(name.trim()));

/** The form of CSV whose first line names the columns. */
function csvWithHeader(header: string, separator: Separator): Format {
  const names = csvFields(header, separator).map((name) => name.trim());
  const places = new Map(names.map((name, index) => [name.toLowerCase(), index]));
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

/**
 * The form of CSV without names: its columns are time, key and cost, and fields are their numbers.
 * With more columns `--key` must name the key.
 */
const csvByPlace = (separator: Separator): Format => ({
  name: SEPARATOR_NAMES[separator],
  rowOf(line) {
    const fields = csvFields(line, separator);
    return fields.length < 2 ? undefined : (field) => fields[Number(field) - 1];
  },
  fieldsOf: (line) => csvFields(line, separator).map((_, index) => String(index + 1)),
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

const countWhere = <Item>(items: readonly Item[], holds: (item: Item) => boolean): number =>
  items.reduce((total, item) => total + (holds(item) ? 1 : 0), 0);

/** How well a format reads the first lines of a file. */
interface Fit {
  format: Format;
  rows: readonly Row[];
  /** The field with the time; undefined where no line has a time. */
  time: string | undefined;
  /** How many lines have a time. */
  timed: number;
  /** How many lines have a time and a key. */
  keyed: number;
}

function fitOf(format: Format, lines: readonly string[], keys: readonly string[]): Fit {
  const rows = (format.isHeaderFirst ? lines.slice(1) : lines).flatMap(
    (line) => format.rowOf(line) ?? [],
  );
  const timesByField = format.timeFields.map((field) =>
    countWhere(rows, (row) => timeOf(row(field)) !== undefined),
  );
  const timed = Math.max(0, ...timesByField);
  const time = timed > 0 ? format.timeFields[timesByField.indexOf(timed)] : undefined;
  const hasTimeAndKey = (row: Row) =>
    time !== undefined && timeOf(row(time)) !== undefined && firstKey(row, keys) !== undefined;
  return { format, rows, time, timed, keyed: countWhere(rows, hasTimeAndKey) };
}

const quotedList = (names: readonly string[]): string => {
  const shown = [...new Set(names)].slice(0, MAX_NAMED_FIELDS).map((name) => JSON.stringify(name));
  return names.length > shown.length ? `${shown.join(", ")}, …` : shown.join(", ");
};

/**
 * The field that is the key in all lines.
 * @throws Error where some lines have a value in it and others in another one
 */
function keyFieldOf({ format, rows }: Fit, fields: readonly string[]): string {
  const hasValue = (field: string) => (row: Row) => keyOf(row(field)) !== undefined;
  const keyedRows = countWhere(rows, (row) => firstKey(row, fields) !== undefined);
  const [field = "", other] = fields.filter((name) => rows.some(hasValue(name)));
  const filled = countWhere(rows, hasValue(field));
  if (filled >= COMPLETE_SHARE * keyedRows) return field;

  throw new Error(
    `${field} has a value in ${filled} of the first ${rows.length} lines and ${other} in others: say with --key which one is the key (--key ${field},${other}: the first that has a value; ${format.name})`,
  );
}

/** Whether CSV without names has more columns than time, key and cost. */
const isWide = ({ format, rows, timed }: Fit): boolean =>
  format.timeFields[0] === "1" && countWhere(rows, (row) => row("4") !== undefined) > timed / 2;

const REMEDY_FOR_KEY = "name the field that is the key with --key";

/** @throws Error that names the fields of a file whose key is not known */
function requireKey(fit: Fit, lines: readonly string[], isKeyNamed: boolean): void {
  const { format, keyed } = fit;
  const line = lines[format.isHeaderFirst ? 1 : 0] ?? "";
  const fields = quotedList(format.fieldsOf(line));
  if (keyed === 0)
    throw new Error(
      isKeyNamed
        ? `no line has a value in the field of --key; as ${format.name} it has ${fields}`
        : `it was read as ${format.name}, and none of its fields is known to be the key: ${REMEDY_FOR_KEY} (it has ${fields})`,
    );
  if (isWide(fit) && !isKeyNamed)
    throw new Error(
      `it is CSV without names of columns, and has more than three: ${REMEDY_FOR_KEY} 2`,
    );
}

/**
 * Decides by the first lines of a file how its lines are read.
 * @param keys the fields of `--key`; where it is empty, the first known field with values is the key
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
  const fit = bestFit(fits, ({ keyed }) => keyed) ?? bestFit(fits, ({ timed }) => timed);
  if (!fit?.time) return undefined;

  requireKey(fit, lines, keys.length > 0);
  const keyFields = keys.length > 0 ? keys : [keyFieldOf(fit, fit.format.keyFields)];
  return formFrom(fit, { time: fit.time, keys: keyFields });
}

/** The first fit with the highest score above 0. */
const bestFit = (fits: readonly Fit[], score: (fit: Fit) => number): Fit | undefined =>
  fits.reduce<Fit | undefined>(
    (best, fit) => (score(fit) > (best ? score(best) : 0) ? fit : best),
    undefined,
  );

/**
 * The points that a request uses; undefined where the line has no cost, NaN where its text is not a
 * whole number above 0.
 */
function costOf(value: unknown): number | undefined {
  if (value === undefined || value === "") return undefined;
  const points = Number(value);
  return Number.isInteger(points) && points > 0 ? points : Number.NaN;
}

interface ReadTime {
  value: unknown;
  offsetAt: OffsetAt | undefined;
  time: TraceTime | undefined;
}

/**
 * Reads times and remembers the last one, because many lines in a row have the same in a log of
 * whole seconds.
 */
function timesInOrder(): typeof timeOf {
  let last: ReadTime | undefined;
  return (value, offsetAt) => {
    if (last === undefined || last.value !== value || last.offsetAt !== offsetAt)
      last = { value, offsetAt, time: timeOf(value, offsetAt) };
    return last.time;
  };
}

function formFrom(fit: Fit, { time: timeField, keys }: FieldChoice): TraceForm {
  const { format } = fit;
  const readTime = timesInOrder();
  const hasCost = format.costField !== "" && !keys.includes(format.costField) && !isWide(fit);
  return {
    format: format.name,
    isHeaderFirst: format.isHeaderFirst === true,
    time: timeField,
    keys,
    textOf: (line, field) => format.rowOf(line)?.(field),
    parse(line, offsetAt) {
      const row = format.rowOf(line);
      if (!row) return undefined;

      const time = readTime(row(timeField), offsetAt);
      const key = firstKey(row, keys);
      const cost = hasCost ? costOf(row(format.costField)) : undefined;
      if (time === undefined || key === undefined || Number.isNaN(cost)) return undefined;
      return { time, key, cost };
    },
  };
}
