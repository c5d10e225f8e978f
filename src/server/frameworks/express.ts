import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type BuildServer,
  KEEP_ALIVE_MS,
  type WebReply,
  type WebRequest,
  type WebRoutes,
} from "./framework.js";

/** The members of Express's application that the server uses. */
export interface ExpressApp extends RequestListener {
  request: Partial<WebRequest>;
  set(setting: string, value: unknown): void;
  get(path: string, ...handlers: unknown[]): void;
  use(handler: unknown): void;
}

export const buildExpress: BuildServer = async (routes, { logLevel, load, trustProxy = false }) => {
  const { default: express } = await load<{ default: () => ExpressApp }>("express");
  const app = express();
  app.set("trust proxy", trustProxy);
  await addRoutes(app, routes, logLevel);
  return serverOf(createServer(app));
};

/** Adds what the server answers to an application. */
async function addRoutes(app: ExpressApp, routes: WebRoutes, logLevel: string): Promise<void> {
  giveLog(app, logLevel);
  const { hook } = routes;
  const middlewares: unknown[] = [];
  await hook?.install({ use: (middleware: unknown) => middlewares.push(middleware) }, hook);
  const errorHandlers = hook ? [errorHandler(hook.onError)] : [];
  for (const [path, handler] of Object.entries(routes.limited))
    app.get(path, ...middlewares, handler, ...errorHandlers);
  for (const [path, handler] of Object.entries(routes.open)) app.get(path, handler);
  app.use(routes.notFound);
  app.use(errorHandler(routes.onError));
}

/** Answers to errors. Express recognises a handler of errors by its four parameters. */
const errorHandler =
  (handle: WebRoutes["onError"]) =>
  (error: Error, request: WebRequest, reply: WebReply, _next: unknown): void =>
    handle(error, request, reply);

/** Puts the log on the prototype of requests, so that no request pays for it. */
export function giveLog({ request }: Pick<ExpressApp, "request">, logLevel: string): void {
  Object.assign(request, { log: loggerOf(logLevel) });
}

/** Returns a log on standard error, because standard output contains one line, the address. */
const loggerOf = (level: string): WebRequest["log"] => ({
  error: level === "silent" ? () => undefined : (error) => console.error(error),
});

/** Returns the server of Node, with the settings of Fastify's server. */
export function serverOf(server: Server) {
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
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
