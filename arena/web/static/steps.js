// Steps through a replay without loading a page a step: a round's steps come at once, drawn by the server.

const steps = document.getElementById("steps");
const frame = document.getElementById("frame");
const at = document.getElementById("at");
const { base, seat } = steps.dataset;
const last = Number(steps.dataset.last);
const query = seat === "" ? "" : `?seat=${seat}`;
const WAYS = {
  ArrowRight: "next", ArrowLeft: "previous", ArrowDown: "next part", ArrowUp: "previous part",
  "]": "next part", "[": "previous part",
  r: "next round", R: "previous round", f: "next forced", c: "next costly",
};
const scrub = document.getElementById("scrub");
const slider = scrub.querySelector("input");
const SWIPE = 40; // pixels
const frames = new Map();
const asked = new Set();
let index = Number(steps.dataset.step);
let round = Number(steps.dataset.round);

async function fetched(wanted) {
  if (wanted < 1 || asked.has(wanted)) return;
  asked.add(wanted);
  const answer = await fetch(`${base}/rounds/${wanted}${query}`);
  if (!answer.ok) return;
  const found = await answer.json();
  found.frames.forEach((each, place) => frames.set(found.first + place, { ...each, round: wanted }));
}

const address = (step) => `${base}/steps/${step}${query}`;

function shown(step) {
  const found = frames.get(step);
  if (found === undefined) return false;
  frame.innerHTML = found.html;
  at.textContent = step;
  slider.value = step;
  index = step;
  round = found.round;
  history.replaceState(null, "", address(step));
  for (const link of steps.querySelectorAll("[data-way]")) {
    const to = found.ways[link.dataset.way];
    if (to === null) link.setAttribute("aria-disabled", "true");
    else link.removeAttribute("aria-disabled");
    if (to === null) link.removeAttribute("href");
    else link.href = address(to);
    link.dataset.to = to ?? "";
  }
  for (const link of steps.querySelectorAll("[data-round][data-to]")) {
    if (Number(link.dataset.round) === round) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  for (const link of steps.querySelectorAll("[data-eyes]")) {
    const eyes = new URL(link.href).search;
    link.href = `${base}/steps/${step}${eyes}`;
  }
  fetched(round + 1);
  fetched(round - 1);
  return true;
}

function go(step) {
  if (step < 1 || step > last || shown(step)) return;
  location.href = address(step);
}

// The rounds on the way of the slider come one by one; the page is loaded anew only where one cannot be had.
async function scrubbed(step) {
  const starts = [...steps.querySelectorAll("[data-round][data-to]")].map((link) => Number(link.dataset.to));
  const wanted = Math.max(1, starts.filter((start) => start < step).length);
  if (!frames.has(step)) await fetched(wanted);
  if (Number(slider.value) === step && !shown(step) && !asked.has(wanted)) location.href = address(step);
}

function follow(way) {
  const to = steps.querySelector(`[data-way="${way}"]`)?.dataset.to;
  if (to) go(Number(to));
}

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select, textarea")) return;
  if (event.key === "?") {
    const keys = document.getElementById("keys");
    keys.open = !keys.open;
    if (keys.open) keys.querySelector("summary").focus();
    return;
  }
  const way = WAYS[event.key];
  if (way === undefined) return;
  follow(way);
  event.preventDefault();
});

steps.addEventListener("click", (event) => {
  const link = event.target.closest("[data-to]");
  if (link !== null && link.dataset.to && shown(Number(link.dataset.to))) event.preventDefault();
});

let touched = null;
frame.addEventListener("touchstart", (event) => {
  const alone = event.touches.length === 1 && !event.target.closest(".wide");
  touched = alone ? { x: event.touches[0].clientX, y: event.touches[0].clientY } : null;
}, { passive: true });
frame.addEventListener("touchend", (event) => {
  if (touched === null) return;
  const across = event.changedTouches[0].clientX - touched.x;
  const along = event.changedTouches[0].clientY - touched.y;
  touched = null;
  if (Math.abs(across) >= SWIPE && Math.abs(across) > 2 * Math.abs(along)) follow(across < 0 ? "next" : "previous");
}, { passive: true });

slider.addEventListener("input", () => scrubbed(Number(slider.value)));
slider.value = index;
scrub.hidden = false;

fetched(round);
fetched(round + 1);
