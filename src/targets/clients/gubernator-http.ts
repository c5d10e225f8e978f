import { ownLibraries } from "../libraries.js";
import { type GetRateLimits, HEALTH_PATH } from "../limiters/gubernator.js";
import type { ClientDescription } from "../types.js";
import { gubernatorGrpc } from "./gubernator-grpc.js";
import { HTTP_PACKAGE, openHttpPool, postJson } from "./http-pool.js";
import { namedPort, withoutStore } from "./shard-keys.js";

const PATH = "/v1/GetRateLimits";

export const gubernatorHttp: ClientDescription = {
  ...gubernatorGrpc,
  id: "gubernator-http",
  package: HTTP_PACKAGE,
  autoPipelining: () => "HTTP/1.1 answers one request after the other on a connection",
  async open({ nodes: [node] }, { libraries = ownLibraries } = {}) {
    const pool = await openHttpPool(libraries, namedPort(node, "http"), HEALTH_PATH);
    return withoutStore({ ...pool, handle: postJson(pool, PATH, "gubernator") satisfies GetRateLimits });
  },
};
