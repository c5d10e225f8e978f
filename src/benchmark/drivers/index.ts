import type { DriverLayer } from "../../contract/layers.js";

import type { Driver } from "./driver.js";

/**
 * All drivers by layer. A driver is loaded when it is used, so that HTTP load does not load the
 * library of a store's client.
 */
const drivers: Readonly<Record<DriverLayer, () => Promise<Driver>>> = {
  server: async () => (await import("./http/http-driver.js")).httpDriver,
  limiter: async () => (await import("./limiter/limiter-driver.js")).limiterDriver,
};

export const loadDriver = (layer: DriverLayer): Promise<Driver> => drivers[layer]();
