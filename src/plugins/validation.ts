import type { z } from "zod";
import { usageError } from "../kit/errors.js";
import type { Plugin } from "./plugin-types.js";
import type { PluginFiles } from "./source.js";

type Member<Kind extends keyof Plugin> = NonNullable<Plugin[Kind]>[number];

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
      typeof part === "number"
        ? `${text}[${part}]`
        : text
          ? `${text}.${String(part)}`
          : String(part),
    "",
  );
  throw usageError(
    `plugin ${plugin}: ${member ? `${member} ` : ""}${issue?.message ?? "is not valid"}`,
  );
}

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
 * The lists are read-only elsewhere: this only runs before anything reads them.
 * @param reserved other ids that would be ambiguous @throws usageError when the id is taken
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
