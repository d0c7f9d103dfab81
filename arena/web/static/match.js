// The player of a match: the server sends all drawn steps of a round at once.

import { Player } from "./player.js";

const SETTLED = 150; // ms

// The steps of a match by round. Each round is loaded together with its neighbours.
export class Rounds {
  frames = new Map();
  asked = new Map();
  rounds = Infinity; // until the last round is loaded

  constructor(root) {
    this.root = root;
    this.base = root.dataset.base;
    this.last = Number(root.dataset.last);
    this.query = root.dataset.seat === "" ? "" : `?seat=${root.dataset.seat}`;
  }

  frame(step) {
    return this.frames.get(step);
  }

  address(step) {
    if (this.root.dataset.embed !== undefined) return `?step=${step}${this.query.replace("?", "&")}`;
    return `${this.base}/steps/${step}${this.query}`;
  }

  load(step) {
    const starts = this.root.dataset.rounds.split(",").map(Number);
    return this.fetched(Math.max(1, starts.filter((start) => start < step).length));
  }

  lost(step) {
    location.href = this.address(step);
  }

  fetched(number) {
    if (number >= 1 && number <= this.rounds && !this.asked.has(number)) {
      this.asked.set(number, this.asking(number).catch(() => this.asked.delete(number)));
    }
    return this.asked.get(number);
  }

  async asking(number) {
    const answer = await fetch(`${this.base}/rounds/${number}${this.query}`);
    if (!answer.ok) return;
    const found = await answer.json();
    found.frames.forEach((each, place) => this.frames.set(found.first + place, { ...each, round: number }));
    if (found.first + found.frames.length > this.last) this.rounds = number;
  }
}

// Marks the round that is shown, and loads its neighbours.
export function shown(root, source, step, { round }) {
  for (const link of root.querySelectorAll("[data-round][data-to]")) {
    if (Number(link.dataset.round) === round) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  source.fetched(round + 1);
  source.fetched(round - 1);
}

function begin(root) {
  const source = new Rounds(root);
  let settled = 0;
  new Player(root, source, {
    onShow(step, frame) {
      shown(root, source, step, frame);
      // Change the address only after the last of several quick steps: browsers allow a hundred changes in 30 s.
      clearTimeout(settled);
      if (root.dataset.embed !== undefined) return; // the visible address is the other site's
      settled = setTimeout(() => {
        history.replaceState(null, "", source.address(step));
        document.title = `Match ${root.dataset.number}, step ${step} · Arena`;
      }, SETTLED);
      for (const link of root.querySelectorAll("[data-eyes]")) {
        link.href = `${source.base}/steps/${step}${new URL(link.href).search}`;
      }
    },
  });
  const round = Number(root.dataset.round);
  source.fetched(round)?.then(() => source.fetched(round + 1));
}

const alone = document.getElementById("steps");
if (alone !== null && alone.dataset.tv === undefined) begin(alone);
