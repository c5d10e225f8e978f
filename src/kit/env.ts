import { z } from "zod";
import { usageError } from "./errors.js";

export type Environment = Readonly<Record<string, string | undefined>>;

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .refine((text) => Number(text) >= min && Number(text) <= max, `must be from ${min} to ${max}`);

export const decimalNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}(\.\d{1,6})?$/, `must be a number from ${min} to ${max}`)
    .refine((text) => Number(text) >= min && Number(text) <= max, `must be from ${min} to ${max}`);

export const decimalOrAuto = (min: number, max: number) =>
  z
    .string()
    .refine(
      (text) => text === "auto" || decimalNumber(min, max).safeParse(text).success,
      `must be a number from ${min} to ${max}, or auto`,
    );

export const wholeOrAuto = (min: number, max: number) =>
  z
    .string()
    .refine(
      (text) => text === "auto" || wholeNumber(min, max).safeParse(text).success,
      `must be a whole number from ${min} to ${max}, or auto`,
    );

export const switchText = z.enum(["true", "false", "1", "0"], "must be true or false");

/** A schema of host names and addresses, without white space and the leading dash of an option. */
export const hostText = z
  .string()
  .regex(/^(?!-)[0-9A-Za-z._:-]{1,253}$/, "must be a host name or an address");

export const nodesText = z
  .string()
  .regex(
    /^[0-9A-Za-z._-]{1,253}:\d{1,5}(,[0-9A-Za-z._-]{1,253}:\d{1,5})*$/,
    "must be host:port, comma-separated",
  );

/** The place where a node of a store, or another program, listens. */
export interface NodePlace {
  host: string;
  port: number;
  /** Further ports by name, for a program that listens on several. */
  ports?: Readonly<Record<string, number>> | undefined;
}

export function parseNodes(text: string): NodePlace[] {
  return text.split(",").map((node) => {
    const colon = node.lastIndexOf(":");
    return { host: node.slice(0, colon), port: Number(node.slice(colon + 1)) };
  });
}

export const formatNodes = (nodes: readonly NodePlace[]): string =>
  nodes.map(({ host, port }) => `${host}:${port}`).join(",");

export const isOn = (text: string | undefined): boolean => text === "true" || text === "1";

/**
 * Validates the variables in `shape`, of which an empty one counts as unset.
 * @throws usageError in one line
 */
export function readEnv<Shape extends z.ZodRawShape>(
  shape: Shape,
  env: Environment,
): z.infer<z.ZodObject<Shape>> {
  const present = Object.keys(shape).flatMap((name) => (env[name] ? [[name, env[name]]] : []));
  const parsed = z.object(shape).safeParse(Object.fromEntries(present));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const name = String(issue?.path[0] ?? "");
  const value = env[name] === undefined ? "" : `=${JSON.stringify(env[name]?.slice(0, 60))}`;
  throw usageError(`${name}${value} ${issue?.message ?? "is not valid"}`);
}

/**
 * A request from a line of JSON on the standard input of a program.
 * @throws usageError that names the wrong member
 */
export function parseRequest<Request>(
  program: string,
  schema: z.ZodType<Request>,
  line: string,
): Request {
  try {
    return schema.parse(JSON.parse(line));
  } catch (error) {
    const issue = error instanceof z.ZodError ? error.issues[0] : undefined;
    const reason = issue ? `${issue.path.join(".")}: ${issue.message}` : "it is not JSON";
    throw usageError(`not a request to the ${program}: ${reason}`);
  }
}
