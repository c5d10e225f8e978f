import { z } from "zod";
import type { PrintedFigures } from "./index.js";

/** A count or a duration. */
export const amountSchema = z.number().min(0);

/** Quotes the beginning of a text for messages. */
export const quoted = (text: string): string => JSON.stringify(text.slice(0, 200));

/** @throws Error unless the text is JSON of that form */
export function jsonOf<Value>(text: string, schema: z.ZodType<Value>): Value {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new Error(
      text.trim() === "" ? "it printed nothing" : `it printed no figures: ${quoted(text)}`,
    );
  }

  const result = schema.safeParse(parsed);
  if (result.success) return result.data;
  const member = result.error.issues[0]?.path.join(".");
  throw new Error(`it printed no figures: ${member} in ${quoted(text)}`);
}

type Latency = PrintedFigures["latency"];

/** @param perMs units of the latencies in a millisecond */
export const inMilliseconds = (latency: Latency, perMs: number): Latency =>
  Object.fromEntries(
    Object.entries(latency).map(([name, value]) => [name, value / perMs]),
  ) as unknown as Latency;
