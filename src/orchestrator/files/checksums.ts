import { hash } from "node:crypto";
import { join } from "node:path";
import { readOwnFile } from "./own-files.js";
import { writeAtomically } from "./results-folder.js";

export const CHECKSUMS = "SHA256SUMS";

/** Matches a line of `sha256sum`. Its star marks binary mode, which makes no difference here. */
const LINE = /^(?<sum>[0-9a-f]{64}) [ *](?<file>.+)$/;

const sumOf = (content: string | Buffer): string => hash("sha256", content);

/** The SHA-256 sums of a campaign's results, in the form that `sha256sum -c SHA256SUMS` reads. */
export class Checksums {
  readonly #folder: string;
  readonly #sums: Map<string, string>;

  private constructor(folder: string, sums: Map<string, string>) {
    this.#folder = folder;
    this.#sums = sums;
  }

  /**
   * The checksums of a folder, without malformed lines.
   * @throws environmentError where the file cannot be read
   */
  static async read(folder: string): Promise<Checksums> {
    const text = readOwnFile(join(folder, CHECKSUMS))?.toString("utf8") ?? "";
    const entries = text.split("\n").flatMap((line) => {
      const { sum, file } = LINE.exec(line)?.groups ?? {};
      return sum && file ? [[file, sum] as const] : [];
    });
    return new Checksums(folder, new Map(entries));
  }

  has(file: string): boolean {
    return this.#sums.has(file);
  }

  matches(file: string, content: Buffer): boolean {
    return this.#sums.get(file) === sumOf(content);
  }

  async add(file: string, content: string): Promise<void> {
    this.#sums.set(file, sumOf(content));
    await this.#write();
  }

  /** Keeps the sum of a file under its new name. @throws Error where the sums cannot be saved */
  async rename(file: string, newName: string): Promise<void> {
    const sum = this.#sums.get(file);
    this.#sums.delete(file);
    if (sum !== undefined) this.#sums.set(newName, sum);
    await this.#write();
  }

  async #write(): Promise<void> {
    const lines = [...this.#sums]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, sum]) => `${sum}  ${name}\n`);
    await writeAtomically(join(this.#folder, CHECKSUMS), lines.join(""));
  }
}
