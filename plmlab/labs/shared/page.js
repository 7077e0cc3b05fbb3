// Draw the lab on a standalone page without a kernel: traits live in this page only.
export default function drawAlone(lab) {
  const traits = { ...JSON.parse(document.getElementById("traits").textContent), alone: true };
  const handlers = new Map();
  const model = {
    get: (name) => traits[name],
    set(name, value) {
      traits[name] = value;
      for (const handler of handlers.get(`change:${name}`) ?? []) handler();
    },
    save_changes() {},
    on: (event, handler) => handlers.set(event, [...(handlers.get(event) ?? []), handler]),
    off: (event, handler) => handlers.set(event, (handlers.get(event) ?? []).filter((h) => h !== handler)),
  };
  lab.render({ model, el: document.getElementById("lab") });
  document.documentElement.dataset.drawn = "true";
}
