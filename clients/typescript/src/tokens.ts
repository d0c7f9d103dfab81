// Stores a bot's token between runs in a small separate file, which only its owner can read (where the system
// has file modes).

import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { ArgumentError } from "./errors.js";

/** Return a bot's token file in the user's home. As on the server, the name's case does not matter. */
export function defaultTokenFile(address: string, name: string): string {
  const safe = (text: string) => text.toLowerCase().replace(/[^a-z0-9._-]/g, "_");
  return join(homedir(), ".arena", "tokens", `${safe(address)}-${safe(name)}.token`);
}

/** Return the token in the file; undefined if the file is missing or empty. */
export function readToken(file: string): string | undefined {
  try {
    return readFileSync(file, "ascii").trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unusable(file, error);
  }
}

/**
 * A token for a bot that is about to register. Until the server answers, it is in a file beside its final
 * file, so that a full disk or a lost answer does no harm. The next try sends the same token.
 */
export class NewToken {
  readonly token: string;
  readonly #draft: string;

  /** Use the token that an earlier try left beside the file, or create a new token. */
  constructor(private readonly file: string) {
    this.#draft = `${file}.new`;
    const offered = readToken(this.#draft);
    this.token = offered ?? `arena_${randomBytes(32).toString("base64url")}`;
    if (offered === undefined) this.#write(this.token);
  }

  /** Store the token from the server's answer in the final file, atomically. */
  keep(token: string): void {
    if (token !== this.token) this.#write(token); // an older server, which creates tokens itself
    renameSync(this.#draft, this.file);
  }

  /** Delete the token that the server refused. */
  drop(): void {
    rmSync(this.#draft, { force: true });
  }

  #write(token: string): void {
    const whole = join(dirname(this.file), `.token-${process.pid}-${randomBytes(4).toString("hex")}`);
    try {
      mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
      const descriptor = openSync(whole, "wx", 0o600);
      try {
        writeSync(descriptor, `${token}\n`);
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
      renameSync(whole, this.#draft);
    } catch (error) {
      rmSync(whole, { force: true });
      throw unusable(this.file, error);
    }
  }
}

function unusable(file: string, error: unknown): ArgumentError {
  return new ArgumentError(`the file ${file} cannot be used: ${(error as Error).message}`);
}
