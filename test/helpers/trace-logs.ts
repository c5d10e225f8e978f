import { closeSync, openSync, writeSync } from "node:fs";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const twoDigits = (part: number): string => String(part).padStart(2, "0");

/** `10/Oct/2025:13:55:36 +0000`. */
function logTime(at_ms: number): string {
  const date = new Date(at_ms);
  const day = `${twoDigits(date.getUTCDate())}/${MONTHS[date.getUTCMonth()]}/${date.getUTCFullYear()}`;
  return `${day}:${date.toISOString().slice(11, 19)} +0000`;
}

/**
 * The number of the client of request `n`: the tail is heavy, the most frequent one has about 1 of
 * 12 requests.
 */
const clientOf = (n: number): number =>
  Math.floor(200_000 ** (((n * 0.618_033_988_749_895) % 1) as number));

/** Writes a combined access log of an hour. */
export function writeAccessLog(path: string, lines: number): void {
  const file = openSync(path, "w");
  const began_ms = Date.UTC(2025, 9, 10, 13);
  for (let written = 0; written < lines; ) {
    let text = "";
    for (const ends = Math.min(lines, written + 10_000); written < ends; written++) {
      const client = clientOf(written);
      const address = `10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`;
      const time = logTime(began_ms + (3_600_000 * written) / lines);
      text += `${address} - - [${time}] "GET /api/items/${written % 977}?page=2 HTTP/1.1" 200 ${512 + (written % 4096)} "https://example.com/" "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"\n`;
    }
    writeSync(file, text);
  }
  closeSync(file);
}
