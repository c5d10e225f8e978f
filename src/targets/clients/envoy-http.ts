import { ownLibraries } from "../libraries.js";
import { type EnvoyHandle, requireService } from "../limiters/envoy-ratelimit.js";
import { domainOf, HEALTH_PATH, JSON_PATH } from "../services/envoy-ratelimit/index.js";
import type { ClientDescription } from "../types.js";
import { envoyGrpc } from "./envoy-grpc.js";
import { HTTP_PACKAGE, openHttpPool, postJson } from "./http-pool.js";
import { withoutStore } from "./shard-keys.js";

/** A denial comes with 429; every other status is a bad request or a failed store. */
const DECIDED: readonly number[] = [200, 429];

export const envoyHttp: ClientDescription = {
  ...envoyGrpc,
  id: "envoy-http",
  package: HTTP_PACKAGE,
  native: { kind: "http", path: JSON_PATH },
  async open(place, { libraries = ownLibraries } = {}) {
    const service = requireService(place);
    const pool = await openHttpPool(libraries, service, HEALTH_PATH);
    const handle: EnvoyHandle = {
      domain: domainOf(service.nonce),
      decide: postJson(pool, JSON_PATH, "the service", DECIDED),
    };
    return withoutStore({ ...pool, handle });
  },
};
