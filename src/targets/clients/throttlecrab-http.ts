import { ownLibraries } from "../libraries.js";
import { readAnswer, type Throttle } from "../limiters/throttlecrab.js";
import type { ClientDescription } from "../types.js";
import { HTTP_PACKAGE, openHttpPool } from "./http-pool.js";
import { withoutStore } from "./shard-keys.js";
import { throttlecrabGrpc } from "./throttlecrab-grpc.js";

const CONNECTIONS = 10;
const PATH = "/throttle";

export const throttlecrabHttp: ClientDescription = {
  ...throttlecrabGrpc,
  id: "throttlecrab-http",
  package: HTTP_PACKAGE,
  native: { kind: "http", path: PATH, port: "http" },
  autoPipelining: () => "HTTP/1.1 answers one request after the other on a connection",
  async open({ nodes: [node] }, { libraries = ownLibraries } = {}) {
    const port = node?.ports?.http;
    if (!node || port === undefined) throw new Error("no port for HTTP was given");
    const pool = await openHttpPool(libraries, { host: node.host, port }, "/health", CONNECTIONS);
    const throttle: Throttle = async (request) => {
      const { status, text } = await pool.post(PATH, JSON.stringify(request));
      if (status !== 200) throw new Error(`ThrottleCrab answered ${status}: ${text.slice(0, 100)}`);
      return readAnswer(JSON.parse(text));
    };
    return withoutStore({ ...pool, handle: throttle });
  },
};
