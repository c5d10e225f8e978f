import { defineConfig } from "vitest/config";

/**
 * Unit tests start nothing; integration tests run real stores and programs; browser tests use a real Chromium, and
 * container tests a real engine.
 */
const project = (name: string, timeout: number, parallel: boolean) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout: timeout,
    hookTimeout: timeout,
    fileParallelism: parallel,
  },
});

export default defineConfig({
  test: {
    projects: [
      project("unit", 10_000, true),
      project("integration", 120_000, false),
      project("browser", 60_000, false),
      project("containers", 300_000, false),
    ],
  },
});
