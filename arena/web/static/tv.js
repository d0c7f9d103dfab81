// The TV page: plays one match after another. It starts by itself, unless the reader prefers
// reduced motion.

import { Rounds, shown } from "./match.js";
import { Player } from "./player.js";

const AGAIN = 10_000; // ms until the next match is asked for again, if the server did not answer
const tv = document.getElementById("tv");
let player;

function begin(playing) {
  const root = document.getElementById("steps");
  const source = new Rounds(root);
  player = new Player(root, source, {
    onShow: (step, frame) => shown(root, source, step, frame),
    onEnd: () => next(true),
  });
  source.fetched(1)?.then(() => { if (playing) player.play(); });
}

async function next(playing) {
  const answer = await fetch(tv.dataset.next).catch(() => null);
  if (!answer?.ok) {
    setTimeout(() => next(playing), AGAIN);
    return;
  }
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("tv");
  if (fresh === null) return;
  const skipping = document.activeElement?.matches("[data-skip]") ?? false;
  const speed = player.speed?.value;
  player.end();
  tv.innerHTML = fresh.innerHTML;
  tv.dataset.next = fresh.dataset.next;
  if (skipping) tv.querySelector("[data-skip]").focus({ preventScroll: true });
  if (speed) tv.querySelector("[data-speed]").value = speed;
  begin(playing);
}

if (tv !== null) {
  tv.addEventListener("click", (event) => {
    if (!event.target.closest("[data-skip]") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    next(player.playing);
  });
  begin(!matchMedia("(prefers-reduced-motion: reduce)").matches);
}
