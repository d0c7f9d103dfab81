// Updates a part of a page whenever the server changes it. The page is complete without this script.
// Rows have keys. The first message has all rows, later ones those that changed; every message has the order of all.

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

// The index of the focused element among the row's focusable elements.
const FOCUSABLE = "a[href], button, input, select, [tabindex]";

function put(place, { order, rows }) {
  [...place.children].forEach((row, number) => { row.dataset.key ??= order[number] ?? ""; });
  const focused = document.activeElement;
  const focusedRow = [...place.children].find((row) => row.contains(focused));
  const key = focusedRow?.dataset.key;
  const at = focusedRow === undefined ? -1 : [...focusedRow.querySelectorAll(FOCUSABLE)].indexOf(focused);
  const known = new Map([...place.children].map((row) => [row.dataset.key, row]));
  order.forEach((each, number) => {
    let row = known.get(each);
    if (rows[each] !== undefined) {
      const fresh = made(each, rows[each]);
      if (row === undefined || row.innerHTML !== fresh.innerHTML) {
        if (row !== undefined) {
          row.replaceWith(fresh);
          fresh.classList.add("fresh");
        }
        row = fresh;
      }
    }
    if (row !== undefined && place.children[number] !== row) place.insertBefore(row, place.children[number] ?? null);
  });
  while (place.children.length > order.length) place.lastElementChild.remove();
  if (at >= 0 && document.activeElement !== focused) {
    const row = [...place.children].find((each) => each.dataset.key === key);
    row?.querySelectorAll(FOCUSABLE)[at]?.focus({ preventScroll: true });
  }
}

for (const part of document.querySelectorAll("[data-live]")) {
  const place = part.dataset.rows === undefined ? part : part.querySelector(part.dataset.rows);
  if (place === null) continue;
  const source = new EventSource(part.dataset.live);
  source.addEventListener("rows", (event) => {
    put(place, JSON.parse(event.data));
    say("");
  });
  source.addEventListener("error", () => say("No connection to the server; it is tried again."));
  addEventListener("pagehide", () => source.close());
}
