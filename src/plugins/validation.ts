import type { z } from "zod";
import { usageError } from "../kit/errors.js";
import type { Plugin } from "./plugin-types.js";
import type { PluginFiles } from "./source.js";

type Member<Kind extends keyof Plugin> = NonNullable<Plugin[Kind]>[number];

/**
 * Returns a value that fits a schema.
 * @throws usageError naming plugin and member where it does not
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
  const member = memberText([...where, ...(issue?.path ?? [])]);
  throw usageError(
    `plugin ${plugin}: ${member ? `${member} ` : ""}${issue?.message ?? "is not valid"}`,
  );
}

/** Returns the path of a member of a document as code writes it, e.g. `clients[0].id`. */
function memberText(path: readonly PropertyKey[]): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text ? `.${String(part)}` : String(part);
  }
  return text;
}

/** Checks and registers all members of a kind, plugin by plugin. @throws usageError */
export function forEachMember<Kind extends keyof Plugin>(
  plugins: readonly (PluginFiles & { members: Plugin })[],
  kind: Kind,
  schema: z.ZodType,
  register: (name: string, member: Member<Kind>, where: readonly PropertyKey[]) => void,
): void {
  for (const { displayName, members } of plugins) {
    for (const [index, member] of (members[kind] ?? []).entries()) {
      checked(displayName, schema, member, [kind, index]);
      register(displayName, member, [kind, index]);
    }
  }
}

/**
 * Adds a plugin's part to a list of the project. The lists are read-only elsewhere, because this
 * only runs before anything reads them.
 * @param reserved other ids that would be ambiguous
 * @throws usageError when the id is taken
 */
export function addToList<Thing extends { id: string }>(
  plugin: string,
  kind: string,
  list: readonly Thing[],
  thing: Thing,
  reserved: readonly string[] = [],
): void {
  if ([...list.map(({ id }) => id), ...reserved].includes(thing.id))
    throw usageError(
      `plugin ${plugin}: the ${kind} ${thing.id} exists already: give yours another id`,
    );
  (list as Thing[]).push(thing);
}
