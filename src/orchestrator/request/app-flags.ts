import { resolve } from "node:path";
import {
  APP_NAME,
  type AppRequest,
  appClientId,
  HIDDEN_VALUE,
  KEY_PLACE,
  MOST_APPS,
} from "../../contract/app.js";
import { commandWords } from "../../kit/command-words.js";
import { definedOnly } from "../../kit/defined-only.js";
import { messageOf, usageError } from "../../kit/errors.js";
import { parseHeaderLine } from "../../kit/header-line.js";
import { APP_STORES } from "../../targets/apps.js";
import { clients } from "../../targets/clients/index.js";
import { requireKnown } from "../../targets/did-you-mean.js";
import { groups } from "../../targets/target-groups.js";
import { CUSTOM_DURATION } from "./durations.js";
import type { NamedApp, RequestedApps, RequestedPlace } from "./request.js";
import type { SettingLayer, Settings, SettingValue } from "./setting-layers.js";
import { AUTO, badValue, exactTexts } from "./setting-values.js";

/** The settings that only say something about apps. */
const ABOUT_APPS = ["path", "header", "ready", "app-store", "app-folder"] as const;

/** The settings that say something about our own server, its limiter and its store. */
const WITHOUT_APPS = [
  "clients",
  "limiter",
  "store-versions",
  "framework",
  "compare-frameworks",
  "layer",
  "stores",
  "operations",
  "payload-bytes",
  "service-env",
  "workload",
  "complexity",
  "points",
  "window",
  "cost",
  "block",
  "fault",
  "diagnose",
  "node",
  "store-url",
] as const;

/** The defaults of campaigns with apps, which show a difference of a few percent within minutes. */
const APP_DEFAULTS: Readonly<Record<string, string>> = {
  concurrency: "10",
  "duration-mode": `${CUSTOM_DURATION}3`,
  runs: "9",
  warmup: "auto",
  cooldown: "0",
  traffic: "allowed",
};

const isNamed = (layers: readonly SettingLayer[]): boolean =>
  layers.some((layer) => layer.has("app") || layer.has("url"));

/** The defaults of a campaign with apps; undefined for any other. */
export const appDefaults = (layers: readonly SettingLayer[]): SettingLayer | undefined =>
  isNamed(layers)
    ? new Map(
        Object.entries(APP_DEFAULTS).map(([key, value]) => [key, { source: `--${key}`, value }]),
      )
    : undefined;

/**
 * The apps of a campaign, and what they are asked; undefined without any.
 * @throws usageError for a setting that says nothing about apps, or that only they have
 */
export function requestedApps(settings: Settings): RequestedApps | undefined {
  const apps = namedApps(settings.find("app"), settings.find("url"));
  if (apps.length === 0) {
    const useless = ABOUT_APPS.flatMap((key) => settings.find(key) ?? [])[0];
    if (useless) throw usageError(`${useless.source} is about apps: give --app name=command, too`);
    return undefined;
  }

  const useless = WITHOUT_APPS.find((key) => settings.isGiven(key));
  if (useless !== undefined)
    throw usageError(
      `${settings.get(useless).source} says nothing about --app, which is a server of your own: leave it out`,
    );
  const store = storeOf(settings.find("app-store"));
  if (store && apps.some(({ origin }) => origin))
    throw usageError("--app-store: a server that already runs has its store: leave out --url");
  return definedOnly({
    apps,
    folder: resolve(settings.find("app-folder")?.value ?? "."),
    request: requestOf(settings),
    readyPath: pathIn(settings.find("ready")),
    store,
  });
}

function namedApps(
  started: SettingValue | undefined,
  running: SettingValue | undefined,
): NamedApp[] {
  const apps = [
    ...textsOf(started).map((text) => appOf(started?.source ?? "", text)),
    ...textsOf(running).map((text) => runningApp(running?.source ?? "", text)),
  ];
  const names = apps.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw usageError(`--app ${twice}: give each app its own name`);
  if (apps.length > MOST_APPS)
    throw usageError(`--app: ${apps.length} apps: give at most ${MOST_APPS}`);
  requireOneKind(apps);
  return apps;
}

/** @throws usageError for images beside apps of this machine, which containers do not reach */
function requireOneKind(apps: readonly NamedApp[]): void {
  const ofImage = apps.find(({ image }) => image);
  const other = apps.find(({ image }) => !image);
  if (!ofImage || !other) return;
  const what = other.origin ? "already runs" : "is a command";
  throw usageError(
    `${ofImage.name} is the image ${ofImage.image}, but ${other.name} ${what}: give images alone, or none`,
  );
}

const textsOf = (setting: SettingValue | undefined): string[] =>
  setting ? exactTexts(setting.value) : [];

/** The name and the value of `NAME=VALUE`. @throws usageError */
function pairOf(source: string, text: string, form: string): [name: string, value: string] {
  const [, name = "", value = ""] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (!APP_NAME.test(name) || value === "") throw badValue(source, text, `give ${form}`);
  if (clients.some(({ id }) => id === name) || Object.hasOwn(groups, name))
    throw badValue(source, name, "that is a target of the project: give another name");
  return [name, value];
}

/** @throws usageError that does not show an address with credentials */
function runningApp(source: string, text: string): NamedApp {
  const form = "NAME=ADDRESS, e.g. now=http://127.0.0.1:3000";
  if (text.includes("@"))
    throw usageError(`${source}: an address is stored and printed: give credentials as --header`);
  const [name, value] = pairOf(source, text, form);
  const address = URL.canParse(value) ? new URL(value) : undefined;
  const isOrigin = address?.pathname === "/" && address.search === "" && address.hash === "";
  if (!address || !/^https?:$/.test(address.protocol) || !isOrigin)
    throw badValue(source, text, `give ${form}, and the path as --path`);
  return { name, command: address.origin, words: [], origin: address.origin };
}

/** What an image's reference follows that could also be a command, or that has no tag. */
const IMAGE_PREFIX = "image:";

/** A reference as engines read it: a registry, a path in lower case, a tag and a digest. */
const REFERENCE =
  /^(?:[a-zA-Z0-9][\w.-]*(?::\d{1,5})?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?<tag>:\w[\w.-]{0,127})?(?<digest>@sha256:[0-9a-f]{64})?$/;

/**
 * The image that the words of an app name, and the words that replace its command; undefined for a
 * command. A single word with a tag or a digest is an image, because no program has such a name.
 * @throws usageError for what follows the prefix and is no reference
 */
function imageIn(
  source: string,
  [first = "", ...others]: readonly string[],
): Pick<NamedApp, "image" | "words"> | undefined {
  if (first.startsWith(IMAGE_PREFIX)) {
    const image = first.slice(IMAGE_PREFIX.length);
    if (REFERENCE.test(image)) return { image, words: others };
    throw badValue(source, first, "give the reference of an image, e.g. image:my-api:1.2");
  }
  const { tag, digest } = (others.length === 0 && REFERENCE.exec(first)?.groups) || {};
  return (tag ?? digest) === undefined ? undefined : { image: first, words: [] };
}

function appOf(source: string, text: string): NamedApp {
  const form = 'NAME=COMMAND, e.g. before="node server.js", or NAME=image:TAG';
  const [name, command] = pairOf(source, text, form);
  const words = wordsOf(source, text, command);
  return { name, command, words, ...imageIn(source, words) };
}

function wordsOf(source: string, text: string, command: string): string[] {
  try {
    return commandWords(command);
  } catch (error) {
    throw badValue(source, text, `${messageOf(error)}; quote it, or give sh -c '…'`);
  }
}

const PATH = /^\/[\x21-\x7e]*$/;

/** Names of query parameters whose values nobody should find in a report. */
const SECRET_PARAMETER =
  /[?&](?<name>[^=&]*(?:key|token|secret|passw|auth|sig)[^=&]*)=(?!\{key\})/i;

/** @throws usageError for a text that is no path, or that holds what may be a credential */
function pathIn(setting: SettingValue | undefined): string | undefined {
  if (!setting) return undefined;
  const { source, value } = setting;
  const { name } = SECRET_PARAMETER.exec(value)?.groups ?? {};
  if (name !== undefined)
    throw usageError(
      `${source}: the value of ${name} may be a credential, and a path is stored and printed: give it as --header`,
    );
  if (!PATH.test(value) || value.includes("#"))
    throw badValue(source, value, "give a path, e.g. /api/items?user={key}");
  const otherPlace = value.replaceAll(KEY_PLACE, "").match(/\{[^}]*\}/)?.[0];
  if (otherPlace !== undefined)
    throw badValue(source, value, `only ${KEY_PLACE} is replaced, and ${otherPlace} is not`);
  return value;
}

function requestOf(settings: Settings): AppRequest {
  const path = pathIn(settings.find("path")) ?? "/";
  const lines = exactTexts(settings.find("header")?.value ?? "").filter(Boolean);
  return definedOnly({ path, headers: lines.length > 0 ? headersOf(lines) : undefined });
}

/** Headers that say how a message is sent, which the load itself decides. */
const OF_THE_LOAD = ["host", "connection", "content-length", "transfer-encoding", "expect"];

/** The bytes that a header's value may have. */
const HEADER_VALUE = /^[\t\x20-\x7e\xa0-\xff]*$/;

/** @throws usageError that does not show the line, which may hold credentials */
function headersOf(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const header = parseHeaderLine(line);
    if (!header || !HEADER_VALUE.test(header.value))
      throw usageError("--header: give 'Name: value', e.g. 'X-Api-Key: {key}'");
    if (OF_THE_LOAD.includes(header.name.toLowerCase()))
      throw usageError(`--header ${header.name}: the load generator sets it: leave it out`);
    headers[header.name] = header.value;
  }
  return headers;
}

/** Headers whose values say what a client can read, and nothing secret. */
const PUBLIC_HEADERS =
  /^(?:accept(?:-.*)?|content-type|user-agent|cache-control|x-forwarded-for)$/i;

/** Whether the value of a header can be shown: one that is public, or that is nothing but the key. */
const isShown = (name: string, value: string): boolean =>
  value === KEY_PLACE || PUBLIC_HEADERS.test(name);

/** A request as plan, results and report have it, without what may be a credential. */
export function shownRequest({ path, headers }: AppRequest): AppRequest {
  if (!headers) return { path };
  const shown = Object.entries(headers).map(([name, value]) => [
    name,
    isShown(name, value) ? value : HIDDEN_VALUE,
  ]);
  return { path, headers: Object.fromEntries(shown) };
}

/** A line of `--header` as a written command has it. */
export function shownHeaderLine(line: string): string {
  const { name = "", value = "" } = parseHeaderLine(line) ?? {};
  return `${name}: ${isShown(name, value) ? value : HIDDEN_VALUE}`;
}

function storeOf(setting: SettingValue | undefined): RequestedApps["store"] {
  if (!setting) return undefined;
  const { source, value } = setting;
  const { variable, id } = /^(?<variable>[A-Za-z_]\w{0,63})=(?<id>.*)$/.exec(value)?.groups ?? {};
  if (variable === undefined || id === undefined || variable === "PORT")
    throw badValue(source, value, "give VARIABLE=STORE, e.g. REDIS_URL=valkey");
  requireKnown("store of apps", id, APP_STORES);
  return { variable, id };
}

/** Records where apps start, in the place of the defaults that say nothing about them. */
export function recordApps(recorded: Record<string, string>, { folder }: RequestedApps): void {
  recorded["app-folder"] = folder;
  for (const key of WITHOUT_APPS) delete recorded[key];
}

/** Whether an app runs on another host, whose owner the plan should be shown first. */
export const reachesOthers = ({ apps }: RequestedApps): boolean =>
  apps.some(({ origin }) => origin && !isLoopback(new URL(origin).hostname));

const isLoopback = (host: string): boolean => /^(?:localhost|127\..*|\[::1\])$/.test(host);

/** The targets of the apps, as texts. */
export const appTargets = ({ apps, store }: RequestedApps): string[] =>
  apps.map(({ name }) => appTarget(name, store));

const appTarget = (name: string, store: RequestedApps["store"]): string =>
  `${appClientId(name)}@${store ? `${store.id}:standalone` : "none:none"}`;

/** @throws usageError where `--reference` names no app */
export function appReference({ apps }: RequestedApps, named: string | undefined) {
  if (named === undefined) return undefined;
  const names = apps.map(({ name }) => name);
  requireKnown("app", named, names);
  return appClientId(named);
}

/** The engines of this machine, which can run the images of apps. */
const APP_ENGINES: readonly string[] = [AUTO, "docker", "podman"];

/**
 * Where apps run: commands on this machine, and images on an engine of it.
 * @param place what was asked for
 * @throws usageError for another runtime
 */
export function appPlace(
  { apps }: RequestedApps,
  { runtime, access }: Pick<RequestedPlace, "runtime" | "access">,
): Pick<RequestedPlace, "runtime" | "needsContainers"> {
  const shown = `--runtime ${runtime.slice(0, 60)}`;
  const ofImage = apps.find(({ image }) => image);
  if (ofImage) {
    if (access.docker)
      throw usageError("--hosts: images of apps run on this machine: leave it out");
    if (APP_ENGINES.includes(runtime)) return { runtime, needsContainers: true };
    throw usageError(
      `${shown}: the app ${ofImage.name} is an image: give --runtime docker or podman, or a command`,
    );
  }
  if (runtime === AUTO || runtime === "local") return { runtime: "local" };
  throw usageError(
    `${shown}: apps are started from commands of this machine: give --runtime local, or images`,
  );
}
