import { createServer } from "node:http";

/** What every API is told by its environment: its port and its quota in each window. */
export const settings = {
  port: Number(process.env.PORT),
  quota: Number(process.env.QUOTA),
  window_ms: 1_000 * Number(process.env.WINDOW_S),
};

/** The routes of these APIs, which each have a quota of their own. */
const ROUTES = ["/api/items", "/api/reports"];

/** A path as these APIs find its route: in any case, with or without a slash at its end. */
export const routeOf = (path) => path.toLowerCase().replace(/\/$/, "");

/**
 * Serves the routes, each request after a decision.
 * @param limiter what an API does in its own way: `keyOf(request, path)` is what is counted;
 *   `decide(key)` resolves to `{ admitted, used, left_ms }`; `wait(left_ms)` is the text of
 *   Retry-After, `denied` the status of a denial, `answered(key)` runs after an answer, and
 *   `failed(response)` answers where the decision was rejected
 */
export function serve({ keyOf, decide, wait, denied = 429, answered, failed }) {
  const server = createServer(async (request, response) => {
    const path = request.url.split("?")[0];
    if (!ROUTES.includes(routeOf(path))) return response.writeHead(404).end();

    const key = keyOf(request, path);
    if (answered) response.once("finish", () => answered(key));
    try {
      const { admitted, used, left_ms } = await decide(key);
      const rest = Math.max(0, settings.quota - used);
      response.setHeader("X-RateLimit-Limit", settings.quota);
      response.setHeader("X-RateLimit-Remaining", rest);
      if (admitted) return admit(response);

      response.setHeader("Retry-After", wait(left_ms));
      response.writeHead(denied).end("too many requests\n");
    } catch {
      failed(response);
    }
  });
  server.listen(settings.port, "127.0.0.1");
}

export const admit = (response) =>
  response.writeHead(200, { "content-type": "application/json" }).end('{"items":[]}\n');

export const keyOfClient = (request) => request.headers["x-api-key"] ?? "";

/** Whole seconds, rounded up, after which the client is admitted. */
export const wholeSeconds = (left_ms) => Math.ceil(left_ms / 1_000);
