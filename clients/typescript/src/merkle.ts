// Proofs of a log of results (RFC 9162, 2.1): that a leaf is in it, that a later log only added to an earlier one.

import { createHash, createPublicKey, verify } from "node:crypto";

import type { LogEntry } from "./v1/arena/v1/log_pb.js";

/** A log of so many leaves, as `LogHead`. */
export interface Head {
  size: bigint;
  root: Uint8Array;
  signature: Uint8Array;
}

const hash = (...parts: Uint8Array[]) => parts.reduce((made, part) => made.update(part), createHash("sha256")).digest();
const node = (left: Uint8Array, right: Uint8Array) => hash(Uint8Array.of(1), left, right);
const same = (one: Uint8Array, other: Uint8Array) => Buffer.from(one).equals(other);

/** Return whether a leaf's proof leads to the root of its head. */
export function included({ number, leaf, head, proof }: LogEntry): boolean {
  if (head === undefined) return false;
  let [place, last] = [number - 1n, head.size - 1n];
  if (place < 0n || place > last) return false;
  let made: Uint8Array = hash(Uint8Array.of(0), leaf);
  for (const each of proof) {
    if (last === 0n) return false;
    if (place & 1n || place === last) {
      made = node(each, made);
      while (!(place & 1n) && place) [place, last] = [place >> 1n, last >> 1n];
    } else {
      made = node(made, each);
    }
    [place, last] = [place >> 1n, last >> 1n];
  }
  return last === 0n && same(made, head.root);
}

/** Return whether a proof shows that the first log, which has leaves, begins the second. */
export function consistent(first: Head, second: Head, proof: readonly Uint8Array[]): boolean {
  if (!(first.size > 0n && first.size <= second.size)) return false;
  if (first.size === second.size) return proof.length === 0 && same(first.root, second.root);
  const rest = first.size & (first.size - 1n) ? [...proof] : [first.root, ...proof];
  if (!rest.length) return false;
  let [place, last] = [first.size - 1n, second.size - 1n];
  while (place & 1n) [place, last] = [place >> 1n, last >> 1n];
  let [old, made] = [rest[0], rest[0]];
  for (const each of rest.slice(1)) {
    if (last === 0n) return false;
    if (place & 1n || place === last) {
      [old, made] = [node(each, old), node(each, made)];
      while (!(place & 1n) && place) [place, last] = [place >> 1n, last >> 1n];
    } else {
      made = node(made, each);
    }
    [place, last] = [place >> 1n, last >> 1n];
  }
  return last === 0n && same(old, first.root) && same(made, second.root);
}

/** Return what a leaf says, by name. Throws where it is none. */
export function fieldsOf(leaf: Uint8Array): Record<string, unknown> {
  const found: unknown = JSON.parse(Buffer.from(leaf).toString("utf8"));
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw new Error("it is no JSON object");
  return found as Record<string, unknown>;
}

/** The public keys of a log, one after the other; each signs the next. */
export class Keys {
  #log = "";
  #newest: Uint8Array = new Uint8Array();

  /** Read the leaves that name them. Throws where one is none, or is not signed by the one before. */
  constructor(leaves: readonly Uint8Array[]) {
    for (const content of leaves) {
      const { key: digits, signature } = fieldsOf(content);
      if (typeof digits !== "string" || typeof signature !== "string") throw new Error("a leaf that names no key");
      const key = Buffer.from(digits, "hex");
      if (!this.#log) this.#log = hash(key).toString("hex");
      else if (!signedBy(this.#newest, Buffer.from(signature, "hex"), `arena-log/${this.#log}\nkey\n${digits}\n`)) {
        throw new Error("a key that the one before it did not sign");
      }
      this.#newest = key;
    }
    if (!leaves.length) throw new Error("a log without a key");
  }

  /** Return whether a head is signed by the newest key. */
  signed({ size, root, signature }: Head): boolean {
    return signedBy(this.#newest, signature, `arena-log/${this.#log}\n${size}\n${Buffer.from(root).toString("base64")}\n`);
  }
}

function signedBy(key: Uint8Array, signature: Uint8Array, text: string): boolean {
  if (key.length !== 32 || signature.length !== 64) return false;
  const x = Buffer.from(key).toString("base64url");
  return verify(null, Buffer.from(text), createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" }), signature);
}
