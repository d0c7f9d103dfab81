// Receipts from a server's log of results, as described in docs/log.md: the facts that a bot knows about a match, with
// their proofs.
import { createPublicKey, verify } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "./deal.mjs";

const check = (holds, problem) => { if (!holds) throw Error(problem); };
const bytes = (digits) => Buffer.from(digits, "hex");
const leafHash = (leaf) => sha256(Buffer.from([0]), Buffer.from(leaf));
const nodeHash = (left, right) => sha256(Buffer.from([1]), left, right);

/** True if a text's Ed25519 signature is valid for a public key of 32 bytes. */
export function signed(key, signature, text) {
  const jwk = { kty: "OKP", crv: "Ed25519", x: key.toString("base64url") };
  return verify(null, Buffer.from(text), createPublicKey({ key: jwk, format: "jwk" }), signature);
}

/** The successive keys of a log and the numbers of their leaves; throws an Error if a key is not signed by the key before it. */
export function keysOf(leaves) {
  check(leaves.length > 0, "a log without a key");
  const keys = [], numbers = [], [first] = leaves.map((leaf) => JSON.parse(leaf).key);
  const log = sha256(bytes(first)).toString("hex");
  for (const { number, key, signature } of leaves.map((leaf) => JSON.parse(leaf))) {
    const named = `arena-log/${log}\nkey\n${key}\n`;
    check(!keys.length || signed(keys.at(-1), bytes(signature), named), "a key that the one before it did not sign");
    check(Number.isSafeInteger(number) && number > (numbers.at(-1) ?? 0), "a key that does not come after the one before it");
    keys.push(bytes(key));
    numbers.push(number);
  }
  return { log, keys, numbers };
}

/** True if a head is signed by the key in force at its time: the last key whose leaf the head includes. */
export function headSigned({ log, keys, numbers }, { size, root, signature }) {
  const key = keys[numbers.findLastIndex((number) => number <= size)];
  return key !== undefined && signed(key, bytes(signature), `arena-log/${log}\n${size}\n${bytes(root).toString("base64")}\n`);
}

/** The root that follows from a leaf, its number and its proof (RFC 9162, 2.1.3.2), in hex. */
export function rootOf({ number, leaf, head, proof }) {
  let [place, last, made] = [number - 1, head.size - 1, leafHash(leaf)];
  check(Number.isSafeInteger(number) && place >= 0 && place <= last, "a leaf that the head does not have");
  for (const each of proof.map(bytes)) {
    check(last > 0, "a proof that is too long");
    const right = place % 2 === 1 || place === last;
    made = right ? nodeHash(each, made) : nodeHash(made, each);
    while (right && place % 2 === 0 && place > 0) [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  check(last === 0, "a proof that is too short");
  return made.toString("hex");
}

/** The receipts of a match in a file, or in the .receipts files of a directory; throws if a receipt proves
 * nothing. */
export function receiptsOf(path, match) {
  const files = statSync(path).isDirectory() ? readdirSync(path).filter((name) => name.endsWith(".receipts")).map((name) => join(path, name)) : [path];
  return files.sort().flatMap((file) => {
    let leaves;
    return readFileSync(file, "utf8").split("\n").filter(Boolean).flatMap((text, at) => {
      try {
        const line = JSON.parse(text);
        if (line.keys) leaves = line.keys;
        if (line.keys || line.match !== match) return [];
        check(leaves, "no key of a log stands before it");
        check(headSigned(keysOf(leaves), line.head), "its head is not signed by the key of the log");
        check(rootOf(line) === line.head.root, "its head does not include its leaf");
        const leaf = JSON.parse(line.leaf);
        check([1, 2].includes(leaf.log), `its leaf has version ${leaf.log}, which is not known here`);
        check(leaf.match === match && leaf.number === line.number, "its leaf is of another match");
        return [{ file, ...line, leaf }];
      } catch (error) {
        throw Error(`the receipt cannot be used: ${file}, line ${at + 1}: ${error.message}`);
      }
    });
  });
}

/** Describes the differences between a replay and a receipt of its match. */
export function differences({ header, result, text }, { seat, nonce, commitment, leaf }) {
  const rated = { rated: true, casual: false }[leaf.kind];
  if (rated === undefined) return [`the match ended without a result (${leaf.reason})`];
  const compared = {
    "the game": [leaf.game, header.game],
    "the ladder": [leaf.ladder ?? leaf.game, header.ladder ?? header.game],
    "the kind": [rated, header.rated],
    "the bots' names": [leaf.names, header.bots.map(({ name }) => name)],
    "the places": [leaf.places, result.places],
    "for whom it counts": [leaf.counts, result.counts],
    "the points": [leaf.points, result.scores],
    "the replay's digest": [leaf.replay, text],
    "the seed's commitment": [commitment || header.commitment, header.commitment],
    [`the nonce of seat ${seat}`]: [nonce || header.nonces[seat], header.nonces[seat]],
  };
  return Object.entries(compared).filter(([, [one, other]]) => JSON.stringify(one) !== JSON.stringify(other)).map(([name]) => name);
}
