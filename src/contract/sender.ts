import { z } from "zod";
import { parseRequest } from "../kit/env.js";

const ms = z.number().min(0);

/** When the first group is sent, by the sender's clock; by default at once. */
const beginSchema = z.union([
  z.strictObject({ at_ms: ms }),
  /** The next moment that lies `offset_ms` behind a multiple of `every_ms` since 1970. */
  z.strictObject({ every_ms: z.number().min(1), offset_ms: ms }),
]);

const requestGroupSchema = z.strictObject({
  after_ms: ms.max(600_000),
  /** The `userId`s of each request; without any, the server takes the sender's address. */
  keys: z.array(z.string().max(200_000)).max(64),
  count: z.int().min(1).max(10_000),
  /** Addresses of clients behind a proxy. The requests name them in turn. */
  addresses: z.array(z.ipv6()).min(1).max(1_000).optional(),
  /** Whether the group is not sent before all earlier requests are answered. */
  waits: z.literal(true).optional(),
});
export type RequestGroup = z.infer<typeof requestGroupSchema>;

/** One line on the standard input of the sender, which answers with one line, a `SenderReport`. */
const senderRequestSchema = z.strictObject({
  servers: z.array(z.url()).min(1).max(64),
  begin: beginSchema.optional(),
  groups: z.array(requestGroupSchema).min(1).max(10_000),
  timeout_ms: ms.max(600_000),
});
export type SenderRequest = z.infer<typeof senderRequestSchema>;

/**
 * What became of one request. Times are milliseconds since 1970 by the sender's clock, which never
 * goes back.
 */
const sentRequestSchema = z.strictObject({
  group: z.int().min(0),
  server: z.int().min(0),
  sent_ms: ms,
  answered_ms: ms,
  status: z.int().nullable(),
  /** Why no answer came. */
  error: z.string().max(300).optional(),
  /** The headers about limits, in lower case. They are absent without any. */
  headers: z.record(z.string(), z.string()).optional(),
});
export type SentRequest = z.infer<typeof sentRequestSchema>;

export const senderReportSchema = z.strictObject({ requests: z.array(sentRequestSchema) });
export type SenderReport = z.infer<typeof senderReportSchema>;

export const parseSenderRequest = (line: string): SenderRequest =>
  parseRequest("sender", senderRequestSchema, line);
