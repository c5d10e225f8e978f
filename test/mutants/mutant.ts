/** A bug that is planted, and the cheapest test that must see it. */
export interface Mutant {
  /** What a user would meet. */
  what: string;
  file: string;
  /** Exact text; it must stand in the file exactly once. */
  find: string;
  replace: string;
  /** A test file of vitest or of pytest. */
  test: string;
}
