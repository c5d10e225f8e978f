import { readFileSync } from "node:fs";
import { isIPv4 } from "node:net";
import { type Command, Option } from "commander";
import { definedOnly } from "../../kit/defined-only.js";
import { messageOf, usageError } from "../../kit/errors.js";
import { parseHeaderLine } from "../../kit/header-line.js";
import type { ApiSettings, OtherPath } from "../audit/api/api-settings.js";
import { parseKeyCarrier } from "../audit/api/key-carrier.js";
import { DECLARED_ALGORITHMS, type DeclaredAlgorithm, parseQuota } from "../audit/api/quota.js";
import { APP_FLAGS, appSettingsOf } from "./audit-app-flags.js";
import { numberOf, several } from "./audit-flag-values.js";

const DEFAULTS = {
  key: "address",
  method: "GET",
  denied: "429",
  algorithm: "unknown",
  "requests-per-minute": "2000",
  "max-requests": "10000",
} as const;

/** The flags of an audit of an API by its address, in the order of help. */
const FLAGS = [
  new Option("--url <url>", "audit the API at this address, in place of --clients"),
  new Option("--quota <quota>", "what a key gets, e.g. 100/60s (default: found by a burst)"),
  new Option(
    "--burst <number>",
    "how many it admits at once, where those are fewer than the quota",
  ),
  new Option(
    "--key <carrier>",
    `where a request has its key: header:NAME, query:NAME, cookie:NAME, forwarded-for, address (default: ${DEFAULTS.key})`,
  ),
  new Option(
    "--algorithm <algorithm>",
    `what it declares; unknown: what any of them may admit holds (default: ${DEFAULTS.algorithm})`,
  ).choices(Object.keys(DECLARED_ALGORITHMS)),
  new Option("--method <method>", `(default: ${DEFAULTS.method})`),
  new Option("--header <line>", "'Name: value' of each request; never printed").argParser(several),
  new Option("--body <file>", "the body of each request"),
  new Option("--denied <status>", `the status of a denial (default: ${DEFAULTS.denied})`),
  new Option("--instance <url>", "another instance with the same quota").argParser(several),
  new Option(
    "--also <path>",
    "a path with the same quota, or PATH=QUOTA for one of its own",
  ).argParser(several),
  new Option("--ca <file>", "certificates in PEM that are trusted, too"),
  new Option(
    "--requests-per-minute <number>",
    `the most requests in a minute (default: ${DEFAULTS["requests-per-minute"]})`,
  ),
  new Option(
    "--max-requests <number>",
    `the most requests in all (default: ${DEFAULTS["max-requests"]})`,
  ),
  ...APP_FLAGS,
  new Option("--yes", "send to an address that is not this machine's without a question"),
] as const;

export function addApiFlags(command: Command): Command {
  for (const flag of FLAGS) command.addOption(flag);
  return command;
}

type ApiFlag = "url" | "quota" | "burst" | "key" | "algorithm" | "method" | "body" | "denied";
type OtherFlag = "ca" | "requestsPerMinute" | "maxRequests";
type Given = { [Name in ApiFlag | OtherFlag]?: string } & {
  header?: string[];
  instance?: string[];
  also?: string[];
  yes?: true;
};

/** The first flag of an API that a command line has; undefined without any. */
export const givenApiFlag = (command: Command): string | undefined =>
  FLAGS.find((flag) => command.getOptionValue(flag.attributeName()) !== undefined)?.long;

/** An address of an API. @throws usageError for another scheme, or one that holds a password */
function parseUrl(flag: string, text: string): URL {
  // Node.js 20.19 has no URL.parse.
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw usageError(
      `${flag}: give an address with http:// or https://, such as http://127.0.0.1:3000/api/items`,
    );
  if (url.username || url.password)
    throw usageError(`${flag}: an address holds no password: give it with --header`);
  return url;
}

/**
 * The address of a path of an app that has no port yet. @throws usageError for anything but a path
 */
function parsePath(text: string): URL {
  if (/^\/(?!\/)/.test(text)) return new URL(text, "http://127.0.0.1");
  throw usageError(
    `--url ${JSON.stringify(text.slice(0, 80))}: with --command give a path such as /api/items`,
  );
}

/** @throws usageError that does not show the line, which may hold credentials */
function parseHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const header = parseHeaderLine(line);
      if (header === undefined) throw usageError("--header: give 'Name: value'");
      return [header.name.toLowerCase(), header.value];
    }),
  );
}

function fileOf(flag: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw usageError(`${flag} ${path}: ${messageOf(cause)}`, { cause });
  }
}

/** Reads `PATH` or `PATH=QUOTA`. @throws usageError */
function parseOtherPath(text: string): OtherPath {
  const [path = "", quota] = text.split("=");
  if (!/^\/[\x21-\x7e]*$/.test(path))
    throw usageError(`--also ${path}: give a path such as /v2/items`);
  return quota === undefined ? { path } : { path, quota: parseQuota("--also", quota) };
}

const METHOD = /^[A-Z]{1,20}$/;

/** The settings of the flags. @param url the value of `--url` @throws usageError */
export function apiSettingsOf(command: Command, url: string): ApiSettings {
  const options = command.opts<Given>();
  const appSettings = appSettingsOf(command);
  const address = appSettings.app ? parsePath(url) : parseUrl("--url", url);
  const method = options.method ?? DEFAULTS.method;
  if (!METHOD.test(method)) throw usageError(`--method ${method}: give a method such as POST`);

  const algorithm = (options.algorithm ?? DEFAULTS.algorithm) as DeclaredAlgorithm;
  if (options.burst !== undefined && /-window$/.test(algorithm))
    throw usageError(`--burst: a ${algorithm} admits its whole quota at once`);

  const isLoopback = isIPv4(address.hostname) && address.hostname.startsWith("127.");
  return definedOnly({
    ...appSettings,
    url: address,
    instances: (options.instance ?? []).map((text) => parseUrl("--instance", text)),
    carrier: parseKeyCarrier(options.key ?? DEFAULTS.key, isLoopback),
    quota: options.quota === undefined ? undefined : parseQuota("--quota", options.quota),
    burst: options.burst === undefined ? undefined : numberOf("--burst", options.burst, 1, 100_000),
    algorithm,
    method,
    headers: parseHeaders(options.header ?? []),
    body: options.body === undefined ? undefined : fileOf("--body", options.body),
    deniedStatus: numberOf("--denied", options.denied ?? DEFAULTS.denied, 400, 599),
    otherPaths: (options.also ?? []).map(parseOtherPath),
    ca: options.ca === undefined ? undefined : fileOf("--ca", options.ca).toString("utf8"),
    requestsPerMinute: numberOf(
      "--requests-per-minute",
      options.requestsPerMinute ?? DEFAULTS["requests-per-minute"],
      1,
      1_000_000,
    ),
    maxRequests: numberOf(
      "--max-requests",
      options.maxRequests ?? DEFAULTS["max-requests"],
      1,
      10_000_000,
    ),
  });
}

/** The command line without what may be a credential: values of headers, of variables and of an address's query,
 * and what commands are told. */
export function withoutCredentials(argv: readonly string[]): string[] {
  const hidden = (word: string, flag: string): string => {
    if (flag === "--header") return word.replace(/:.*$/s, ": …");
    if (flag === "--env") return word.replace(/=.*$/s, "=…");
    if (/^--(?:break|mend|command)$/.test(flag)) return word.replace(/\s.*$/s, " …");
    return /^--(?:url|instance)$/.test(flag) ? word.replaceAll(/=[^&]*/g, "=…") : word;
  };
  return argv.map((word, index) => {
    const [flag, value] = word.split(/=(.*)/s);
    if (value !== undefined && flag?.startsWith("--")) return `${flag}=${hidden(value, flag)}`;
    return hidden(word, argv[index - 1] ?? "");
  });
}
