import { usageError } from "../../../kit/errors.js";

/** A request as it is sent. Each part can be changed by a check. */
export interface RequestParts {
  method: string;
  /** The path with its query, exactly as it is sent. */
  path: string;
  /** Headers by their name in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The address of this machine that the request comes from; the system chooses it if absent. */
  localAddress?: string;
}

/** Where a request carries the key by which the API counts. */
export interface KeyCarrier {
  /** The carrier as `--key` names it. */
  text: string;
  /** Whether a key is the address of a client. */
  holdsAddresses: boolean;
  /** Whether all requests of this audit have the same key. */
  hasOneKey: boolean;
  /** @param number the number of the key in this run. @param nonce eight hexadecimal digits of the run */
  freshKey(number: number, nonce: string): string;
  /** Whether a request can carry this text as its key. */
  canHold(key: string): boolean;
  put(parts: RequestParts, key: string): RequestParts;
}

/** Header values are bytes, which Node.js takes as one character each. */
const asBytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

const withHeader = (parts: RequestParts, name: string, value: string): RequestParts => ({
  ...parts,
  headers: { ...parts.headers, [name]: asBytes(value) },
});

const numberedKey = (number: number, nonce: string): string => `audit-${nonce}-${number}`;

const TOKEN = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
const HEADER_VALUE = /^(?:[^\p{Cc} ](?:[^\p{Cc}]*[^\p{Cc} ])?)?$/u;
const COOKIE_VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;

const named = { holdsAddresses: false, hasOneKey: false, freshKey: numberedKey } as const;

const headerCarrier = (name: string): KeyCarrier => ({
  ...named,
  text: `header:${name}`,
  canHold: (key) => HEADER_VALUE.test(key),
  put: (parts, key) => withHeader(parts, name.toLowerCase(), key),
});

const queryCarrier = (name: string): KeyCarrier => ({
  ...named,
  text: `query:${name}`,
  canHold: () => true,
  put: (parts, key) => {
    const separator = parts.path.includes("?") ? "&" : "?";
    const pair = `${encodeURIComponent(name)}=${encodeURIComponent(key)}`;
    return { ...parts, path: `${parts.path}${separator}${pair}` };
  },
});

const cookieCarrier = (name: string): KeyCarrier => ({
  ...named,
  text: `cookie:${name}`,
  canHold: (key) => COOKIE_VALUE.test(key),
  put: (parts, key) => {
    const cookies = [parts.headers.cookie, `${name}=${key}`].filter(Boolean).join("; ");
    return { ...parts, headers: { ...parts.headers, cookie: cookies } };
  },
});

/** A number that differs between runs, so that their addresses do. */
const startOf = (nonce: string): number => Number.parseInt(nonce.slice(0, 6), 16);

/** An address of 198.18.0.0/15, which is kept for tests of network devices. */
function testAddress(number: number, nonce: string): string {
  const place = (startOf(nonce) + number) % 2 ** 17;
  return `198.${18 + (place >> 16)}.${(place >> 8) & 255}.${place & 255}`;
}

const isAddress = (key: string): boolean => /^[\d.]+$|^[\da-f:]+$/i.test(key);

const forwardedCarrier = (): KeyCarrier => ({
  text: "forwarded-for",
  holdsAddresses: true,
  hasOneKey: false,
  freshKey: testAddress,
  canHold: isAddress,
  put: (parts, key) => withHeader(parts, "x-forwarded-for", key),
});

/** The addresses of a network of 256 that hosts can have. */
const HOSTS = 254;

/** An address of 127.0.0.0/8. Linux lets every program send from any of them. */
function loopbackAddress(number: number, nonce: string): string {
  const place = startOf(nonce) + number;
  const network = Math.floor(place / HOSTS);
  return `127.${64 + ((network >> 8) & 63)}.${network & 255}.${1 + (place % HOSTS)}`;
}

/** @param isLoopback whether the API listens in 127.0.0.0/8, which any address there can reach */
const addressCarrier = (isLoopback: boolean): KeyCarrier => ({
  text: "address",
  holdsAddresses: true,
  hasOneKey: !isLoopback,
  freshKey: (number, nonce) => (isLoopback ? loopbackAddress(number, nonce) : ""),
  canHold: isAddress,
  put: (parts, key) => (key === "" ? parts : { ...parts, localAddress: key }),
});

const NAMED_CARRIERS = { header: headerCarrier, query: queryCarrier, cookie: cookieCarrier };

const FORMS = "header:NAME, query:NAME, cookie:NAME, forwarded-for or address";

/**
 * The carrier that a text names.
 * @param isLoopback whether the API is at an address of 127.0.0.0/8
 * @throws usageError for any other text
 */
export function parseKeyCarrier(text: string, isLoopback: boolean): KeyCarrier {
  if (text === "forwarded-for") return forwardedCarrier();
  if (text === "address") return addressCarrier(isLoopback);

  const [kind = "", name = ""] = text.split(/:(.*)/s);
  const carrierOf = Object.hasOwn(NAMED_CARRIERS, kind)
    ? NAMED_CARRIERS[kind as keyof typeof NAMED_CARRIERS]
    : undefined;
  if (carrierOf && TOKEN.test(name)) return carrierOf(name);
  throw usageError(`--key ${JSON.stringify(text.slice(0, 80))}: give ${FORMS}`);
}
