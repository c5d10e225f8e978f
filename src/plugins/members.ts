import { z } from "zod";

/** Of whatever parameters: those cannot be seen from outside. */
export const functionSchema = z.custom<(...parameters: never[]) => unknown>(
  (value) => typeof value === "function",
  "must be a function",
);

export const lineSchema = z.string().regex(/^[^\n]{1,200}$/, "must be one line of at most 200 characters");
