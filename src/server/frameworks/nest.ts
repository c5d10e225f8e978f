import type { Server } from "node:http";
import { commonJs } from "../../targets/libraries.js";
import { type ExpressApp, giveLog, serverOf } from "./express.js";
import type {
  BuildServer,
  Handler,
  WebError,
  WebReply,
  WebRequest,
  WebRoutes,
} from "./framework.js";

type Decorator = (target: object, name?: string, place?: unknown) => void;
/** The context of whatever handles a request. */
interface Context {
  switchToHttp(): { getRequest(): WebRequest; getResponse(): WebReply };
}
interface Filter {
  catch(error: unknown, host: Context): void;
}
type Class<Instance = object> = new (...parameters: never[]) => Instance;

interface Common {
  Controller(): Decorator;
  Module(parts: object): Decorator;
  Get(path: string): Decorator;
  Req(): Decorator;
  Res(): Decorator;
  Catch(): Decorator;
  UseFilters(filter: Filter): Decorator;
  UseGuards(...guards: unknown[]): Decorator;
  HttpException: Class;
  NotFoundException: Class;
}
interface Core {
  NestFactory: { create(root: Class, adapter: unknown, options: object): Promise<NestApp> };
  BaseExceptionFilter: new (adapter: unknown) => Filter;
}
type Platform = { ExpressAdapter: new () => { getInstance(): ExpressApp } };
interface NestApp {
  init(): Promise<unknown>;
  close(): Promise<void>;
  getHttpServer(): Server;
  useGlobalFilters(filter: Filter): void;
}

/** The parts to which a limiter adds what its users add to their module and controller. */
type NestParts = { imports: unknown[]; guards: unknown[] };

/** Builds the server without the syntax of decorators, which Node does not run. */
export const buildNest: BuildServer = async (routes, { logLevel, load, trustProxy = false }) => {
  const core = await commonJs<Core>(load("@nestjs/core"));
  const common = await commonJs<Common>(load("@nestjs/common"));
  const platform = await commonJs<Platform>(load("@nestjs/platform-express"));
  const adapter = new platform.ExpressAdapter();
  giveLog(adapter.getInstance(), logLevel);
  adapter.getInstance().set("trust proxy", trustProxy);
  const parts: NestParts = { imports: [], guards: [] };
  const { hook } = routes;
  await hook?.install(parts, hook);
  const filterFor = (onError: WebRoutes["onError"]) => {
    const answer = (error: unknown, request: WebRequest, reply: WebReply) =>
      error instanceof common.NotFoundException
        ? routes.notFound(request, reply)
        : onError(error as WebError, request, reply);
    return filterOf(core, common, adapter, answer);
  };
  const limited = controllerOf(common, routes.limited);
  if (hook) {
    common.UseGuards(...parts.guards)(limited);
    common.UseFilters(filterFor(hook.onError))(limited);
  }
  class Root {}
  common.Module({
    imports: parts.imports,
    controllers: [limited, controllerOf(common, routes.open)],
  })(Root);
  const app = await core.NestFactory.create(Root, adapter, {
    logger: logLevel === "silent" ? false : ["error"],
    abortOnError: false,
  });
  app.useGlobalFilters(filterFor(routes.onError));
  await app.init();

  return { ...serverOf(app.getHttpServer()), close: () => app.close() };
};

/** Returns a controller whose methods are the handlers themselves. */
function controllerOf(
  { Controller, Get, Req, Res }: Common,
  handlers: Readonly<Record<string, Handler>>,
) {
  class Routes {}
  for (const [path, value] of Object.entries(handlers)) {
    const place = { value, configurable: true, writable: true };
    Object.defineProperty(Routes.prototype, path, place);
    Get(path)(Routes.prototype, path, place);
    Req()(Routes.prototype, path, 0);
    Res()(Routes.prototype, path, 1);
  }
  Controller()(Routes);
  return Routes;
}

/**
 * Answers to errors. Errors of a guard or of Nest get Nest's own answers, except for a path that
 * does not exist.
 */
function filterOf(
  { BaseExceptionFilter }: Core,
  { Catch, HttpException, NotFoundException }: Common,
  adapter: unknown,
  answer: (error: unknown, request: WebRequest, reply: WebReply) => unknown,
): Filter {
  class Answers extends BaseExceptionFilter {
    override catch(error: unknown, host: Context): void {
      const http = host.switchToHttp();
      if (error instanceof HttpException && !(error instanceof NotFoundException))
        super.catch(error, host);
      else answer(error, http.getRequest(), http.getResponse());
    }
  }
  Catch()(Answers);
  return new Answers(adapter);
}
