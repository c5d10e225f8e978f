import type { Command } from "./commands.js";
import type { KeyCarrier } from "./key-carrier.js";
import type { ExpectedOutage } from "./outage-behaviour.js";
import type { DeclaredAlgorithm, Quota } from "./quota.js";
import type { AppSettings } from "./started-app.js";

/** Another path of the API, and the quota of its own that it is said to have, if any. */
export interface OtherPath {
  path: string;
  quota?: Quota;
}

/** What the command line says about the API that is audited. */
export interface ApiSettings {
  url: URL;
  /** Addresses of further instances of the same API. */
  instances: readonly URL[];
  carrier: KeyCarrier;
  /** Absent where the audit finds it. */
  quota?: Quota;
  /** How many requests are admitted at once, where those are fewer than the quota. */
  burst?: number;
  algorithm: DeclaredAlgorithm;
  method: string;
  /** Headers of each request by their name in lower case. Their values are never printed. */
  headers: Readonly<Record<string, string>>;
  body?: Buffer;
  /** The status of a denial. */
  deniedStatus: number;
  otherPaths: readonly OtherPath[];
  /** Certificates in PEM that are trusted besides those of the system. */
  ca?: string;
  /** The app that the audit starts, where the API is not running yet. */
  app?: AppSettings;
  /** How the API's store is taken away and brought back. */
  outage?: { break: Command; mend: Command; expected?: ExpectedOutage };
  requestsPerMinute: number;
  maxRequests: number;
}

/**
 * The address without credentials: a query's values and a user's password may be some. It is the
 * only form that is printed or written.
 */
export function shownUrl({ origin, pathname, searchParams }: URL): string {
  const names = [...searchParams.keys()].map((name) => `${encodeURIComponent(name)}=…`);
  return `${origin}${pathname}${names.length > 0 ? `?${names.join("&")}` : ""}`;
}

/** The path with its query, as it is sent. */
export const pathOf = ({ pathname, search }: URL): string => `${pathname}${search}`;
