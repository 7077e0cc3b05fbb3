// Placement of labels next to their points: in order of importance, without overlaps.

const CELL = 64;

/** The labels that fit, [{ …name, left, top }], at most `most`. `names` are { x, y, width, gap }, most important first,
    `width` in px, `gap` the distance from the point; each is tried on the right, on the left, above and below. */
export function placed(names, { width, height, line, most }) {
  const taken = new Map();
  const cells = (box, each) => {
    for (let row = Math.floor(box.top / CELL); row <= Math.floor((box.top + line) / CELL); row++) {
      for (let column = Math.floor(box.left / CELL); column <= Math.floor((box.left + box.width) / CELL); column++) {
        if (each(row * 1024 + column)) return true;
      }
    }
    return false;
  };
  const free = (box) => !cells(box, (cell) => taken.get(cell)?.some((other) =>
    box.left < other.left + other.width && other.left < box.left + box.width &&
    box.top < other.top + line && other.top < box.top + line));
  const boxes = [];
  for (const name of names) {
    if (boxes.length >= most) break;
    const { x, y, gap } = name;
    const [middle, half] = [y - line / 2, name.width / 2];
    for (const [left, top] of [[x + gap, middle], [x - gap - name.width, middle], [x - half, y - gap - line],
      [x - half, y + gap]]) {
      const box = { ...name, left, top };
      if (left < 0 || left + name.width > width || top < 0 || top + line > height || !free(box)) continue;
      cells(box, (cell) => {
        if (taken.has(cell)) taken.get(cell).push(box);
        else taken.set(cell, [box]);
        return false;
      });
      boxes.push(box);
      break;
    }
  }
  return boxes;
}
