import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isProgram, programOnPath } from "../programs.js";

/** $NGINX, else the one on PATH. */
export const nginxProgram = (): string | undefined =>
  [process.env.NGINX, programOnPath("nginx")].find((file) => file && isProgram(file));

export interface NginxSettings {
  port: number;
  quota: number;
  window_s: number;
  /** How many requests it admits at once; nginx itself admits one. */
  burst: number;
}

/** The arguments of nginx with `limit_req` by X-Api-Key, and all of its files in the folder. */
export function nginxArguments(folder: string, settings: NginxSettings): string[] {
  // Its worker is no longer root, and could not read what is root's own.
  chmodSync(folder, 0o755);
  const root = join(folder, "root");
  mkdirSync(join(root, "api"), { recursive: true });
  writeFileSync(join(root, "api/items"), '{"items": []}\n');
  const file = join(folder, "nginx.conf");
  writeFileSync(file, configuration(folder, settings));
  return ["-p", folder, "-c", file, "-e", join(folder, "error.log")];
}

/** It knows rates by the minute, and does not limit requests whose key is empty. */
const configuration = (folder: string, { port, quota, window_s, burst }: NginxSettings): string => `
daemon off;
worker_processes 1;
pid ${join(folder, "nginx.pid")};
error_log ${join(folder, "error.log")};
events { worker_connections 512; }
http {
  access_log off;
  default_type application/json;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${join(folder, kind)};`)
    .join("\n  ")}
  limit_req_zone $binary_remote_addr$http_x_api_key zone=clients:1m rate=${(60 * quota) / window_s}r/m;
  limit_req_status 429;
  server {
    listen 127.0.0.1:${port};
    root ${join(folder, "root")};
    location / {
      limit_req zone=clients${burst > 1 ? ` burst=${burst - 1} nodelay` : ""};
    }
  }
}
`;
