import { z } from "zod";
import { withThousands } from "../kit/numbers.js";

interface LayerDescription {
  id: string;
  hint: string;
  request: "request" | "decision" | "operation";
  /** What sends the work to the store. Without servers no endpoint is called. */
  consumer: "server" | "client" | "program";
}

/**
 * The layers at which the load can enter. Layers are never ranked with each other. Plans and report
 * follow this list.
 */
export const layers = [
  { id: "server", hint: "over HTTP, through the server", request: "request", consumer: "server" },
  {
    id: "limiter",
    hint: "decisions alone, without a server",
    request: "decision",
    consumer: "client",
  },
  {
    id: "store",
    hint: "plain commands, by valkey-benchmark or redis-benchmark",
    request: "operation",
    consumer: "program",
  },
] as const satisfies readonly LayerDescription[];

export type Layer = (typeof layers)[number]["id"];
export const layerIds: readonly Layer[] = layers.map(({ id }) => id);
export const layerSchema = z.enum(layerIds);

export type DriverLayer = Exclude<(typeof layers)[number], { consumer: "program" }>["id"];
export const driverLayerIds = layers.flatMap(({ id, consumer }) =>
  consumer === "program" ? [] : [id],
);
export const driverLayerSchema = z.enum(driverLayerIds);

export const layerDescription = (id: Layer): LayerDescription =>
  layers.find((layer) => layer.id === id) as LayerDescription;

export const isClientLayer = (id: Layer): boolean => layerDescription(id).consumer === "client";

/** Whether a load program sends plain commands to the store. */
export const isProgramLayer = (id: Layer): boolean => layerDescription(id).consumer === "program";

/**
 * Describes how much goes on at the same time, e.g. `1 connection`, or `50 at a time` at a layer
 * without servers.
 */
export function connectionsText(layer: Layer, count: number): string {
  if (isClientLayer(layer)) return `${withThousands(count)} at a time`;
  return `${withThousands(count)} connection${count === 1 ? "" : "s"}`;
}
