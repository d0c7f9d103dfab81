// The replay in a notebook: the document contains all steps, packed.

import { Player } from "./player.js";

const packed = Uint8Array.from(atob(document.getElementById("packed").textContent), (each) => each.charCodeAt(0));
const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
const frames = await new Response(unpacked).json();
const player = new Player(document.querySelector("main"), {
  last: frames.length,
  frame: (step) => frames[step - 1],
  load: async () => {},
});
player.show(1);
