import { ownLibraries } from "../libraries.js";
import { type EnvoyHandle, type RateLimitResponse, requireService } from "../limiters/envoy-ratelimit.js";
import { CONNECTIONS, domainOf, HEALTH_PATH, JSON_PATH } from "../services/envoy-ratelimit/index.js";
import type { ClientDescription } from "../types.js";
import { envoyGrpc } from "./envoy-grpc.js";
import { HTTP_PACKAGE, openHttpPool } from "./http-pool.js";
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
    const pool = await openHttpPool(libraries, service, HEALTH_PATH, CONNECTIONS);
    const handle: EnvoyHandle = {
      domain: domainOf(service.nonce),
      async decide(request) {
        const { status, text } = await pool.post(JSON_PATH, JSON.stringify(request));
        if (DECIDED.includes(status)) return JSON.parse(text) as RateLimitResponse;
        throw new Error(`the service answered ${status}: ${text.trim().slice(0, 200)}`);
      },
    };
    return withoutStore({ ...pool, handle });
  },
};
