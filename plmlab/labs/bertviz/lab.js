// Around bertviz's own script: fit the frame's height to the drawing, and make it operable by keyboard.

const say = (node, role, name) => { node.setAttribute("role", role); node.setAttribute("aria-label", name); };
const mouse = (node, kind) => node.dispatchEvent(new MouseEvent(kind, { bubbles: kind !== "mouseleave" }));

// One tab stop, arrow keys inside (roving tabindex); `columns` is the number of nodes per row.
function walk(nodes, columns, act) {
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  nodes.forEach((node, i) => {
    node.setAttribute("tabindex", i ? -1 : 0);
    node.addEventListener("keydown", (event) => {
      if (event.key in steps) nodes[i + steps[event.key]]?.focus();
      else if (event.key === "Enter" || event.key === " ") act(node);
      else return;
      event.preventDefault();
    });
  });
}

function reach(svg) {
  const boxes = [...svg.querySelectorAll(":scope > g:last-of-type > rect:not(.attn_background)")];
  const thumbnails = [...svg.querySelectorAll("g > .attn_background")].map((node) => node.parentNode.lastChild);
  if (thumbnails.length) {
    const rows = new Set(thumbnails.map((node) => node.getAttribute("y"))).size;
    const columns = thumbnails.length / rows;
    thumbnails.forEach((node, i) => say(node, "button", `row ${Math.floor(i / columns)}, column ${i % columns}`));
    walk(thumbnails, columns, (node) => mouse(node, "click"));
    return;
  }
  boxes.forEach((node, i) => say(node, "button", `head ${i} on or off`));
  walk(boxes, 1, (node) => mouse(node, "click"));
  for (const side of svg.querySelectorAll("#left, #right")) {
    const tokens = [...side.querySelectorAll(".background")].map((node) => node.parentNode);
    for (const node of tokens) {
      say(node, "button", node.textContent);
      node.addEventListener("focus", () => mouse(node, "mouseover"));
      node.addEventListener("blur", () => mouse(side, "mouseleave"));
    }
    walk(tokens, 1, () => {});
  }
}

// The model view is drawn 970 px wide and is scaled down if there is less room. The head view needs little.
function size(svg) {
  const [width, height] = [svg.getAttribute("width"), svg.getAttribute("height")];
  if (width.endsWith("%")) { document.body.style.maxWidth = "360px"; return; }
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.style.cssText = `width: 100%; max-width: ${width}px; height: auto`;
}

const drawing = document.querySelector("#vis");
const prepare = () => drawing.querySelectorAll(":scope > svg").forEach((svg) => { size(svg); reach(svg); });
new MutationObserver(prepare).observe(drawing, { childList: true });
prepare();
document.querySelector("#layer")?.setAttribute("aria-label", "Layer");
document.querySelector("#filter")?.setAttribute("aria-label", "Attention");

const fit = () => { if (window.frameElement) window.frameElement.style.height = `${document.body.offsetHeight + 2}px`; };
new ResizeObserver(fit).observe(document.body);
fit();
document.documentElement.dataset.drawn = "true";
