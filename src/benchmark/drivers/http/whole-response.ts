const SPACE = 0x20;
const CR = 0x0d;
const LF = 0x0a;
const TAB = 0x09;
const COLON = 0x3a;
const ZERO = 0x30;
/** Turns upper case into lower case; leaves digits, `-`, `.`, `/` and spaces as they are. */
const LOWER_CASE = 0x20;

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, "latin1"));
const VERSION = bytes("HTTP/1.1 ");
const CONTENT_LENGTH = bytes("content-length");
const CONNECTION = bytes("connection");
const KEEP_ALIVE = bytes("keep-alive");
const TRANSFER_ENCODING = bytes("transfer-encoding");

function matchesAt(buffer: Uint8Array, at: number, text: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) if (((buffer[at + i] ?? 0) | LOWER_CASE) !== text[i]) return false;
  return true;
}

const digitAt = (buffer: Uint8Array, at: number): number => {
  const digit = (buffer[at] ?? 0) - ZERO;
  return digit >= 0 && digit <= 9 ? digit : -1;
};

/** Offset of the line feed that ends the line, if the only carriage return of the line precedes it; else -1. */
function endOfLine(buffer: Uint8Array, from: number, length: number): number {
  let at = from;
  while (at < length && buffer[at] !== CR && buffer[at] !== LF) at++;
  return at + 1 < length && buffer[at] === CR && buffer[at + 1] === LF ? at + 1 : -1;
}

/** The whole number between `at` and the end of the line, with leading spaces; -1 if there is anything else. */
function numberAt(buffer: Uint8Array, at: number, end: number): number {
  let value = -1;
  let offset = at;
  while (buffer[offset] === SPACE) offset++;
  for (; offset < end; offset++) {
    const digit = digitAt(buffer, offset);
    if (digit < 0 || value > 1e12) return -1;
    value = Math.max(value, 0) * 10 + digit;
  }
  return value;
}

function keepsAlive(buffer: Uint8Array, at: number, end: number): boolean {
  let offset = at;
  while (buffer[offset] === SPACE) offset++;
  return end - offset === KEEP_ALIVE.length && matchesAt(buffer, offset, KEEP_ALIVE);
}

/**
 * Fast path for the usual answer, complete in one read, with a content length, on a connection that stays open.
 * @param length bytes of `buffer` that were read @returns the status, or 0 for what the parser has to read
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
    const first = (buffer[line] ?? 0) | LOWER_CASE;
    if (first === CONTENT_LENGTH[0]) {
      if (buffer[line + CONTENT_LENGTH.length] === COLON && matchesAt(buffer, line, CONTENT_LENGTH)) {
        // The parser decides about a second length.
        if (body >= 0) return 0;
        body = numberAt(buffer, line + CONTENT_LENGTH.length + 1, at - 1);
        if (body < 0) return 0;
      } else if (buffer[line + CONNECTION.length] === COLON && matchesAt(buffer, line, CONNECTION)) {
        if (!keepsAlive(buffer, line + CONNECTION.length + 1, at - 1)) return 0;
      }
    } else if (first === TRANSFER_ENCODING[0] && matchesAt(buffer, line, TRANSFER_ENCODING)) {
      return 0;
    } else if (buffer[line] === SPACE || buffer[line] === TAB) {
      // A continuation of the line before.
      return 0;
    }
  }
  return 0;
}
