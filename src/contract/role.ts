import { z } from "zod";

/**
 * The purposes of what a run starts. Caps, counters, evidence, charts and CSV columns go by them.
 */
const roleKinds = ["server", "service", "store", "generator", "helper"] as const;
export type RoleKind = (typeof roleKinds)[number];

/**
 * The kinds that are measured, in the order in which reports list them. A helper is not measured.
 */
export const measuredKinds = [
  "server",
  "service",
  "store",
  "generator",
] as const satisfies readonly RoleKind[];
export type MeasuredKind = (typeof measuredKinds)[number];
export const measuredKindSchema = z.enum(measuredKinds);

export const roleId = (kind: RoleKind, number: number): string => `${kind}-${number}`;
