const packed = Uint8Array.from(atob(document.getElementById("packed").textContent), (each) => each.charCodeAt(0));
const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
const { frames, stops } = await new Response(unpacked).json();
const frame = document.getElementById("frame");
const at = document.getElementById("at");
const slider = document.querySelector("input");
const KEYS = {
  ArrowRight: "next", ArrowLeft: "previous", "]": "next part", "[": "previous part",
  ArrowDown: "next part", ArrowUp: "previous part", r: "next round", R: "previous round", f: "next forced",
};
let index = 1;

function way(name) {
  const [where, what = "step"] = name.split(" ");
  if (what === "step") return index + (where === "next" ? 1 : -1);
  return where === "next" ? stops[what].find((stop) => stop > index) : stops[what].findLast((stop) => stop < index);
}

function show(step) {
  if (!(step >= 1 && step <= frames.length)) return;
  index = step;
  frame.innerHTML = frames[step - 1];
  at.textContent = step;
  slider.value = step;
  for (const button of document.querySelectorAll("button")) {
    const to = way(button.dataset.way);
    button.disabled = !(to >= 1 && to <= frames.length) && button !== document.activeElement;
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button !== null) show(way(button.dataset.way));
});
slider.addEventListener("input", () => show(Number(slider.value)));
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || !(event.key in KEYS)) return;
  show(way(KEYS[event.key]));
  event.preventDefault();
});
document.querySelector("nav").hidden = false;
show(1);
