import type { z } from "zod";

const MOST_SHOWN = 100;

const memberOf = (answer: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, name) => (value as Record<PropertyKey, unknown> | undefined)?.[name],
    answer,
  );

/**
 * The answer of another program, if it fits a schema.
 * @throws Error in one line that names the member and its value
 */
export function fitted<Value>(schema: z.ZodType<Value>, answer: unknown): Value {
  const { data, error } = schema.safeParse(answer);
  if (!error) return data;
  const { path = [], message = "it does not fit" } = error.issues[0] ?? {};
  const member = path.join(".") || "the answer";
  const value = memberOf(answer, path);
  if (typeof value === "object" && value !== null) throw new Error(`${member}: ${message}`);
  throw new Error(`${member} is ${shown(value)}: ${message}`);
}

const shown = (value: unknown): string =>
  value === undefined ? "missing" : JSON.stringify(value).slice(0, MOST_SHOWN);

/** The answer of another program in JSON, if it fits a schema. @throws Error in one line */
export function parseAnswer<Value>(schema: z.ZodType<Value>, text: string): Value {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Error(text.trim() === "" ? "it is empty" : `it is not JSON: ${shown(text)}`);
  }
  return fitted(schema, answer);
}
