import { definedOnly } from "../kit/defined-only.js";
import type { Environment, NodePlace } from "../kit/env.js";
import { messageOf, usageError } from "../kit/errors.js";
import { MAX_SETTING_BYTES, readUserFile } from "../kit/user-files.js";

/**
 * PEM texts. `ca` vouches for the store in addition to the system's authorities, while `cert` and
 * `key` belong to the client.
 */
export type StoreTls = { ca?: string; cert?: string; key?: string };

/**
 * The credentials and encryption of a store. They are secret, so they are never printed and never
 * stored.
 */
export interface StoreAccess {
  username?: string;
  password?: string;
  /** Present where connections are encrypted. */
  tls?: StoreTls;
}

export interface StoreAddress extends NodePlace {
  access: StoreAccess;
}

/** A password may look like the end of an address, so the message says how to encode it. */
const ENCODED = "in user and password write / as %2F, ? as %3F, # as %23, @ as %40 and : as %3A";

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The error has no cause, because that may contain the text.
    throw usageError(
      "user or password of the store's redis:// URL has a % that is not an escape: write %25",
    );
  }
}

/**
 * Reads `redis[s]://[user[:password]@]host[:port]`.
 * @throws usageError without the text, because it may contain a password
 */
export function parseStoreUrl(text: string, tls: StoreTls = {}): StoreAddress {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    // The error has no cause, because that contains the text.
    throw usageError(
      `the store's URL is not an address: give redis://host:port or rediss://user:password@host:port; ${ENCODED}`,
    );
  }

  if (!["redis:", "rediss:"].includes(url.protocol))
    throw usageError(
      `the store's URL begins with ${url.protocol}//: give redis:// or rediss:// (encrypted)`,
    );
  if (!url.hostname || (url.pathname !== "" && url.pathname !== "/") || url.search || url.hash) {
    throw usageError(
      `the store's URL must be redis[s]://[user:password@]host[:port], without a path or a query; ${ENCODED}`,
    );
  }
  const encrypted = url.protocol === "rediss:";
  if (Object.keys(tls).length > 0 && !encrypted)
    throw usageError("a certificate is of no use for redis://: give rediss://");

  const username = decoded(url.username) || undefined;
  const password = decoded(url.password) || undefined;

  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port ? Number(url.port) : 6379,
    access: definedOnly({ username, password, tls: encrypted ? tls : undefined }),
  };
}

const TLS_FILES = { ca: "STORE_CA", cert: "STORE_CERT", key: "STORE_KEY" } as const;

/**
 * Reads STORE_URL. It comes by the environment, which only its owner can read.
 * @returns undefined without STORE_URL
 * @throws usageError where it is wrong, without the text
 */
export function storeAddressFrom(env: Environment): StoreAddress | undefined {
  if (!env.STORE_URL) return undefined;
  if (Boolean(env.STORE_CERT) !== Boolean(env.STORE_KEY))
    throw usageError("a certificate for the store needs its key: give STORE_CERT and STORE_KEY");
  const tls = Object.entries(TLS_FILES).flatMap(([member, variable]) => {
    const path = env[variable];
    return path ? [[member, textOf(path, variable)]] : [];
  });
  return parseStoreUrl(env.STORE_URL, Object.fromEntries(tls));
}

/**
 * The access to the store of a run, which is that of `STORE_URL`, or else that of an
 * encrypted store that the campaign started.
 */
export const storeAccessFrom = (
  env: Environment,
  { ca }: { ca?: string | undefined },
): StoreAccess | undefined =>
  storeAddressFrom(env)?.access ?? (ca === undefined ? undefined : { tls: { ca } });

function textOf(path: string, variable: string): string {
  try {
    return readUserFile(path, MAX_SETTING_BYTES).toString("utf8");
  } catch (error) {
    throw usageError(`${variable} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
