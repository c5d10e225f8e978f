import type { z } from "zod";

/** @returns undefined where the text is not JSON or does not fit the schema */
export function parseJson<Shape>(text: string, schema: z.ZodType<Shape>): Shape | undefined {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
