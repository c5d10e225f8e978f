/** The contract of targets: the descriptions that a target is put together from, a file a kind. */
export * from "./client-types.js";
export type { Libraries } from "./libraries.js";
export * from "./limiter-types.js";
export * from "./open-client.js";
export * from "./option-types.js";
export * from "./service-types.js";
export * from "./store-engine.js";
export * from "./store-types.js";
