import { groups } from "../../targets/groups.js";
import { parseLimiterText, withLimiters } from "../../targets/resolve.js";
import type { Request } from "../request/request.js";

/** The texts of the requested targets: groups are expanded, and limiters combined with each target. */
export function targetTexts({ clients, limiters }: Pick<Request, "clients" | "limiters">): string[] {
  const named = limiters.map(parseLimiterText);
  return clients.flatMap((word) => groups[word] ?? [word]).flatMap((text) => withLimiters(text, named));
}
