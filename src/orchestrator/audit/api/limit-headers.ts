/** What the headers of an answer say about a quota. */
export interface LimitHeaders {
  /** The wait that `Retry-After` names, in seconds, and its text. */
  retryAfter?: { text: string; seconds: number };
  /** The number of requests in a window. */
  limits: { header: string; points: number }[];
  remaining: { header: string; points: number }[];
  /** When the quota is back, in seconds from the answer on. */
  resets: { header: string; text: string; seconds: number }[];
  /** Windows of `RateLimit-Policy`, in seconds. */
  windows: { header: string; seconds: number }[];
}

/** Larger numbers are seconds since 1970, and still larger ones milliseconds since then. */
const EPOCH_S = 1_000_000_000;
const EPOCH_MS = 100_000_000_000;

type Headers = Readonly<Record<string, string>>;

/** A moment as seconds from the answer on. */
function secondsFromNow(value: number, answered_ms: number): number {
  if (value > EPOCH_MS) return (value - answered_ms) / 1000;
  return value > EPOCH_S ? value - answered_ms / 1000 : value;
}

/** The wait of `Retry-After`, a number of seconds or a date. */
function retryAfterOf(headers: Headers, answered_ms: number): LimitHeaders["retryAfter"] {
  const text = headers["retry-after"];
  if (text === undefined) return undefined;
  const number = Number(text);
  const seconds = Number.isNaN(number) ? (Date.parse(text) - answered_ms) / 1000 : number;
  return { text, seconds };
}

/** The member of a structured field, in the old form `limit=10` and the new one `;r=9`. */
function memberOf(field: string | undefined, names: readonly string[]): number | undefined {
  if (field === undefined) return undefined;
  const match = new RegExp(`(?:^|[\\s,;])(?:${names.join("|")})=(\\d+)`).exec(field);
  return match ? Number(match[1]) : undefined;
}

/** The quota of `RateLimit-Policy`: `10;w=2`, or `"name";q=10;w=2`. */
function policyPoints(policy: string | undefined): number | undefined {
  const leading = /^\s*(\d+)/.exec(policy ?? "")?.[1];
  return leading === undefined ? memberOf(policy, ["q"]) : Number(leading);
}

const PREFIXES = ["ratelimit", "x-ratelimit", "x-rate-limit"];

/** @param answered_ms when the answer came, in ms since 1970 */
export function limitHeaders(headers: Headers, answered_ms: number): LimitHeaders {
  const numbers = (end: string) =>
    PREFIXES.flatMap((prefix) => {
      const header = `${prefix}-${end}`;
      const value = Number.parseFloat(headers[header] ?? "");
      return Number.isNaN(value) ? [] : [{ header, value }];
    });
  const ofFields = (header: string, value: number | undefined) =>
    value === undefined ? [] : [{ header, value }];

  const combined = headers.ratelimit;
  const policy = headers["ratelimit-policy"];
  const points = ({ header, value }: { header: string; value: number }) => ({
    header,
    points: value,
  });
  const reset = [...numbers("reset"), ...ofFields("ratelimit", memberOf(combined, ["reset", "t"]))];
  const retryAfter = retryAfterOf(headers, answered_ms);
  return {
    ...(retryAfter ? { retryAfter } : {}),
    limits: [
      ...numbers("limit"),
      ...ofFields("ratelimit", memberOf(combined, ["limit"])),
      ...ofFields("ratelimit-policy", policyPoints(policy)),
    ].map(points),
    remaining: [
      ...numbers("remaining"),
      ...ofFields("ratelimit", memberOf(combined, ["remaining", "r"])),
    ].map(points),
    resets: reset.map(({ header, value }) => ({
      header,
      text: String(value),
      seconds: secondsFromNow(value, answered_ms),
    })),
    windows: ofFields("ratelimit-policy", memberOf(policy, ["w"])).map(({ header, value }) => ({
      header,
      seconds: value,
    })),
  };
}
