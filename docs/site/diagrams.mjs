import mermaid from "./mermaid/mermaid.esm.min.mjs";

const diagrams = [...document.querySelectorAll("pre.mermaid")].map((element) => [element, element.textContent]);
const dark = window.matchMedia("(prefers-color-scheme: dark)");

async function draw() {
  const chosen = document.body.dataset.theme;
  const isDark = chosen === "dark" || (chosen !== "light" && dark.matches);
  const themeVariables = { edgeLabelBackground: isDark ? "#333" : "#eee" }; // legible, unlike the themes' own
  mermaid.initialize({ startOnLoad: false, securityLevel: "strict", theme: isDark ? "dark" : "neutral", themeVariables });
  for (const [element, text] of diagrams) {
    element.textContent = text;
    delete element.dataset.processed;
  }
  await mermaid.run({ nodes: diagrams.map(([element]) => element) });
}

new MutationObserver(draw).observe(document.body, { attributeFilter: ["data-theme"] });
dark.addEventListener("change", draw);
await draw();
