import { createRequire } from "node:module";
import type { GeneratorRunSpec } from "../../../contract/generator-env.js";
import { findWorkload } from "../../../traffic/lookup.js";
import { versionIn } from "../../versions.js";
import type { Driver } from "../driver.js";
import { httpChannels } from "./channel.js";
import { startLoopbackServer } from "./loopback-server.js";
import { connectionsTo } from "./requests.js";

const require = createRequire(import.meta.url);

const endpointsOf = ({ generator }: GeneratorRunSpec): URL[] =>
  generator.servers.map(({ url }) => new URL(url + findWorkload(generator.workload.id).path));

const codeText = (status: number): string => String(status).padStart(3, "0");

/** HTTP/1.1 to one server or several. The closed loop is autocannon's. */
export const httpDriver: Driver = {
  id: "server",
  codeText,
  endpoint: (spec) =>
    endpointsOf(spec)
      .map(({ host }) => host)
      .join(", "),
  versions: () => ({ autocannon: versionIn(require.resolve("autocannon/package.json")) }),
  async open(spec) {
    const endpoints = endpointsOf(spec);
    const { load, timeout_s } = spec.generator;
    const open = {
      openChannels: (requests) => httpChannels(connectionsTo(endpoints, requests)),
      startLoopback: startLoopbackServer,
      close: async () => undefined,
    } satisfies Awaited<ReturnType<Driver["open"]>>;
    if (load.model === "open") return open;
    const { AutocannonConnections } = await import("./autocannon-connections.js");
    return {
      ...open,
      closedConnections: (requests) =>
        new AutocannonConnections(connectionsTo(endpoints, requests), timeout_s),
    };
  },
};
