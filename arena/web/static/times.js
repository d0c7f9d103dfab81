// Shows times relative to now, such as "3 minutes ago". The title contains the exact time. Pages contain only the
// exact time, so that they do not change and need not be sent again.

const UNITS = [["day", 86_400], ["hour", 3600], ["minute", 60], ["second", 1]];
const EVERY = 10_000; // ms
const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

// Return the time until an instant as a countdown.
function countdown(seconds) {
  if (seconds <= 0) return "now";
  const rest = [Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60].map((each) => String(each).padStart(2, "0"));
  const hours = Math.floor(seconds / 3600);
  const days = Math.floor(hours / 24);
  return `in ${days > 0 ? `${words.format(days, "day").replace(/^in /, "")} ` : ""}${hours % 24}:${rest.join(":")}`;
}

function say() {
  for (const each of document.querySelectorAll("time[datetime]:not([data-countdown])")) {
    each.title ||= each.textContent;
    const seconds = (Date.parse(each.dateTime) - Date.now()) / 1000;
    const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? UNITS.at(-1);
    const text = words.format(Math.trunc(seconds / size), unit);
    if (each.textContent !== text) each.textContent = text;
  }
}

function count() {
  for (const each of document.querySelectorAll("time[data-countdown]")) {
    each.title ||= each.textContent;
    const text = countdown((Date.parse(each.dateTime) - Date.now()) / 1000);
    if (each.textContent !== text) each.textContent = text;
  }
}

say();
count();
setInterval(say, EVERY);
setInterval(count, 1000);
