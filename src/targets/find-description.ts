import { isApp } from "../contract/app.js";
import { appClient } from "./apps.js";
import { clients } from "./clients/index.js";
import { findKnown } from "./did-you-mean.js";
import { type FrameworkDescription, frameworks } from "./frameworks.js";
import { limiters } from "./limiters/index.js";
import { options } from "./options.js";
import { stores } from "./stores/index.js";
import type {
  ClientDescription,
  LimiterDescription,
  OptionDescription,
  StoreDescription,
} from "./target-types.js";

/** Each finds a description by its id. @throws usageError that names what is near */

export const findClient = (id: string): ClientDescription =>
  isApp({ client: id }) ? appClient(id) : findKnown("client", clients, id);

/** Whether there is such a client, or an app may have that id. */
export const isClientId = (id: string): boolean =>
  isApp({ client: id }) || clients.some((client) => client.id === id);

export const findStore = (id: string): StoreDescription => findKnown("store", stores, id);

export const findLimiter = (id: string): LimiterDescription => findKnown("limiter", limiters, id);

export const findFramework = (id: string): FrameworkDescription =>
  findKnown("framework", frameworks, id);

/** @param id that of an option, or one of a family of options */
export const findOption = (id: string): OptionDescription =>
  options.find(({ pattern }) => pattern?.test(id)) ?? findKnown("option", options, id);
