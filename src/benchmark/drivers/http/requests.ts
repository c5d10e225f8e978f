import type { Outcome } from "../../../contract/request-outcomes.js";
import {
  type Descriptors,
  FRESH_KEY,
  FRESH_KEY_DIGITS,
  FRESH_KEY_PREFIX,
  type RequestStream,
} from "../../../traffic/traffic-types.js";
import { type ConnectionLog, RequestCounter } from "../../measurement/decision-log.js";
import type { ChannelRequests } from "../driver.js";

export const LIMITED_STATUS = 429;

export function outcomeOfStatus(status: number): Outcome {
  if (status >= 200 && status < 300) return "allowed";
  return status === LIMITED_STATUS ? "limited" : "failed";
}

type PreparedRequest = { requestBuffer: Buffer };

export interface RequestSource {
  /** Takes the next request, which is valid until the next call. */
  next(): PreparedRequest;
  sent(): void;
  /** Says that nobody knows whether the last request was decided on. */
  undecided(): void;
  /**
   * Takes each decision, and the wait that a limited answer names. It is absent where nobody needs
   * them.
   */
  log?: Pick<ConnectionLog, "answered">;
}

/** Builds the bytes of one request in advance. */
export function requestBuffer(url: URL, descriptors: Descriptors): Buffer {
  const query = new URLSearchParams(url.search);
  for (const userId of descriptors) query.append("userId", userId);
  return Buffer.from(
    `GET ${url.pathname}?${query} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: keep-alive\r\n\r\n`,
  );
}

function freshKeyOffsets(buffer: Buffer): number[] {
  const offsets: number[] = [];
  for (
    let position = buffer.indexOf(FRESH_KEY);
    position >= 0;
    position = buffer.indexOf(FRESH_KEY, position + 1)
  )
    offsets.push(position + FRESH_KEY_PREFIX.length);
  return offsets;
}

const ZERO = 48;
const NINE = 57;

/** Fresh numbers reserved for each connection: 1e11, more than any run sends. */
const NUMBERS_PER_CONNECTION = 1e11;

/**
 * The digits of fresh keys. They are counted up in place, because formatting a large number for
 * each request costs far more.
 */
class FreshNumber {
  readonly #digits: Buffer;

  constructor(last: number) {
    this.#digits = Buffer.from(String(last).padStart(FRESH_KEY_DIGITS, "0"));
  }

  write(buffer: Buffer, offset: number): void {
    const digits = this.#digits;
    let position = FRESH_KEY_DIGITS - 1;
    for (; digits[position] === NINE; position--) digits[position] = ZERO;
    digits[position] = (digits[position] ?? ZERO) + 1;
    digits.copy(buffer, offset);
  }
}

/**
 * A connection has one request in flight, so its copy of a request with fresh keys is free for the
 * next.
 */
function sourcesFor(
  url: URL,
  { requests, counts = new RequestCounter(requests.length), log }: ChannelRequests,
) {
  const shared = requests.map((descriptors) => ({
    requestBuffer: requestBuffer(url, descriptors),
  }));
  const offsets = shared.map((request) => freshKeyOffsets(request.requestBuffer));
  const hasFresh = offsets.some((places) => places.length > 0);

  return (stream: RequestStream, connection: number): RequestSource => {
    const copyOf = (request: PreparedRequest, which: number): PreparedRequest =>
      offsets[which]?.length ? { requestBuffer: Buffer.from(request.requestBuffer) } : request;
    // A trace has so many keys that a list for each connection would fill the memory.
    const prepared = hasFresh ? shared.map(copyOf) : shared;
    const number = new FreshNumber(connection * NUMBERS_PER_CONNECTION);
    const counted = counts.connection();
    const logged = log?.connection();
    let which = 0;

    const source: RequestSource = {
      next() {
        which = stream.next();
        const request = prepared[which];
        if (!request) throw new Error(`the traffic has no request ${which}`);
        for (const offset of offsets[which] ?? []) number.write(request.requestBuffer, offset);
        return request;
      },
      sent() {
        counted.sent(which);
        logged?.sent(which);
      },
      undecided: () => counted.undecided(),
    };
    if (logged) source.log = logged;
    return source;
  };
}

/** The address of a connection, and what it sends. */
export type Connection = { url: URL; source: RequestSource };

/**
 * Connection i of all workers goes to endpoint i modulo their number, so that they are spread
 * evenly.
 */
export function connectionsTo(endpoints: readonly URL[], requests: ChannelRequests): Connection[] {
  const { streams, first } = requests;
  const sources = new Map<URL, ReturnType<typeof sourcesFor>>();
  return streams.flatMap((stream, index) => {
    const connection = first + index;
    const url = endpoints[connection % endpoints.length];
    if (!url) return [];
    const sourceOf = sources.get(url) ?? sourcesFor(url, requests);
    sources.set(url, sourceOf);
    return { url, source: sourceOf(stream, connection) };
  });
}
