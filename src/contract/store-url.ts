import type { Environment, Node } from "./env.js";
import { messageOf, usageError } from "./errors.js";
import { MAX_SETTING_BYTES, readUserFile } from "./user-files.js";

/** Credentials and encryption of an external store. They are secret: never printed, never stored. */
export interface StoreAccess {
  username?: string;
  password?: string;
  /** TLS; `ca` is a PEM certificate, in addition to the system's. */
  tls?: { ca?: string };
}

export interface StoreAddress extends Node {
  access: StoreAccess;
}

/** For a password that looks like the rest of an address. */
const ENCODED = "in user and password write / as %2F, ? as %3F, # as %23, @ as %40 and : as %3A";

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Without the cause, which may contain the text.
    throw usageError("user or password of the store's redis:// URL has a % that is not an escape: write %25");
  }
}

/**
 * Reads `redis://[user[:password]@]host[:port]` and `rediss://…` (encrypted).
 * @throws usageError that does not quote the text, because it may contain a password
 */
export function parseStoreUrl(text: string, ca?: string): StoreAddress {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    // Without the cause, which contains the text.
    throw usageError(
      `the store's URL is not an address: give redis://host:port or rediss://user:password@host:port; ${ENCODED}`,
    );
  }
  if (!["redis:", "rediss:"].includes(url.protocol)) {
    throw usageError(`the store's URL begins with ${url.protocol}//: give redis:// or rediss:// (encrypted)`);
  }
  if (!url.hostname || (url.pathname !== "" && url.pathname !== "/") || url.search || url.hash) {
    throw usageError(
      `the store's URL must be redis[s]://[user:password@]host[:port], without a path or a query; ${ENCODED}`,
    );
  }
  const encrypted = url.protocol === "rediss:";
  if (ca !== undefined && !encrypted)
    throw usageError("a certificate is of no use for redis://: give rediss://");
  const username = decoded(url.username);
  const password = decoded(url.password);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port ? Number(url.port) : 6379,
    access: {
      ...(username ? { username } : {}),
      ...(password ? { password } : {}),
      ...(encrypted ? { tls: ca === undefined ? {} : { ca } } : {}),
    },
  };
}

/**
 * The store in `STORE_URL`, with the certificate in the file `STORE_CA`; undefined if it is not set. Programs pass the
 * address in the environment, because only its owner can read that.
 * @throws usageError that does not quote the address
 */
export function storeAddressFrom(env: Environment): StoreAddress | undefined {
  if (!env.STORE_URL) return undefined;
  if (!env.STORE_CA) return parseStoreUrl(env.STORE_URL);
  let ca: string;
  try {
    ca = readUserFile(env.STORE_CA, MAX_SETTING_BYTES).toString("utf8");
  } catch (error) {
    throw usageError(`STORE_CA cannot be read: ${messageOf(error)}`, { cause: error });
  }
  return parseStoreUrl(env.STORE_URL, ca);
}
