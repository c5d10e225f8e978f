import { request as insecureRequest } from "node:http";
import { request as secureRequest } from "node:https";

export interface DirectAnswer {
  status: number;
  text: string;
}

interface DirectOptions {
  timeout_ms: number;
  /** The body of a POST. A request without one is a GET. */
  body?: string;
  headers?: Readonly<Record<string, string>>;
}

/**
 * Asks one of our own parts. With NODE_USE_ENV_PROXY the global agent and `fetch` of Node.js send
 * even loopback requests to the proxy that HTTP_PROXY names; a request without an agent never goes
 * there. It follows no redirect.
 * @throws Error when no answer comes in time
 */
export function askDirectly(
  url: string,
  { timeout_ms, body, headers = {} }: DirectOptions,
): Promise<DirectAnswer> {
  return new Promise((resolve, reject) => {
    const request = url.startsWith("https:") ? secureRequest : insecureRequest;
    const method = body === undefined ? "GET" : "POST";
    const sent = request(url, { method, agent: false, headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk) => {
        text += chunk;
      });
      answer.on("end", () => {
        clearTimeout(timer);
        resolve({ status: answer.statusCode ?? 0, text });
      });
      answer.on("error", failed);
    });
    const failed = (error: Error) => {
      clearTimeout(timer);
      reject(error);
    };
    const timer = setTimeout(() => {
      failed(new Error(`no answer within ${timeout_ms} ms`));
      sent.destroy();
    }, timeout_ms);
    sent.on("error", failed);
    sent.end(body);
  });
}
