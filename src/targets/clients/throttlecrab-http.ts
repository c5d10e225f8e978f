import { ownLibraries } from "../libraries.js";
import { readAnswer, type Throttle } from "../limiters/throttlecrab.js";
import type { ClientDescription } from "../types.js";
import { HTTP_PACKAGE, openHttpPool, postJson } from "./http-pool.js";
import { namedPort, withoutStore } from "./shard-keys.js";
import { throttlecrabGrpc } from "./throttlecrab-grpc.js";

const PATH = "/throttle";

export const throttlecrabHttp: ClientDescription = {
  ...throttlecrabGrpc,
  id: "throttlecrab-http",
  package: HTTP_PACKAGE,
  native: { kind: "http", path: PATH, port: "http" },
  autoPipelining: () => "HTTP/1.1 answers one request after the other on a connection",
  async open({ nodes: [node] }, { libraries = ownLibraries } = {}) {
    const pool = await openHttpPool(libraries, namedPort(node, "http"), "/health");
    const post = postJson(pool, PATH, "ThrottleCrab");
    const throttle: Throttle = async (request) => readAnswer(await post(request));
    return withoutStore({ ...pool, handle: throttle });
  },
};
