import { z } from "zod";

/**
 * The start of a client's id that names an app: an HTTP server of somebody else. No client of the
 * project or of a plugin has it.
 */
const APP_PREFIX = "app.";

/** The most apps of a campaign, which have a place in one group with the copy of the first. */
export const MOST_APPS = 4;

export const APP_NAME = /^[a-z0-9][a-z0-9-]{0,29}$/;

export const appClientId = (name: string): string => `${APP_PREFIX}${name}`;

/** Whether a target is an app, which discloses nothing about itself. */
export const isApp = ({ client }: Readonly<{ client: string }>): boolean =>
  client.startsWith(APP_PREFIX);

/** The name that the user gave an app. */
export const appName = (client: string): string => client.slice(APP_PREFIX.length);

/** Stands for the key of a request in its path and in the values of its headers. */
export const KEY_PLACE = "{key}";

/** What stands in plan and results for the value of a header that may be a credential. */
export const HIDDEN_VALUE = "…";

/** The request that all apps of a campaign get. */
export const appRequestSchema = z.strictObject({
  /** The path with its query, in which `{key}` stands for the key. */
  path: z.string().min(1).max(2048),
  /** The headers beside Host and Connection, by name. `{key}` in a value stands for the key. */
  headers: z.record(z.string(), z.string().max(4096)).optional(),
});
export type AppRequest = z.infer<typeof appRequestSchema>;

/** What a manifest says of an app. Nothing in it is secret. */
export const appIdentitySchema = z.strictObject({
  command: z.string(),
  /** The commit of the checkout that it is started from, e.g. `1234abc` or `1234abc with changes`. */
  revision: z.string().optional(),
});
export type AppIdentity = z.infer<typeof appIdentitySchema>;
