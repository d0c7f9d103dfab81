// Updates parts of a page from the server until they are complete. The page is not reloaded, since that would move
// the reader's focus and position. For browsers without scripts, the page has a link.

const EVERY = 3000; // ms
const FOCUSABLE = "a[href], button, input, select, [tabindex]";

function put(part, fresh) {
  if (part.innerHTML === fresh.innerHTML) return;
  const focused = document.activeElement;
  const at = part.contains(focused) ? [...part.querySelectorAll(FOCUSABLE)].indexOf(focused) : -1;
  const scrolled = [...part.querySelectorAll(".wide")].map((each) => each.scrollLeft);
  part.innerHTML = fresh.innerHTML;
  [...part.querySelectorAll(".wide")].forEach((each, place) => { each.scrollLeft = scrolled[place] ?? 0; });
  if (at >= 0) part.querySelectorAll(FOCUSABLE)[at]?.focus({ preventScroll: true });
}

// Update the parts from the server; return true while more is to come.
async function looked() {
  const answer = await fetch(location.href);
  if (!answer.ok) return answer.status === 429 || answer.status >= 500;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-later]")) {
    const now = fresh.getElementById(part.id);
    if (now !== null) put(part, now);
  }
  return fresh.querySelector("[data-waiting]") !== null;
}

function shown() {
  return new Promise((resolve) => {
    if (!document.hidden) resolve();
    else document.addEventListener("visibilitychange", resolve, { once: true });
  });
}

let more = document.querySelector("[data-waiting]") !== null;
while (more) {
  await new Promise((resolve) => { setTimeout(resolve, EVERY); });
  await shown(); // a page in the background makes no requests
  more = await looked().catch(() => true); // try again the next time
}
