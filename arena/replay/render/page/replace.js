// Replaces a part of a page. Preserves the focus and the scroll position of each part.

const FOCUSABLE = "a[href], button, input, select, summary, [tabindex]";
const SCROLLED = ".wide, .words";

export function replace(part, html) {
  if (part.innerHTML === html) return;
  const focused = document.activeElement;
  const at = part.contains(focused) ? [...part.querySelectorAll(FOCUSABLE)].indexOf(focused) : -1;
  const scrolled = [...part.querySelectorAll(SCROLLED)].map((each) => [each.scrollLeft, each.scrollTop]);
  part.innerHTML = html;
  [...part.querySelectorAll(SCROLLED)].forEach((each, place) => {
    [each.scrollLeft, each.scrollTop] = scrolled[place] ?? [0, 0];
  });
  if (at >= 0) part.querySelectorAll(FOCUSABLE)[at]?.focus({ preventScroll: true });
}
