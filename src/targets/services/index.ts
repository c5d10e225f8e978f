import { findKnown } from "../did-you-mean.js";
import type { ServiceDescription } from "../target-types.js";
import { envoyRatelimit } from "./envoy-ratelimit/index.js";

/** Services that decide beside the store. Each has a folder, and a line here. */
export const services: readonly ServiceDescription[] = [envoyRatelimit];

export const findService = (id: string): ServiceDescription => findKnown("service", services, id);
