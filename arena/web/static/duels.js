// Shows files from `arena match` that the viewer chooses. They are read in the browser, and nothing is
// sent.

import { resultOfReplay, summaryOfSets } from "./duel_summary.js";

const LARGEST = 64 * 1024 * 1024; // bytes of a file
const chosen = document.getElementById("files");
const shown = document.getElementById("duels");

function made(tag, text = "", name = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  if (name) element.className = name;
  return element;
}

function table(caption, columns, rows) {
  const drawn = made("table"), head = made("tr"), body = made("tbody");
  drawn.append(made("caption", caption), made("thead"), body);
  drawn.tHead.append(head);
  for (const [name, kind] of columns) {
    const cell = made("th", name, kind);
    cell.scope = "col";
    head.append(cell);
  }
  for (const row of rows) {
    const line = made("tr");
    row.forEach((text, place) => line.append(made("td", text, columns[place][1])));
    body.append(line);
  }
  const wide = made("div", "", "wide");
  wide.tabIndex = 0;
  wide.role = "group";
  wide.ariaLabel = caption;
  wide.append(drawn);
  return wide;
}

const figure = (each) => (each === null ? "–"
  : each.within === null ? each.value.toFixed(2) : `${each.value.toFixed(2)} ± ${each.within.toFixed(2)}`);

function setsShown(name, found) {
  const part = made("section");
  part.append(made("h2", `${name}: ${found.game} for ${found.seats}`));
  part.append(made("p", `${found.sets} sets of ${found.games} games, ${found.design}, seed ${found.seed}.`));
  if (found.difference) {
    const [one, other] = found.bots;
    const { value, within } = found.difference;
    const sure = within !== null && Math.abs(value) > within;
    part.append(made("p", `${one.bot} less ${other.bot}: ${figure(found.difference)} points a set; `
      + `${found.won} sets won, ${found.drawn} drawn, ${found.lost} lost. `
      + (sure ? `${value > 0 ? one.bot : other.bot} is better.` : "That is not enough to tell them apart.")));
  }
  const rows = found.bots.map((each) => [each.bot, each.version, String(each.games), figure(each.points), figure(each.places)]);
  const columns = [["Bot", ""], ["Version", ""], ["Games", "number"], ["Points ± 95 %", "number"], ["Place ± 95 %", "number"]];
  part.append(table("Bots", columns, rows));
  return part;
}

function replaysShown(found) {
  const part = made("section");
  part.append(made("h2", "Replays"));
  const rows = found.map(([name, each]) => [name, each.game, each.interrupted ? `interrupted: ${each.interrupted}`
    : [...each.bots].sort((one, other) => one.place - other.place)
      .map((bot) => `${bot.place}. ${bot.bot} ${bot.score}${bot.forced ? ` (${bot.forced} forced)` : ""}`).join(", ")]);
  part.append(table("Replays", [["File", ""], ["Game", ""], ["Bots, the first before", ""]], rows));
  return part;
}

async function textOf(file) {
  if (file.size > LARGEST) throw new Error(`it has ${file.size} bytes; this page reads ${LARGEST}`);
  const start = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (start[0] !== 0x1f || start[1] !== 0x8b) return file.text();
  return new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

chosen.addEventListener("change", async () => {
  shown.replaceChildren();
  const replays = [];
  for (const file of chosen.files) {
    try {
      const text = await textOf(file);
      if (text.startsWith('{"arena_replay"')) replays.push([file.name, resultOfReplay(text)]);
      else shown.append(setsShown(file.name, summaryOfSets(text)));
    } catch (error) {
      shown.append(made("p", `${file.name} cannot be shown: ${error.message}`, "ink-red"));
    }
  }
  if (replays.length) shown.append(replaysShown(replays));
});
document.getElementById("choose").hidden = false;
document.getElementById("without").hidden = true;
