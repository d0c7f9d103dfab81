// Steps through a replay without loading a page for each step: the server sends all drawn steps of a round at once.

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
const FOCUSED = "a[href], [tabindex]";
const SETTLED = 150; // ms
const scrub = document.getElementById("scrub");
const slider = scrub.querySelector("input");
const SWIPE = 40; // pixels
const frames = new Map();
const asked = new Map();
let index = Number(steps.dataset.step);
let round = Number(steps.dataset.round);
let rounds = Infinity; // until the last round is loaded
let wanted = index;
let settled = 0;

function fetched(number) {
  if (number >= 1 && number <= rounds && !asked.has(number)) {
    asked.set(number, asking(number).catch(() => asked.delete(number)));
  }
  return asked.get(number);
}

async function asking(number) {
  const answer = await fetch(`${base}/rounds/${number}${query}`);
  if (!answer.ok) return;
  const found = await answer.json();
  found.frames.forEach((each, place) => frames.set(found.first + place, { ...each, round: number }));
  if (found.first + found.frames.length > last) rounds = number;
}

const address = (step) => `${base}/steps/${step}${query}`;

function shown(step) {
  const found = frames.get(step);
  if (found === undefined) return false;
  const held = frame.contains(document.activeElement) ? [...frame.querySelectorAll(FOCUSED)].indexOf(document.activeElement) : -1;
  frame.innerHTML = found.html;
  if (held >= 0) frame.querySelectorAll(FOCUSED)[held]?.focus({ preventScroll: true });
  at.textContent = step;
  slider.value = step;
  index = step;
  round = found.round;
  // Change the address only after the last of several quick steps: browsers allow a hundred changes in 30 s.
  clearTimeout(settled);
  settled = setTimeout(() => history.replaceState(null, "", address(index)), SETTLED);
  for (const link of steps.querySelectorAll("[data-way]")) {
    const to = found.ways[link.dataset.way];
    if (to === null) {
      if (link === document.activeElement) link.tabIndex = 0; // otherwise focus is lost on a link to nowhere
      link.setAttribute("aria-disabled", "true");
      link.removeAttribute("href");
    } else {
      link.removeAttribute("aria-disabled");
      link.href = address(to);
    }
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

function roundOf(step) {
  const starts = [...steps.querySelectorAll("[data-round][data-to]")].map((link) => Number(link.dataset.to));
  return Math.max(1, starts.filter((start) => start < step).length);
}

async function go(step) {
  wanted = step;
  if (step < 1 || step > last || shown(step)) return;
  // Wait for the running request, as a held key or the slider would otherwise start loading again and again.
  await fetched(roundOf(step));
  if (step === wanted && step !== index && !shown(step)) location.href = address(step);
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
  if (link === null || !link.dataset.to || event.ctrlKey || event.metaKey || event.shiftKey) return; // for another tab
  go(Number(link.dataset.to));
  event.preventDefault();
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

slider.addEventListener("input", () => go(Number(slider.value)));
slider.value = index;
scrub.hidden = false;

fetched(round).then(() => fetched(round + 1));
