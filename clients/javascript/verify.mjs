#!/usr/bin/env node
// Checks the deals of a replay without any of the server's code: node verify.mjs match-1.jsonl.gz [--receipts DIR]
// - The chain is complete, and the seed matches its commitment.
// - Every round shows exactly the cards that follow from the seed and the nonces.
// - Scores, places and the result follow from the rounds.
// - The result counts for the right bots, given the rounds that house bots played.
// - With a bot's receipt, the replay agrees with the server's signed log of results.
// docs/replay-format.md and docs/log.md describe the files.
import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { deal, matchKey, roll, sha256 } from "./deal.mjs";
import { differences, receiptsOf } from "./receipts.mjs";

const CHAIN = ',"chain":"'.length + 64 + '"}'.length;
const check = (holds, problem) => { if (!holds) throw Error(problem); };

/**
 * Loads games/<game>.mjs, which lists the cards that a game shows. Its default export takes the header, the line of a
 * round, and the functions deck(size, count) and roll(number, faces) to draw with. It returns [{ who, shown, dealt }],
 * lists that must be equal. If points change at the end of the game, its export `final` takes the last round and returns
 * the changes by seat.
 */
async function shownBy({ arena_replay: version, game }) {
  const file = new URL(`./games/${game}.mjs`, import.meta.url);
  check([2, 3, 4].includes(version) && /^[a-z0-9_]+$/.test(game) && existsSync(file), "not a replay of format 2 to 4 of a game known here");
  return import(file);
}

/** The key from which the match is dealt, computed from the header. */
function opened({ seed, commitment, nonces, bots, seats }) {
  const bytes = [seed, ...nonces].map((digits) => Buffer.from(digits, "hex"));
  check(bytes.length === seats + 1 && bytes.every(({ length }, at) => length === (at ? 16 : 32)), "seed or nonces too short");
  check(sha256(bytes[0]).toString("hex") === commitment, "the seed does not open the commitment");
  check(bots.every(({ house }, seat) => !house || /^0+$/.test(nonces[seat])), "a house bot has a nonce");
  return matchKey(bytes[0], bytes.slice(1));
}

/** Checks that bots have the seats that they accepted; formats before 4 do not record invitations. */
function seated({ arena_replay: version, dealt_by: dealtBy, bots, offers }) {
  if (version < 4 || dealtBy !== "server") return;
  const accepted = offers.filter(({ outcome }) => outcome === "accepted").map(({ seat, bot }) => `${seat} ${bot}`).sort();
  const players = bots.flatMap(({ name, house }, seat) => (house ? [] : `${seat} ${name}`)).sort();
  check(`${accepted}` === `${players}`, `the seats accepted are ${accepted}, those of bots are ${players}`);
}

/** Tracks the seats that house bots take over, and checks for which seats the result counts; formats 2 and 3 use rule 1. */
class Absences {
  constructor({ arena_replay: version, rating_rule: rule, policy, seats }) {
    this.rule = version < 4 ? 1 : rule;
    check([1, 2].includes(this.rule), "a rating rule that is not known here");
    [this.percent, this.rounds, this.played] = [policy.substituted_percent, 0, Array(seats).fill(0)];
    [this.now, this.inRound] = [new Set(), new Set()];
  }

  take({ out, seat }) {
    if (out === "substituted") this.now.add(seat), this.inRound.add(seat);
    if (out === "back") this.now.delete(seat), this.inRound.delete(seat);
    if (out !== "round") return;
    this.rounds += 1;
    for (const each of this.inRound) this.played[each] += 1;
    this.inRound = new Set(this.now);
  }

  /** For each seat, true if its bot vanished and so shares the last place. */
  vanished() {
    return this.played.map((rounds, seat) => 100 * rounds > this.percent * this.rounds || this.now.has(seat));
  }

  checkResult({ counts, spoilt, places }) {
    const much = this.played.map((rounds) => 100 * rounds > this.percent * this.rounds), any = much.includes(true);
    const byPair = much.map((_, own) => much.some((gone, other) => !gone && other !== own));
    const byMatch = much.map((gone, seat) => !any || gone || this.now.has(seat));
    const expected = places.length === 0 ? [] : this.rule === 1 ? byMatch : byPair;
    check(`${counts}` === `${expected}`, `the result counts for ${counts}, and should for ${expected}`);
    const marked = this.rule === 1 ? undefined : places.length === 0 ? [] : much;
    check(`${spoilt}` === `${marked}`, `the seats spoilt are ${spoilt}, and should be ${marked}`);
  }
}

/** Adds up the points of the rounds, and checks the totals. */
class Scores {
  constructor({ seats, bots }, { final }) {
    [this.final, this.names, this.last, this.scores] = [final, bots.map(({ name }) => name), null, Array(seats).fill(0)];
  }

  take(round) {
    this.check([]);
    this.last = round;
  }

  /** Checks that the last round's scores are the earlier scores plus its points and the changes at the end of the game. */
  check(more) {
    if (!this.last) return;
    const { round, points, scores } = this.last, sums = this.scores.map((score, seat) => score + points[seat] + (more[seat] ?? 0));
    check(`${sums}` === `${scores}`, `the scores after round ${round + 1} are ${scores}, and should be ${sums}`);
    [this.scores, this.last] = [scores, null];
  }

  checkResult({ scores, places, interrupted, bots }, vanished) {
    this.check(!interrupted && this.final && this.last ? this.final(this.last) : []);
    const there = vanished.filter((gone) => !gone).length, better = (score) => this.scores.filter((other, seat) => !vanished[seat] && other > score).length;
    const expected = this.scores.map((score, seat) => (vanished[seat] ? 1 + there : 1 + better(score)));
    check(`${scores}` === `${interrupted ? [] : this.scores}`, `the scores are ${scores}, and should be ${this.scores}`);
    check(`${places}` === `${interrupted ? [] : expected}`, `the places are ${places}, and should be ${expected}`);
    check(!bots || `${bots}` === `${this.names}`, `the bots are ${bots}, and should be ${this.names}`);
  }
}

function checkRound(game, header, key, report) {
  const deck = (size, count) => deal(key, report.round, size, count), rolled = (number, faces) => roll(key, report.round, number, faces);
  for (const { who, shown, dealt } of game(header, report, { deck, roll: rolled })) {
    const [here, there] = [shown, dealt].map((cards) => [...cards].sort((a, b) => a - b));
    check(`${here}` === `${there}`, `in round ${report.round + 1} ${who} shows the cards ${here}, and was dealt ${there}`);
  }
}

/** Compares a replay with its best matching receipt; returns the result in words. */
function borneOut(replay, path) {
  const receipts = receiptsOf(path, replay.header.match).map((receipt) => ({ receipt, differing: differences(replay, receipt) }));
  check(receipts.length > 0, `there is no receipt of match ${replay.header.match} in ${path}`);
  const [{ receipt, differing }] = receipts.sort((one, other) => one.differing.length - other.differing.length);
  check(differing.length === 0, `it is not what the receipt says (${receipt.file}): ${differing.join(", ")}`);
  return `is what was played: leaf ${receipt.number} of a signed log says so to seat ${receipt.seat}; not shown: whether it was made void later`;
}

/** Checks the bytes of a replay file; throws an Error whose message names the first wrong line. */
async function verify(file, receipts) {
  const lines = gunzipSync(file, { maxOutputLength: 64 << 20 }).toString().split("\n");
  let digest = Buffer.alloc(32), text = "", header, key, game, absences, points, result, rounds = 0;
  check(lines.length > 1 && lines.pop() === "", "it is cut off");
  for (const [at, found] of lines.entries()) {
    try {
      digest = sha256(digest, found.slice(0, -CHAIN));
      check(found.endsWith(`,"chain":"${digest.toString("hex")}"}`), "the chain is broken");
      text += `${found.slice(0, -CHAIN)}}\n`;
      const line = JSON.parse(found);
      if (at === 0) [header, game, key, absences] = [line, await shownBy(line), opened(line), new Absences(line)], seated(line), points = new Scores(line, game);
      if (line.out === "round") check(line.round === rounds++, "a round is missing"), checkRound(game.default, header, key, line), points.take(line);
      absences.take(line);
      if (line.out === "over" || "result" in line) absences.checkResult(line), points.checkResult(line, absences.vanished());
      if ("result" in line) result = line;
    } catch (error) {
      throw Error(`line ${at + 1}: ${error.message}`);
    }
  }
  check(result, "it has no result");
  const shown = receipts
    ? borneOut({ header, result, text: sha256(text).toString("hex") }, receipts)
    : "is consistent; not shown: whether it is what was played (--receipts DIR)";
  const deals = header.dealt_by === "match runner" ? "deals of its seed, dealt by the match runner on one machine" : "fair deals";
  return `match ${header.match}: ${lines.length} lines, an unbroken chain; the seed opens its commitment; ${rounds} ${deals}, and the result that follows; it ${shown}`;
}

const [file, option, receipts] = process.argv.slice(2);
try {
  check(!option || (option === "--receipts" && receipts), "to compare it with a receipt: --receipts DIR");
  console.log(`OK ${await verify(readFileSync(file), receipts)}`);
} catch (error) {
  console.error(`${file}: ${error.message}`);
  process.exitCode = 1;
}
