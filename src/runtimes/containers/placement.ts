import type { DockerHost, PlacedKind } from "../../contract/machines.js";
import type { Part } from "../types.js";

/** Services run beside the store; helpers, such as the probe, beside the server. */
export function placedKindOf({ kind, program }: Pick<Part, "kind" | "program">): PlacedKind {
  if (kind === "store" || kind === "service") return "store";
  if (kind === "generator" || (kind === undefined && program === "loadtest")) return "generator";
  return "server";
}

/** `store-3` → 2: roles of a kind take turns on its machines. */
const turnOf = (role: string): number => Math.max(0, Number(/-(\d+)$/.exec(role)?.[1] ?? 1) - 1);

export function hostOf<Host extends { spec: Pick<DockerHost, "name" | "roles"> | undefined }>(
  part: Pick<Part, "role" | "kind" | "program" | "machine">,
  hosts: readonly Host[],
): Host {
  const named = part.machine && hosts.find(({ spec }) => spec?.name === part.machine);
  if (named) return named;
  if (part.machine && hosts.some(({ spec }) => spec))
    throw new Error(`there is no machine ${part.machine} for ${part.role}`);
  const kind = placedKindOf(part);
  const own = hosts.filter(({ spec }) => spec === undefined || spec.roles.includes(kind));
  const host = own[turnOf(part.role) % own.length];
  if (!host) throw new Error(`no machine is for ${kind} roles`);
  return host;
}
