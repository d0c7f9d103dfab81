// Updates parts of a page from the server until they are complete. It does not reload the page, because that would
// move the reader's focus and position. For browsers without scripts, the page has a link.

import { replace } from "./replace.js";

const EVERY = 3000; // ms

// Update the parts from the server. Return true if more updates are to come.
async function looked() {
  const answer = await fetch(location.href);
  if (!answer.ok) return answer.status === 429 || answer.status >= 500;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-later]")) {
    const now = fresh.getElementById(part.id);
    if (now !== null) replace(part, now.innerHTML);
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
