/** Images of stores and services with their digests; null: not pinned. */
// biome-ignore format: the script reads and writes it line by line
export const imageDigests: Readonly<Record<string, string | null>> = {
  "envoyproxy/ratelimit:3fb70258": null,
  "lazureykis/throttlecrab:0.4.40": null,
  "memcached:1.6": "sha256:75c93cc91e76853da7c029e74d6e8dbd44774dd3713c93be8cd1971ad26120a4",
  "redis:8.0": null,
  "valkey/valkey:8.1": "sha256:495e4fecdc98ee48a20b207726caa5ab6451e0fac3642a9be10d9e70b3068df6",
};
