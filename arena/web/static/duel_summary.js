// Summaries of files from `arena match`: deal pairs (--out FILE) and replays (--replays DIR). This module reads texts
// and draws nothing.

// Summarise a file of deal pairs as `arena match` does. For each pair, subtract the other bot's points from
// the first bot's. Also return each bot's figures.
export function summaryOfSets(text) {
  const lines = text.split("\n").slice(0, -1); // without a last line that was cut off
  const head = parsed(lines[0], 1);
  if (head.format === undefined || !Array.isArray(head.bots)) throw new Error("it holds no sets of arena match --out");
  if (head.format !== 1) throw new Error(`its format is ${head.format}; this page knows 1`);
  const sets = lines.slice(1).map((line, place) => parsed(line, place + 2)).sort((one, other) => one.set - other.set);
  const bots = head.bots.map((bot, number) => ({ bot, version: head.versions[number], ...figures(sets, number) }));
  const found = { game: head.game, seats: head.seats, design: head.design, seed: head.seed, sets: sets.length };
  found.games = sets.reduce((sum, each) => sum + each.games.length, 0);
  found.bots = head.compared === 2 ? bots.slice(0, 2) : bots.slice(0, head.compared);
  if (head.compared !== 2 || sets.length === 0) return found;
  const scores = sets.map((each) => setScore(head.design, each));
  const difference = measure(scores);
  return {
    ...found, difference,
    won: scores.filter((each) => each > 0).length,
    drawn: scores.filter((each) => each === 0).length,
    lost: scores.filter((each) => each < 0).length,
  };
}

// Return game, bots, places and scores of a replay's text.
export function resultOfReplay(text) {
  const lines = text.split("\n").filter((line) => line !== "");
  const head = parsed(lines[0], 1);
  if (head.arena_replay === undefined) throw new Error("it is no replay");
  const at = lines.findLastIndex((line) => line.startsWith('{"result":'));
  if (at < 0) throw new Error("it has no result: it was cut off");
  const result = parsed(lines[at], at + 1);
  const bots = head.bots.map((each, seat) => ({
    bot: each.name, place: result.places[seat] ?? null, score: result.scores[seat] ?? null,
    forced: result.forced[seat] ?? 0,
  }));
  return { match: head.match, game: head.game, interrupted: result.interrupted, bots };
}

function parsed(line, number) {
  try {
    const found = JSON.parse(line ?? "");
    if (found !== null && typeof found === "object") return found;
  } catch { /* said below */ }
  throw new Error(`line ${number} is not what such a file has`);
}

const mean = (values) => values.reduce((sum, each) => sum + each, 0) / values.length;

// The mean, and half the width of its 95 % interval by Student's t, or null for a single value.
export function measure(values) {
  const middle = mean(values), count = values.length;
  if (count < 2) return { value: middle, within: null };
  const variance = values.reduce((sum, each) => sum + (each - middle) ** 2, 0) / (count - 1);
  return { value: middle, within: quantile(count - 1) * Math.sqrt(variance / count) };
}

function setScore(design, set) {
  if (design === "one-table") {
    return mean(set.games.map((game) => game.scores[game.bots.indexOf(0)] - game.scores[game.bots.indexOf(1)]));
  }
  return above(set.games[0], 0) - above(set.games[1], 1);
}

function above(game, bot) {
  const seat = game.bots.indexOf(bot);
  return game.scores[seat] - mean(game.scores.filter((_, other) => other !== seat));
}

// The figures of one bot. Only pairs are independent, because the games of a pair share their
// deals.
function figures(sets, bot) {
  const own = sets.map((set) => set.games.filter((game) => game.bots.includes(bot))).filter((games) => games.length);
  if (own.length === 0) return { games: 0, points: null, places: null };
  const of = (games, name) => mean(games.map((game) => game[name][game.bots.indexOf(bot)]));
  return {
    games: own.reduce((sum, games) => sum + games.length, 0),
    points: measure(own.map((games) => of(games, "scores"))),
    places: measure(own.map((games) => of(games, "places"))),
  };
}

// The 97.5 % quantile of Student's t with the given degrees of freedom, by bisection of its distribution function.
export function quantile(freedom) {
  let low = 0, high = 20;
  for (let turn = 0; turn < 60; turn++) {
    const middle = (low + high) / 2;
    if (between(middle, freedom) < 0.475) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

// The probability between 0 and x. With t = √n·tan φ it is ∫ cosⁿ⁻¹ φ dφ by Simpson's rule, divided by that integral
// up to π/2.
function between(x, freedom) {
  const area = (end) => {
    const parts = 400, step = end / parts;
    let sum = 0;
    for (let place = 0; place <= parts; place++) {
      const weight = place === 0 || place === parts ? 1 : place % 2 ? 4 : 2;
      sum += weight * Math.cos(place * step) ** (freedom - 1);
    }
    return (sum * step) / 3;
  };
  return (0.5 * area(Math.atan(x / Math.sqrt(freedom)))) / area(Math.PI / 2);
}
