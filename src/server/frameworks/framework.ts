import type { Server } from "node:http";
import type { LimiterHook, RequestLimiter } from "../../targets/target-types.js";

/**
 * The part of a request that handlers use. Every framework has these members, so that nothing is
 * wrapped.
 */
export interface WebRequest {
  readonly query: unknown;
  readonly ip?: string | undefined;
  readonly log: { error(error: unknown): void };
}
export interface WebReply {
  status(code: number): WebReply;
  header(name: string, value: string | number): WebReply;
  send(body: unknown): unknown;
}
export type Handler = (request: WebRequest, reply: WebReply) => unknown;

export type WebError = Error & { statusCode?: number | undefined };
type ErrorHandler = (error: WebError, request: WebRequest, reply: WebReply) => void;

/** The hook of a limiter, as its users install it in the framework, with its events. */
export interface RouteHook extends LimiterHook {
  install: NonNullable<RequestLimiter["hook"]>["install"];
  onError: ErrorHandler;
}

/** The routes of the server, whatever the framework. */
export interface WebRoutes {
  /** Handlers of `GET` by path, behind the hook if there is one. */
  limited: Readonly<Record<string, Handler>>;
  hook?: RouteHook;
  open: Readonly<Record<string, Handler>>;
  notFound: Handler;
  onError: ErrorHandler;
}

export interface WebServer {
  listen(address: { host: string; port: number; backlog?: number }): Promise<string>;
  close(): Promise<unknown>;
  readonly server: Pick<Server, "closeAllConnections">;
}

/**
 * Imports a package of the framework, which is the project's or was installed when it was first
 * used.
 */
export type LoadPackage = <Module>(name: string) => Promise<Module>;

interface WebOptions {
  logLevel: string;
  /**
   * Whether a hop before the server, from 0, is a proxy that names its client. Without it none is.
   */
  trustProxy?: (address: string, hop: number) => boolean;
  load: LoadPackage;
}

export type BuildServer = (routes: WebRoutes, options: WebOptions) => Promise<WebServer>;

/**
 * It is longer than any pause of a benchmark, so that no connection is closed between warm-up and
 * window.
 */
export const KEEP_ALIVE_MS = 120_000;
