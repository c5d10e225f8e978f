/** Stores' and services' images with the registry's digests, as last measured; null: not pinned. */
// biome-ignore format: the script reads and writes it line by line
export const imageDigests: Readonly<Record<string, string | null>> = {
  "envoyproxy/ratelimit:3fb70258": null,
  "lazureykis/throttlecrab:0.4.40": null,
  "memcached:1.6": null,
  "redis:8.0": null,
  "valkey/valkey:8.1": null,
};
