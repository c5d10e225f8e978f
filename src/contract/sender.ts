import { z } from "zod";
import { usageError } from "./errors.js";

const ms = z.number().min(0);

/** When the first group is sent, by the sender's clock; absent: at once. */
const beginSchema = z.union([
  z.strictObject({ at_ms: ms }),
  /** The next moment that lies `offset_ms` behind a multiple of `every_ms` since 1970. */
  z.strictObject({ every_ms: z.number().min(1), offset_ms: ms }),
]);

/** Requests that are sent at once. */
const requestGroupSchema = z.strictObject({
  /** Since the first group. */
  after_ms: ms.max(600_000),
  /** The `userId`s of each request; without any, the server takes the sender's address. */
  keys: z.array(z.string().max(200_000)).max(64),
  count: z.int().min(1).max(10_000),
  /** Of clients behind a proxy, which the requests name in turn. */
  addresses: z.array(z.ipv6()).min(1).max(1_000).optional(),
  /** It is not sent before all earlier requests are answered. */
  waits: z.literal(true).optional(),
});
export type RequestGroup = z.infer<typeof requestGroupSchema>;

/** One line on the standard input of the sender, which answers with one line, a `SenderReport`. */
const senderRequestSchema = z.strictObject({
  /** Base addresses; the requests of a group go to them in turn. */
  servers: z.array(z.url()).min(1).max(64),
  begin: beginSchema.optional(),
  groups: z.array(requestGroupSchema).min(1).max(10_000),
  /** A request that takes longer has failed. */
  timeout_ms: ms.max(600_000),
});
export type SenderRequest = z.infer<typeof senderRequestSchema>;

/** What became of one request. Times are milliseconds since 1970, by the sender's clock, which never goes back. */
const sentRequestSchema = z.strictObject({
  /** Index of its group. */
  group: z.int().min(0),
  /** Index of its server. */
  server: z.int().min(0),
  sent_ms: ms,
  answered_ms: ms,
  /** The status of the answer; null where none came. */
  status: z.int().nullable(),
  /** Why no answer came. */
  error: z.string().max(300).optional(),
  /** Those about limits, in lower case; absent without any. */
  headers: z.record(z.string(), z.string()).optional(),
});
export type SentRequest = z.infer<typeof sentRequestSchema>;

/** All requests of one line, in the order in which they were sent. */
export const senderReportSchema = z.strictObject({ requests: z.array(sentRequestSchema) });
export type SenderReport = z.infer<typeof senderReportSchema>;

/** @throws usageError naming the member that is wrong */
export function parseSenderRequest(line: string): SenderRequest {
  try {
    return senderRequestSchema.parse(JSON.parse(line));
  } catch (error) {
    const issue = error instanceof z.ZodError ? error.issues[0] : undefined;
    const reason = issue ? `${issue.path.join(".")}: ${issue.message}` : "it is not JSON";
    throw usageError(`not a request to the sender: ${reason}`);
  }
}
