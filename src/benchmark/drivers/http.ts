import type { Outcome } from "../../contract/result.js";
import type { Descriptors } from "../../traffic/types.js";

/** What an HTTP status means for a rate limiter under test. */
export function outcomeOf(status: number): Outcome {
  if (status >= 200 && status < 300) return "allowed";
  return status === 429 ? "limited" : "failed";
}

/**
 * The bytes of one request, built once: handing out prebuilt buffers costs no more than one static request.
 * @param url base address and path of the endpoint
 */
export function requestBuffer(url: URL, descriptors: Descriptors): Buffer {
  const query = new URLSearchParams(url.search);
  for (const userId of descriptors) query.append("userId", userId);
  return Buffer.from(
    `GET ${url.pathname}?${query} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: keep-alive\r\n\r\n`,
  );
}
