import { type Command, Option } from "commander";
import { definedOnly } from "../../kit/defined-only.js";
import { usageError } from "../../kit/errors.js";
import type { ApiSettings } from "../audit/api/api-settings.js";
import { parseCommand } from "../audit/api/commands.js";
import { parseExpectedOutage } from "../audit/api/outage-behaviour.js";
import type { AppSettings } from "../audit/api/started-app.js";
import { numberOf, several } from "./audit-flag-values.js";

const MOST_INSTANCES = 16;

/** The flags about an app that an audit starts, and about the store of an API. */
export const APP_FLAGS = [
  new Option(
    "--command <command>",
    "start this app at a free port, which PORT names; then --url is a path",
  ),
  new Option("--instances <number>", "start so many of it, with one quota (default: 1)"),
  new Option("--env <NAME=value>", "a variable of the app; never printed").argParser(several),
  new Option("--break <command>", "takes the API's store away"),
  new Option("--mend <command>", "brings it back"),
  new Option(
    "--expect <outage>",
    "what is right while it is away: open, closed or error; and remembered: a used-up quota lasts",
  ),
  new Option("--shell", "let /bin/sh read these commands"),
] as const;

interface Given {
  command?: string;
  instances?: string;
  env?: string[];
  break?: string;
  mend?: string;
  expect?: string;
  shell?: true;
}

/** What the flags say about the app and the store. @throws usageError */
export function appSettingsOf(command: Command): Pick<ApiSettings, "app" | "outage"> {
  const options = command.opts<Given>();
  return definedOnly({ app: appOf(options), outage: outageOf(options) });
}

function appOf({ command, instances, env = [], shell }: Given): AppSettings | undefined {
  if (command === undefined) {
    const flag = instances === undefined ? "--env" : "--instances";
    if (instances !== undefined || env.length > 0)
      throw usageError(`${flag} is about an app that the audit starts: give its --command, too`);
    return undefined;
  }
  return {
    command: parseCommand("--command", command, shell === true),
    instances: instances === undefined ? 1 : numberOf("--instances", instances, 1, MOST_INSTANCES),
    env: Object.fromEntries(env.map(parseVariable)),
  };
}

/** @throws usageError that does not show the value, which may be a secret */
function parseVariable(text: string): [string, string] {
  const { name, value = "" } = /^(?<name>[A-Za-z_]\w*)=(?<value>.*)$/s.exec(text)?.groups ?? {};
  if (name === undefined) throw usageError("--env: give NAME=value");
  if (name === "PORT") throw usageError("--env PORT: the audit chooses the port");
  return [name, value];
}

function outageOf(options: Given): ApiSettings["outage"] {
  const { mend, expect, shell } = options;
  if (options.break === undefined && mend === undefined) {
    if (expect !== undefined)
      throw usageError("--expect is about an outage: give --break and --mend, too");
    return undefined;
  }
  if (options.break === undefined || mend === undefined)
    throw usageError("--break and --mend: give both, so that the store comes back");
  return definedOnly({
    break: parseCommand("--break", options.break, shell === true),
    mend: parseCommand("--mend", mend, shell === true),
    expected: expect === undefined ? undefined : parseExpectedOutage(expect),
  });
}
