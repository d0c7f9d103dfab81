// Updates a part of a page whenever the server changes it. The page is complete without this script. Rows have keys.
// The first message contains all rows, later messages the changed rows, and every message the order of all rows. Its
// `state` is present if rows are missing or old, and says why.

import { replace } from "./replace.js";

const STATE = document.querySelector("[data-live-state]");

function say(text) {
  if (STATE !== null && STATE.textContent !== text) STATE.textContent = text;
}

function made(key, html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const row = holder.content.firstElementChild;
  row.dataset.key = key;
  return row;
}

// Hide the axis of a ladder as soon as its rows have a different scale.
function axis(place, scale) {
  const drawn = place.closest("table")?.querySelector("[data-scale]");
  drawn?.classList.toggle("stale", scale !== undefined && scale !== drawn.dataset.scale);
}

// Move a row to its place. A moved row loses the focus, so the focus is restored.
function move(place, row, number) {
  if (place.children[number] === row) return;
  const focused = row.contains(document.activeElement) ? document.activeElement : null;
  place.insertBefore(row, place.children[number] ?? null);
  focused?.focus({ preventScroll: true });
}

// A row as the server sent it. times.js has changed the form of its times since.
function sent(row) {
  const copy = row.cloneNode(true);
  for (const each of copy.querySelectorAll("time[title]")) {
    each.textContent = each.title;
    each.removeAttribute("title");
  }
  return copy.innerHTML;
}

function put(place, { order, rows }) {
  [...place.children].forEach((row, number) => { row.dataset.key ??= order[number] ?? ""; });
  const known = new Map([...place.children].map((row) => [row.dataset.key, row]));
  order.forEach((each, number) => {
    let row = known.get(each);
    if (rows[each] !== undefined) {
      const fresh = made(each, rows[each]);
      if (row === undefined) {
        row = fresh;
      } else if (sent(row) !== fresh.innerHTML) {
        replace(row, fresh.innerHTML);
        row.classList.add("fresh");
        row.addEventListener("animationend", () => row.classList.remove("fresh"), { once: true });
      }
      axis(place, fresh.querySelector("[data-of-scale]")?.dataset.ofScale);
    }
    if (row !== undefined) move(place, row, number);
  });
  while (place.children.length > order.length) place.lastElementChild.remove();
}

// While the reader holds the page, updates are collected. They are shown on release.
const hold = document.querySelector("[data-hold]");
const waiting = new Map();
let held = false;

function take(place, message) {
  if (!held) {
    put(place, message);
    return;
  }
  waiting.set(place, { order: message.order, rows: { ...waiting.get(place)?.rows, ...message.rows } });
}

if (hold !== null) {
  hold.hidden = false;
  hold.addEventListener("click", () => {
    held = !held;
    hold.setAttribute("aria-pressed", String(held));
    if (held) return;
    waiting.forEach((message, place) => put(place, message));
    waiting.clear();
  });
}

for (const part of document.querySelectorAll("[data-live]")) {
  const place = part.dataset.rows === undefined ? part : part.querySelector(part.dataset.rows);
  if (place === null) continue;
  const source = new EventSource(part.dataset.live);
  source.addEventListener("rows", (event) => {
    const message = JSON.parse(event.data);
    take(place, message);
    say(message.state ?? "");
  });
  source.addEventListener("error", () => say("No connection to the server; it is tried again."));
  addEventListener("pagehide", () => source.close());
}
