import { z } from "zod";
import { FILE_SETTINGS } from "./settings.js";

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** What a campaign file may hold: the flags' names as keys, a value or a list of values each. */
export function campaignFileSchema() {
  const members = FILE_SETTINGS.map(({ key, value, help }) => {
    const type = value ? z.union([scalar, z.array(scalar)]) : z.boolean();
    return [key, type.optional().describe(help)] as const;
  });
  return z.strictObject(Object.fromEntries(members)).meta({ title: "A campaign of ratelimit-bench" });
}
