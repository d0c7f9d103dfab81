// Derives decks and dice from the seed and the nonces, with the portable shuffle described in engine/deal.py.
import { createHash } from "node:crypto";

export const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
export const matchKey = (seed, nonces) => sha256(seed, ...nonces);
const uint32 = (number) => Buffer.from([number >>> 24, number >>> 16, number >>> 8, number]);

/** The first `count` cards of a round's deck: the shuffled numbers 0 … size−1. */
export const deal = (key, round, size, count) => shuffled(sha256(key, uint32(round)), size, count);
/** The face, 0 … faces−1, of the round's die roll with this number. */
export const roll = (key, round, number, faces) => shuffled(sha256(key, uint32(round), uint32(number)), faces, 1)[0];

function shuffled(key, size, count) {
  const deck = [...Array(size).keys()];
  for (let place = 0, counter = 0; place < count; counter++) {
    const block = sha256(key, uint32(counter));
    for (let at = 0; at < block.length && place < count; at += 2) {
      const word = block.readUInt16BE(at), other = place + (word % (size - place));
      if (word >= 65536 - (65536 % (size - place))) continue; // such words would favour the first cards
      [deck[place], deck[other]] = [deck[other], deck[place]];
      place++;
    }
  }
  return deck.slice(0, count);
}
