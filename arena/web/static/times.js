// Shows times as readers think of them, such as "3 minutes ago". The title contains the exact time. Pages contain only
// the exact time, so that they do not change and need not be sent again.

const UNITS = [["day", 86_400], ["hour", 3600], ["minute", 60], ["second", 1]];
const EVERY = 10_000; // ms
const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

function say() {
  for (const each of document.querySelectorAll("time[datetime]")) {
    each.title ||= each.textContent;
    const seconds = (Date.parse(each.dateTime) - Date.now()) / 1000;
    const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? UNITS.at(-1);
    const text = words.format(Math.trunc(seconds / size), unit);
    if (each.textContent !== text) each.textContent = text;
  }
}

say();
setInterval(say, EVERY);
