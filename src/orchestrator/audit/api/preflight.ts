import { type BenchError, environmentError } from "../../../kit/errors.js";
import type { Answered } from "./api-answers.js";
import { shownUrl } from "./api-settings.js";
import type { AuditedApi } from "./audited-api.js";

const UNTRUSTED =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(?:VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT.*))$/;
const NOT_HTTP_1 = /^HPE_|NO_APPLICATION_PROTOCOL/;

/** Why no answer came, in words that say what to do. */
function unansweredText({ code = "", error = "no answer" }: Answered): string {
  if (code === "ECONNREFUSED") return "nobody listens there";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "its name has no address";
  if (code === "EPROTO") return "it speaks no TLS: give its address with http://";
  if (UNTRUSTED.test(code))
    return `its certificate is not trusted (${error}): name its authority with --ca FILE`;
  if (NOT_HTTP_1.test(code))
    return `its answer is no HTTP/1.1 (${error}): an API that speaks HTTP/2 alone cannot be audited`;
  return error;
}

/** Why an answer to the first request of a key leaves nothing to audit; undefined where it admits. */
export function unfitText(answer: Answered): string | undefined {
  const { status, headers, fate } = answer;
  if (status === null) return unansweredText(answer);
  if (fate === "admitted") return undefined;
  if (status >= 300 && status < 400)
    return `it answers ${status}, a redirect to ${shownLocation(headers.location)}, which is not followed: give that address`;
  if (status === 401 || status === 403)
    return `it answers ${status} to a first request, which says nothing about a limit: give credentials with --header`;
  if (fate === "denied")
    return `it denies the first request of a fresh key with ${status}: --key may be another, or its quota is used up`;
  return `it answers ${status} to a first request: give an address that answers 2xx`;
}

/** The address of a redirect without its query, which may hold credentials. */
const shownLocation = (location = "nowhere"): string => location.replace(/[?#].*$/s, "?…");

const unfit = (address: string, text: string): BenchError =>
  environmentError(`${address}: ${text}`);

/**
 * Sends a first request to each instance.
 * @throws environmentError where one does not answer as an API that can be audited
 */
export async function requireFitApi(api: AuditedApi): Promise<void> {
  const { url, instances } = api.settings;
  for (const address of [url, ...instances]) {
    const answer = await api.send(await api.freshKey(), { origin: address.origin });
    const text = unfitText(answer);
    if (text !== undefined) throw unfit(shownUrl(address), text);
  }
}
