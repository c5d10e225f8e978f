import { messageOf } from "../../kit/errors.js";
import { parsedJson } from "../json.js";

/** What the cluster answered, or that it did not answer. */
export class KubernetesError extends Error {
  override readonly name = "KubernetesError";
  /** The HTTP status; undefined where there was no answer. */
  readonly status: number | undefined;
  /** What was asked, e.g. `create pods`. */
  readonly request: string;

  constructor(request: string, text: string, status?: number, options?: ErrorOptions) {
    super(text, options);
    this.request = request;
    this.status = status;
  }
}

export const hasApiStatus = (error: unknown, status: number): boolean =>
  error instanceof KubernetesError && error.status === status;

/** The library throws a text with headers and body; the body has the sentence. */
export function toKubernetesError(request: string, error: unknown): KubernetesError {
  if (error instanceof KubernetesError) return error;
  const { code, body, statusCode } = error as {
    code?: unknown;
    body?: unknown;
    statusCode?: unknown;
  };
  const parsed = typeof body === "string" ? parsedJson(body) : body;
  const { message } = (parsed ?? {}) as { message?: string };
  // A refused WebSocket tells its status only in its message.
  const refused = /Unexpected server response: (\d+)/.exec(messageOf(error))?.[1];
  const status = [code, statusCode, refused]
    .map(Number)
    .find((value) => value >= 100 && value < 600);
  const text = message ?? messageOf(error).split("\n")[0] ?? "";
  return new KubernetesError(request, text, status, { cause: error });
}
