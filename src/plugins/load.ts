import { spawnSync } from "node:child_process";
import module from "node:module";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { messageOf, usageError } from "../contract/errors.js";
import { initialize, resolve } from "./hooks.js";
import { placeIn } from "./place.js";
import { type PluginSource, readPlugin } from "./source.js";

/** A plugin whose module was imported; what its members are is for those to check who know them. */
export interface LoadedPlugin extends PluginSource {
  members: Members;
}

const things = z.array(z.looseObject({}), "must be a list of descriptions");
const membersSchema = z
  .strictObject(
    {
      clients: things.optional(),
      limiters: things.optional(),
      options: things.optional(),
      traffic: things.optional(),
    },
    {
      error: ({ code, keys }) =>
        code === "unrecognized_keys"
          ? `has no member ${(keys as string[]).join(", ")}; valid: clients, limiters, options, traffic`
          : "must export an object, as default or as plugin",
    },
  )
  .refine((members) => Object.values(members).some((list) => (list ?? []).length > 0), "adds nothing");
export type Members = z.infer<typeof membersSchema>;

/** In the thread of the program itself where Node can (22.15), otherwise in one of its own. */
function resolveAlone(urls: readonly string[]): void {
  if (urls.length === 0) return;
  if (typeof module.registerHooks === "function") {
    initialize(urls);
    module.registerHooks({ resolve });
  } else module.register("./hooks.js", import.meta.url, { data: urls });
}

/** Node names the line of a syntax error only as it ends a process. Until all of it is parsed, no module runs. */
const printedBy = (url: string): string =>
  spawnSync(process.execPath, ["--input-type=module", "--eval", "await import(process.argv[1])", url], {
    encoding: "utf8",
    timeout: 10_000,
  }).stderr;

async function membersOf({ entry, shown }: PluginSource): Promise<Members> {
  const url = pathToFileURL(entry).href;
  let loaded: { default?: unknown; plugin?: unknown };
  try {
    loaded = await import(url);
  } catch (error) {
    // What a lone file imports is looked for from a file of ours, which it does not know.
    const why = messageOf(error)
      .split("\n")[0]
      ?.replace(/ imported from .*/, "");
    const stack = (error instanceof Error && error.stack) || "";
    const line =
      placeIn(stack, [shown]) ??
      (error instanceof SyntaxError ? placeIn(printedBy(url), [shown]) : undefined);
    throw usageError(`plugin ${line ?? shown} cannot be loaded: ${why}`, { cause: error });
  }
  return checked(shown, membersSchema, loaded.default ?? loaded.plugin);
}

/**
 * Loads the plugins at these paths, in order. Their libraries are not loaded, if they keep to `ClientDescription`.
 * @throws usageError naming the plugin and what is wrong
 */
export async function loadPlugins(paths: readonly string[]): Promise<LoadedPlugin[]> {
  const sources: PluginSource[] = [];
  for (const path of paths) sources.push(await readPlugin(path));
  resolveAlone(sources.filter(({ alone }) => alone).map(({ entry }) => pathToFileURL(entry).href));
  const plugins: LoadedPlugin[] = [];
  for (const source of sources) plugins.push({ ...source, members: await membersOf(source) });
  return plugins;
}

/**
 * A value that passes the schema, itself and no copy: its methods keep their object.
 * @throws usageError naming the plugin and the member
 */
export function checked<Value>(
  plugin: string,
  schema: z.ZodType<Value>,
  value: unknown,
  where: readonly PropertyKey[] = [],
): Value {
  const parsed = schema.safeParse(value);
  if (parsed.success) return value as Value;
  const issue = parsed.error.issues[0];
  const member = [...where, ...(issue?.path ?? [])].reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part),
    "",
  );
  throw usageError(`plugin ${plugin}: ${member ? `${member} ` : ""}${issue?.message ?? "is not valid"}`);
}
