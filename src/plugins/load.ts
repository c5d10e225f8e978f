import { spawnSync } from "node:child_process";
import module from "node:module";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { messageOf, usageError } from "../kit/errors.js";
import { readUserFile } from "../kit/user-files.js";
import { decodeTrace, TRACE_EXTENSION, traceProfile } from "../traffic/trace.js";
import { errorLocation } from "./error-location.js";
import { initialize, resolve } from "./hooks.js";
import { type Plugin, pluginShape } from "./plugin-types.js";
import { MAX_BYTES, type PluginFiles, readPlugin } from "./source.js";
import { checked } from "./validation.js";

/**
 * Returns the traffic of a trace that a campaign wrote for its programs.
 * @throws usageError where the file is something else
 */
export function tracePlugin(source: PluginFiles) {
  try {
    const trace = decodeTrace(readUserFile(source.entry, MAX_BYTES));
    const identity = { ...source.identity, trace: trace.summary };
    return { ...source, identity, members: { traffic: [{ ...traceProfile(trace) }] } };
  } catch (error) {
    throw usageError(
      `plugin ${source.displayName} cannot be loaded: ${messageOf(error)}; give a log with --trace`,
      { cause: error },
    );
  }
}

/** A plugin whose module was imported. Its members are checked when they are registered. */
export interface LoadedPlugin extends PluginFiles {
  members: Plugin;
}

const membersSchema = z
  .strictObject(pluginShape, {
    error: ({ code, keys }) =>
      code === "unrecognized_keys"
        ? `has no member ${(keys as string[]).join(", ")}; valid: ${Object.keys(pluginShape).join(", ")}`
        : "must export an object, as default or as plugin",
  })
  .refine(
    (members) => Object.values(members).some((list) => (list ?? []).length > 0),
    "adds nothing",
  );

/** Installs the hooks in this thread where Node can (22.15), otherwise in a thread of their own. */
function installHooks(urls: readonly string[]): void {
  if (urls.length === 0) return;
  if (typeof module.registerHooks === "function") {
    initialize(urls);
    module.registerHooks({ resolve });
  } else module.register("./hooks.js", import.meta.url, { data: urls });
}

/**
 * Returns the output of Node for a module with a syntax error. Node names the line only when the
 * error ends a process. No code of the module runs.
 */
const syntaxErrorOutput = (url: string): string =>
  spawnSync(
    process.execPath,
    ["--input-type=module", "--eval", "await import(process.argv[1])", url],
    {
      encoding: "utf8",
      timeout: 10_000,
    },
  ).stderr;

/** Imports the module of a plugin, or reads its trace. */
async function loaded(source: PluginFiles): Promise<LoadedPlugin> {
  return source.entry.endsWith(TRACE_EXTENSION)
    ? tracePlugin(source)
    : { ...source, members: await membersOf(source) };
}

async function membersOf({ entry, displayName }: PluginFiles): Promise<Plugin> {
  const url = pathToFileURL(entry).href;

  let loaded: { default?: unknown; plugin?: unknown };
  try {
    loaded = await import(url);
  } catch (error) {
    // The importing file is left out, because for a plugin of one file it is one of ours.
    const reason = messageOf(error)
      .split("\n")[0]
      ?.replace(/ imported from .*/, "");
    const stack = (error instanceof Error && error.stack) || "";
    const line =
      errorLocation(stack, [displayName]) ??
      (error instanceof SyntaxError
        ? errorLocation(syntaxErrorOutput(url), [displayName])
        : undefined);
    throw usageError(`plugin ${line ?? displayName} cannot be loaded: ${reason}`, { cause: error });
  }

  return checked(displayName, membersSchema, loaded.default ?? loaded.plugin);
}

/** Loads plugins in their order. @throws usageError */
export async function loadPlugins(paths: readonly string[]): Promise<LoadedPlugin[]> {
  const sources: PluginFiles[] = [];
  for (const path of paths) sources.push(await readPlugin(path));
  const modules = sources.filter(
    ({ isSingleFile, entry }) => isSingleFile && !entry.endsWith(TRACE_EXTENSION),
  );
  installHooks(modules.map(({ entry }) => pathToFileURL(entry).href));

  const plugins: LoadedPlugin[] = [];
  for (const source of sources) plugins.push(await loaded(source));
  return plugins;
}
