// Plays a replay that is drawn step by step: on a page of the arena, on the TV page and in a
// notebook.
//
// A source has the number of steps (`last`), `frame(step)`, which is undefined until the step is loaded, and `load(step)`,
// which loads it. A frame has its HTML, the steps to which the controls lead (`ways`), and the time for which it is shown
// (`ms`).

import { replace } from "./replace.js";

// Users can switch off single-character keys (WCAG 2.2, 2.1.4).
const LETTERS = {
  "]": "next part", "[": "previous part", r: "next round", R: "previous round", f: "next forced", c: "next costly",
};
const KEYS = {
  ArrowRight: "next", ArrowLeft: "previous", ArrowDown: "next part", ArrowUp: "previous part",
  Home: "first", End: "last",
};
const CONTROLS = "a[href], a[role], button, input, select, textarea, summary, [tabindex]";
const SWIPE = 40; // pixels
const NO_LETTERS = "arena-no-letter-keys";

// A page in a frame without its own origin has no storage.
function remembered(name) {
  try { return localStorage.getItem(name) !== null; } catch { return false; }
}

function remember(name, on) {
  try {
    if (on) localStorage.setItem(name, "1");
    else localStorage.removeItem(name);
  } catch { /* the setting lasts for this page only */ }
}

export class Player {
  playing = false;

  constructor(root, source, { onShow = () => {}, onEnd = () => {} } = {}) {
    this.root = root;
    this.source = source;
    this.onShow = onShow;
    this.onEnd = onEnd;
    this.frame = root.querySelector("#frame");
    this.at = root.querySelector("#at");
    this.slider = root.querySelector("input[type=range]");
    this.button = root.querySelector("[data-play]");
    this.speed = root.querySelector("[data-speed]");
    this.keys = root.querySelector("#keys");
    this.letters = root.querySelector("[data-letters]");
    this.index = this.wanted = Number(root.dataset.step);
    this.ended = new AbortController();
    const listen = (on, name, what) => on?.addEventListener(name, what, { signal: this.ended.signal, passive: name.startsWith("touch") });
    listen(document, "keydown", (event) => this.key(event));
    listen(root, "click", (event) => this.click(event));
    listen(this.slider, "input", () => { this.pause(); this.go(Number(this.slider.value)); });
    listen(document, "visibilitychange", () => this.wait());
    listen(this.letters, "change", () => remember(NO_LETTERS, !this.letters.checked));
    listen(this.frame, "touchstart", (event) => this.touch(event));
    listen(this.frame, "touchend", (event) => this.swipe(event));
    if (this.letters) this.letters.checked = !remembered(NO_LETTERS);
    this.slider.value = this.index;
    for (const each of root.querySelectorAll("[data-scripted]")) each.hidden = false;
    this.say();
  }

  // Stop permanently, because another match replaces this one.
  end() {
    this.pause();
    this.ended.abort();
  }

  play() {
    this.playing = true;
    this.say();
    if (this.index >= this.source.last) this.go(1);
    this.wait();
  }

  pause() {
    this.playing = false;
    clearTimeout(this.timer);
    this.say();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  say() {
    if (!this.button) return;
    this.button.textContent = this.playing ? "❚❚ Pause" : "▶ Play";
  }

  // Continue after the step has been shown for long enough, and only while the page is visible.
  wait() {
    clearTimeout(this.timer);
    if (!this.playing || document.hidden) return;
    const ms = (this.source.frame(this.index)?.ms ?? 900) / Number(this.speed?.value ?? 1);
    this.timer = setTimeout(async () => {
      if (this.index >= this.source.last) {
        this.pause();
        this.onEnd();
        return;
      }
      await this.go(this.index + 1);
      this.wait();
    }, ms);
  }

  show(step) {
    const found = this.source.frame(step);
    if (found === undefined) return false;
    replace(this.frame, found.html);
    this.at.textContent = step;
    this.slider.value = step;
    this.index = step;
    for (const control of this.root.querySelectorAll("[data-way]")) {
      const to = found.ways[control.dataset.way];
      if (control.tagName === "BUTTON") {
        control.disabled = !to && control !== document.activeElement;
      } else if (to) {
        control.removeAttribute("aria-disabled");
        control.href = this.source.address(to);
      } else {
        if (control === document.activeElement) control.tabIndex = 0; // otherwise the focus is lost on a link to nowhere
        control.setAttribute("aria-disabled", "true");
        control.removeAttribute("href");
      }
      control.dataset.to = to ?? "";
    }
    this.onShow(step, found);
    return true;
  }

  async go(step) {
    this.wanted = step;
    if (step < 1 || step > this.source.last || this.show(step)) return;
    // Wait for the running request. Otherwise a held key or the slider would start loading repeatedly.
    await this.source.load(step);
    if (step === this.wanted && step !== this.index && !this.show(step)) this.source.lost(step);
  }

  follow(way) {
    const to = this.root.querySelector(`[data-way="${way}"]`)?.dataset.to;
    if (!to) return;
    this.pause();
    this.go(Number(to));
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select, textarea")) return;
    const letters = this.letters?.checked ?? true;
    if (event.key === " " && !event.target.closest(CONTROLS)) {
      this.toggle();
    } else if (event.key === "?" && this.keys && letters) {
      this.keys.open = !this.keys.open;
      if (this.keys.open) this.keys.querySelector("summary").focus();
      return;
    } else {
      const way = KEYS[event.key] ?? (letters ? LETTERS[event.key] : undefined);
      if (way === undefined) return;
      this.follow(way);
    }
    event.preventDefault();
  }

  click(event) {
    if (event.target.closest("[data-play]")) {
      this.toggle();
      return;
    }
    const control = event.target.closest("[data-to]");
    if (!control?.dataset.to || event.ctrlKey || event.metaKey || event.shiftKey) return; // opens another tab
    this.pause();
    this.go(Number(control.dataset.to));
    event.preventDefault();
  }

  touch(event) {
    const alone = event.touches.length === 1 && !event.target.closest(".wide");
    this.touched = alone ? { x: event.touches[0].clientX, y: event.touches[0].clientY } : null;
  }

  swipe(event) {
    if (!this.touched) return;
    const across = event.changedTouches[0].clientX - this.touched.x;
    const along = event.changedTouches[0].clientY - this.touched.y;
    this.touched = null;
    if (Math.abs(across) >= SWIPE && Math.abs(across) > 2 * Math.abs(along)) this.follow(across < 0 ? "next" : "previous");
  }
}
