import type { PackageVersion } from "../contract/library-versions.js";

/**
 * A web framework under the server's routes. Each has an entry here, and an adapter in
 * `src/server/frameworks/`.
 */
export interface FrameworkDescription {
  id: string;
  summary: string;
  /**
   * What is installed when it is first used. It is absent for the one that comes with the server.
   */
  package?: PackageVersion;
}

/** One folder, because all of them must load the same copies. */
export const NEST: PackageVersion = {
  name: "@nestjs/core",
  version: "11.2.10",
  with: [
    "@nestjs/common@11.2.10",
    "@nestjs/platform-express@11.2.10",
    "@nestjs/throttler@6.7.1",
    "@nest-lab/throttler-storage-redis@1.2.0",
  ],
};

/** The server's framework where a target names none: no text mentions it. */
export const DEFAULT_FRAMEWORK = "fastify";

export const frameworks: readonly FrameworkDescription[] = [
  { id: DEFAULT_FRAMEWORK, summary: "the server's routes are Fastify's" },
  {
    id: "express",
    summary: "the server's routes are Express's instead of Fastify's",
    package: { name: "express", version: "5.3.0" },
  },
  {
    id: "nest",
    summary: "the server's routes are NestJS's, on Express, instead of Fastify's",
    package: NEST,
  },
];
