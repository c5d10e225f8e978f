import { groups } from "../../targets/groups.js";
import { parseLimiterText, withFrameworks, withLimiters } from "../../targets/resolve.js";
import type { Request } from "../request/request.js";

/** The texts of the requested targets: groups are expanded, and limiters and frameworks combined with each target. */
export function targetTexts({
  clients,
  limiters,
  frameworks,
}: Pick<Request, "clients" | "limiters" | "frameworks">): string[] {
  const named = limiters.map(parseLimiterText);
  return clients
    .flatMap((word) => groups[word] ?? [word])
    .flatMap((text) => withLimiters(text, named))
    .flatMap((text) => withFrameworks(text, frameworks));
}
