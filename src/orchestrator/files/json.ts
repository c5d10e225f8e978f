import type { z } from "zod";

export function parseJson<Shape>(text: string, schema: z.ZodType<Shape>): Shape | undefined {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
