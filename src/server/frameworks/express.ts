import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type BuildServer,
  type Handler,
  KEEP_ALIVE_MS,
  type WebRequest,
  type WebRoutes,
} from "./framework.js";

/** The members of Express's application that the server uses. */
export interface ExpressApp extends RequestListener {
  /** The prototype of all requests. */
  request: Partial<WebRequest>;
  get(path: string, ...handlers: Handler[]): void;
  use(handler: unknown): void;
}

export const buildExpress: BuildServer = async (routes, { logLevel, load }) => {
  const { default: express } = await load<{ default: () => ExpressApp }>("express");
  const app = express();
  addRoutes(app, routes, logLevel);
  return serverOf(createServer(app));
};

/** Adds what the server answers to an application. */
function addRoutes(app: ExpressApp, routes: WebRoutes, logLevel: string): void {
  // On the prototype, so that no request pays for it.
  Object.assign(app.request, { log: loggerOf(logLevel) });
  for (const [path, handler] of Object.entries({ ...routes.limited, ...routes.open })) app.get(path, handler);
  app.use(routes.notFound);
  // Express takes a function of four parameters for the handler of errors.
  app.use((error: Error, request: WebRequest, reply: Parameters<Handler>[1], _next: unknown) =>
    routes.onError(error, request, reply),
  );
}

/** To standard error: standard output contains one line, the address. */
const loggerOf = (level: string): WebRequest["log"] => ({
  error: level === "silent" ? () => undefined : (error) => console.error(error),
});

/** Node's own server, with the settings that Fastify's has. */
function serverOf(server: Server) {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.requestTimeout = 0;
  return {
    server,
    listen: (address: { host: string; port: number }) =>
      new Promise<string>((resolve, reject) => {
        server.once("error", reject);
        server.listen(address, () => {
          const { address: host, port, family } = server.address() as AddressInfo;
          resolve(`http://${family === "IPv6" ? `[${host}]` : host}:${port}`);
        });
      }),
    /** Node closes idle connections with it. */
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
