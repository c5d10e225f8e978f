import { z } from "zod";

export const VERSION_SCHEMA = "ratelimit-bench/version";
export const VERSION_SCHEMA_VERSION = 1;

const packageVersionSchema = z.strictObject({
  package: z.string(),
  version: z.string().optional(),
});
const packages = z.record(z.string(), packageVersionSchema);

const storeVersionSchema = z.strictObject({
  /** The program of the local runtime. It is absent if there is none. */
  program: z
    .strictObject({
      version: z.string(),
      path: z.string(),
      /** Whether the store's program came with the Python packages. */
      embedded: z.boolean(),
    })
    .optional(),
  reason: z.string().optional(),
  image: z.string().optional(),
});

/** The output of `ratelimit-bench version --json`; each part has the id that targets use. */
export const versionReportSchema = z.strictObject({
  schema: z.literal(VERSION_SCHEMA),
  schema_version: z.literal(VERSION_SCHEMA_VERSION),
  version: z.string(),
  node: z.string(),
  clients: packages,
  limiters: packages,
  stores: z.record(z.string(), storeVersionSchema),
  load_generator: packages,
  server: packages,
});
export type VersionReport = z.infer<typeof versionReportSchema>;
export type StoreVersion = VersionReport["stores"][string];
