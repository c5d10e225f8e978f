const SPACE = 0x20;
const CR = 0x0d;
const LF = 0x0a;
const TAB = 0x09;
const COLON = 0x3a;
const ZERO = 0x30;
/** Turns capital letters into small ones, and leaves digits, `-`, `.`, `/` and blanks as they are. */
const SMALL = 0x20;

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, "latin1"));
const VERSION = bytes("HTTP/1.1 ");
const CONTENT_LENGTH = bytes("content-length");
const CONNECTION = bytes("connection");
const KEEP_ALIVE = bytes("keep-alive");
const TRANSFER_ENCODING = bytes("transfer-encoding");

/** Whether `text`, in small letters, stands at `at`, in letters of any size. */
function standsAt(buffer: Uint8Array, at: number, text: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) if (((buffer[at + i] ?? 0) | SMALL) !== text[i]) return false;
  return true;
}

const digitAt = (buffer: Uint8Array, at: number): number => {
  const digit = (buffer[at] ?? 0) - ZERO;
  return digit >= 0 && digit <= 9 ? digit : -1;
};

/** Where the line feed is that ends the line, after the only carriage return of the line; else -1. */
function endOfLine(buffer: Uint8Array, from: number, length: number): number {
  let at = from;
  while (at < length && buffer[at] !== CR && buffer[at] !== LF) at++;
  return at + 1 < length && buffer[at] === CR && buffer[at + 1] === LF ? at + 1 : -1;
}

/** The whole number that stands alone between `at` and the end of its line, blanks before it; else -1. */
function numberAt(buffer: Uint8Array, at: number, end: number): number {
  let value = -1;
  let place = at;
  while (buffer[place] === SPACE) place++;
  for (; place < end; place++) {
    const digit = digitAt(buffer, place);
    if (digit < 0 || value > 1e12) return -1;
    value = Math.max(value, 0) * 10 + digit;
  }
  return value;
}

/** The value of `connection` is `keep-alive`, and nothing else. */
function keepsAlive(buffer: Uint8Array, at: number, end: number): boolean {
  let place = at;
  while (buffer[place] === SPACE) place++;
  return end - place === KEEP_ALIVE.length && standsAt(buffer, place, KEEP_ALIVE);
}

/**
 * The status of an answer that lies in one read as nearly all do: whole, alone, with a length, on a connection that
 * stays. 0 for anything else, which is left to the parser: this one only saves its cost.
 * @param length bytes of `buffer` that were read
 */
export function wholeResponseStatus(buffer: Uint8Array, length: number): number {
  for (let i = 0; i < VERSION.length; i++) if (buffer[i] !== VERSION[i]) return 0;
  const status = digitAt(buffer, 9) * 100 + digitAt(buffer, 10) * 10 + digitAt(buffer, 11);
  if (status < 200 || status === 204 || status === 304) return 0;
  let body = -1;
  if (buffer[12] !== SPACE && buffer[12] !== CR) return 0;
  let at = endOfLine(buffer, 12, length);
  if (at < 0) return 0;
  for (at++; at + 1 < length; at++) {
    if (buffer[at] === CR && buffer[at + 1] === LF) return body >= 0 && at + 2 + body === length ? status : 0;
    const line = at;
    at = endOfLine(buffer, at, length);
    if (at < 0) return 0;
    const first = (buffer[line] ?? 0) | SMALL;
    if (first === CONTENT_LENGTH[0]) {
      if (buffer[line + CONTENT_LENGTH.length] === COLON && standsAt(buffer, line, CONTENT_LENGTH)) {
        // A second length is for the parser to judge.
        if (body >= 0) return 0;
        body = numberAt(buffer, line + CONTENT_LENGTH.length + 1, at - 1);
        if (body < 0) return 0;
      } else if (buffer[line + CONNECTION.length] === COLON && standsAt(buffer, line, CONNECTION)) {
        if (!keepsAlive(buffer, line + CONNECTION.length + 1, at - 1)) return 0;
      }
    } else if (first === TRANSFER_ENCODING[0] && standsAt(buffer, line, TRANSFER_ENCODING)) {
      return 0;
    } else if (buffer[line] === SPACE || buffer[line] === TAB) {
      // It continues the line before.
      return 0;
    }
  }
  return 0;
}
