// Checks the deals of a replay without a line of the server's code: node verify.mjs match-1.jsonl.gz
// The chain must be whole, the seed open its commitment, and every round show exactly the cards that seed and nonces deal.
// docs/replay-format.md describes what it reads.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { deal, matchKey, sha256 } from "./deal.mjs";

// By game: the cards in the deck, the cards a seat gets, the card that an action plays.
const GAMES = {
  sixth_sense: {
    deck: (seats) => (seats === 2 ? 56 : 70),
    hand: (seats) => ({ 2: 15, 3: 14, 4: 14, 5: 13, 6: 11 })[seats],
    // Twenty plays a colour of fourteen cards: the 6/9 has two, and the last five are the 0 that blocks another card.
    card: (action) => 14 * Math.floor(action / 20) + ([0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13][action % 20] ?? 0),
  },
  nullern: {
    deck: () => 80,
    hand: (_, round) => [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1][round],
    card: (action) => action,
  },
};
const CHAIN = ',"chain":"'.length + 64 + '"}'.length;
const check = (holds, problem) => { if (!holds) throw Error(problem); };

/** The key of the match, from its header. */
function opened({ arena_replay: version, game, seed, commitment, nonces, bots, seats }) {
  check([2, 3].includes(version) && game in GAMES, "not a replay of format 2 or 3 of a game known here");
  const bytes = [seed, ...nonces].map((digits) => Buffer.from(digits, "hex"));
  check(bytes.length === seats + 1 && bytes.every(({ length }, at) => length === (at ? 16 : 32)), "seed or nonces too short");
  check(sha256(bytes[0]).toString("hex") === commitment, "the seed does not open the commitment");
  check(bots.every(({ house }, seat) => !house || /^0+$/.test(nonces[seat])), "a house bot has a nonce");
  return matchKey(bytes[0], bytes.slice(1));
}

function checkRound({ game, seats, options }, key, { round, turned, predictions, plays, leaders }) {
  const { deck, hand, card } = GAMES[game], size = hand(seats, round);
  const dealt = deal(key, round, deck(seats), seats * size + 1);
  const shown = Array.from({ length: seats }, (_, seat) => (predictions ? [predictions[seat]] : []));
  plays.forEach((action, at) => shown[(leaders[Math.floor(at / seats)] + at) % seats].push(card(action)));
  check(turned === (options.novice ? null : dealt.pop()), `in round ${round + 1} another card was turned over`);
  shown.forEach((cards, seat) => {
    const [here, there] = [cards, dealt.slice(seat * size, (seat + 1) * size)].map((hand) => hand.sort((a, b) => a - b));
    check(`${here}` === `${there}`, `in round ${round + 1} seat ${seat} shows the cards ${here}, and was dealt ${there}`);
  });
}

/** Checks the bytes of a replay file; throws an Error whose message names the first line that is wrong. */
function verify(file) {
  const lines = gunzipSync(file, { maxOutputLength: 64 << 20 }).toString().split("\n");
  let digest = Buffer.alloc(32), header, key, rounds = 0;
  check(lines.length > 1 && lines.pop() === "", "it is cut off");
  lines.forEach((text, at) => {
    try {
      digest = sha256(digest, text.slice(0, -CHAIN));
      check(text.endsWith(`,"chain":"${digest.toString("hex")}"}`), "the chain is broken");
      const line = JSON.parse(text);
      if (at === 0) [header, key] = [line, opened(line)];
      if (line.out === "round") check(line.round === rounds++, "a round is missing"), checkRound(header, key, line);
    } catch (error) {
      throw Error(`line ${at + 1}: ${error.message}`);
    }
  });
  return `match ${header.match}: ${lines.length} lines, an unbroken chain; the seed opens its commitment; ${rounds} fair deals`;
}

try {
  console.log(`OK ${verify(readFileSync(process.argv[2]))}`);
} catch (error) {
  console.error(`${process.argv[2]}: ${error.message}`);
  process.exitCode = 1;
}
