/**
 * The kinds of defects that an audit of an API tells apart. A recommendation belongs to a kind, so a
 * new kind is one line here.
 */
export const apiDefects = [
  "never-active",
  "off-by-one",
  "other-quota",
  "counts-late",
  "denied-status",
  "keys-share-a-quota",
  "keys-merged",
  "key-unlimited",
  "quota-per-connection",
  "quota-per-instance",
  "quota-per-address",
  "renewed-by-forwarding-header",
  "renewed-by-path",
  "renewed-by-letter-case",
  "renewed-by-query",
  "renewed-by-method",
  "renewed-by-other-path",
  "routes-share-a-key",
  "double-at-edge",
  "returns-early",
  "returns-late",
  "rate-too-high",
  "rate-too-low",
  "retry-after-in-ms",
  "retry-after-too-short",
  "retry-after-in-the-past",
  "retry-after-too-long",
  "quota-headers-untrue",
  "denial-runs-handler",
] as const;
export type ApiDefect = (typeof apiDefects)[number];
