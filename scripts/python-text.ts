import type { JsonSchema } from "./json-schema.js";

/** Room that a line of 100 characters leaves for a text inside of brackets. */
const LONGEST_TEXT = 80;

export const literal = (values: readonly unknown[]): string =>
  `Literal[${values.map((value) => JSON.stringify(value)).join(", ")}]`;

/** A type with bounds that msgspec checks. */
export const annotated = (type: string, bounds: readonly string[]): string =>
  bounds.length > 0 ? `Annotated[${type}, Meta(${bounds.join(", ")})]` : type;

/** @param rounded of a bound; whole numbers have whole bounds */
export const numberBounds = (
  schema: JsonSchema,
  rounded = (bound: number): number => bound,
): string[] => boundsOf(schema, { ge: "minimum", gt: "exclusiveMinimum", le: "maximum" }, rounded);

export const lengthBounds = (schema: JsonSchema, least: string, most: string): string[] =>
  boundsOf(schema, { min_length: least, max_length: most }, (bound) => bound);

function boundsOf(
  schema: JsonSchema,
  keywords: Readonly<Record<string, string>>,
  rounded: (bound: number) => number,
): string[] {
  const bounds: string[] = [];
  for (const [argument, keyword] of Object.entries(keywords)) {
    const bound = schema[keyword];
    if (typeof bound === "number") bounds.push(`${argument}=${rounded(bound)}`);
  }
  return bounds;
}

/** A raw string, in pieces that each fit a line: the formatter cannot break a text. */
export function rawString(text: string): string {
  // A backslash stays with what it escapes: a raw string cannot end with one.
  const units = text.match(/\\.|[^\\]/gs) ?? [];
  const pieces = [""];
  for (const unit of units) {
    const longer = `${pieces.at(-1)}${unit}`;
    if (longer.length > LONGEST_TEXT) pieces.push(unit);
    else pieces[pieces.length - 1] = longer;
  }
  return pieces.map((piece) => `r"${piece}"`).join(" ");
}
