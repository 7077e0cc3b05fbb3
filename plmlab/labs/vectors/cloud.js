// The cloud of words on a canvas: points, names, lines to neighbours, the arrows of an analogy, and trails.

import { placed } from "./labels.js";
import { MARKS, trace } from "./marks.js";
import { clamp } from "../shared/dom.js";
import { roundNumbers } from "../shared/plot.js";
import { short } from "../shared/words.js";

const LINE = 16;
const LETTERS = 26;
const ROOM_OF_A_NAME = 4_500; // px²
const FONT = 12;
const FAMILY = "system-ui, sans-serif";

/** The maps between picture coordinates and px: `view` is the centre, { x, y }, and the scale in px per unit. */
export function lens({ x, y, scale }, width, height) {
  return {
    x: (value) => (value - x) * scale + width / 2, y: (value) => height / 2 - (value - y) * scale,
    backX: (px) => (px - width / 2) / scale + x, backY: (px) => (height / 2 - px) / scale + y,
  };
}

/** The view that contains all points of the lists [x, y, …], with a margin of `room` px. */
export function fitted(lists, width, height, room = 34) {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const xy of lists) {
    for (let i = 0; i < xy.length; i += 2) {
      [left, right] = [Math.min(left, xy[i]), Math.max(right, xy[i])];
      [low, high] = [Math.min(low, xy[i + 1]), Math.max(high, xy[i + 1])];
    }
  }
  const scale = Math.min((width - 2 * room) / (right - left || 1), (height - 2 * room) / (high - low || 1));
  return { x: (left + right) / 2, y: (low + high) / 2, scale };
}

/** The radius of each word's point, which grows with the logarithm of its count. */
export function radii({ count, counts, groupOf }) {
  const most = Math.log1p(Math.max(1, ...(counts ?? [])));
  return Float32Array.from({ length: count }, (_, row) =>
    (counts ? 1.5 + (3.6 * Math.log1p(counts[row])) / most : 2.4) + (groupOf[row] >= 0 ? 0.9 : 0));
}

const shortened = (word) => {
  const characters = [...word];
  return characters.length > LETTERS ? `${characters.slice(0, LETTERS).join("")}…` : word;
};

/** The renderer of one canvas. `paint(scene)` draws; a scene is { space, xy, view, zoom, size, seen, lit, chosen, near,
    pointed, arrows, trails, colours, width, height }. */
export function painter(canvas) {
  const context = canvas.getContext("2d");
  const widths = new Map();
  const fonts = { false: `${FONT}px ${FAMILY}`, true: `600 ${FONT + 1}px ${FAMILY}` };

  const widthOf = (text, bold) => {
    const key = `${bold}${text}`;
    if (!widths.has(key)) {
      context.font = fonts[bold];
      widths.set(key, context.measureText(text).width);
    }
    return widths.get(key);
  };

  function frame({ view, width, height, colours }, at) {
    context.lineWidth = 1;
    context.fillStyle = colours.soft;
    context.font = `11px ${FAMILY}`;
    const numbers = (low, high, size) => roundNumbers(low, high, Math.max(2, size / 90));
    context.strokeStyle = colours.line;
    for (const value of numbers(at.backX(0), at.backX(width), width)) {
      const x = Math.round(at.x(value)) + 0.5;
      context.beginPath();
      context.globalAlpha = value === 0 ? 1 : 0.45;
      context.moveTo(x, 0);
      context.lineTo(x, height);
      context.stroke();
      context.globalAlpha = 1;
      context.textAlign = "center";
      if (x > 46 && x < width - 20) context.fillText(short(value, 2), x, height - 5);
    }
    for (const value of numbers(at.backY(height), at.backY(0), height)) {
      const y = Math.round(at.y(value)) + 0.5;
      context.beginPath();
      context.globalAlpha = value === 0 ? 1 : 0.45;
      context.moveTo(0, y);
      context.lineTo(width, y);
      context.stroke();
      context.globalAlpha = 1;
      context.textAlign = "left";
      if (y > 20 && y < height - 22) context.fillText(short(value, 2), 4, y + 4);
    }
  }

  function points({ space, size, seen, lit, colours, zoom, width, height }, px) {
    const grown = Math.min(1.7, zoom ** 0.3);
    for (let group = -1; group < space.groups.length; group++) {
      const mark = MARKS[group];
      context.fillStyle = mark ? mark.colour : colours.soft;
      for (const bright of [false, true]) {
        context.globalAlpha = bright ? (mark ? 0.95 : 0.42) : 0.13;
        context.beginPath();
        for (let row = 0; row < space.count; row++) {
          if (space.groupOf[row] !== group || !seen(row) || (lit ? lit.has(row) : true) !== bright) continue;
          const [x, y] = [px[2 * row], px[2 * row + 1]];
          if (x < -8 || y < -8 || x > width + 8 || y > height + 8) continue;
          if (mark) trace(context, mark.form, x, y, size[row] * grown);
          else {
            context.moveTo(x + size[row] * grown, y);
            context.arc(x, y, size[row] * grown, 0, 2 * Math.PI);
          }
        }
        context.fill();
      }
    }
    context.globalAlpha = 1;
  }

  function trails({ trails: kept, colours, chosen }, at) {
    if (!kept) return;
    context.lineJoin = "round";
    for (const { row, path } of kept) {
      context.strokeStyle = row === chosen ? colours.query : colours.soft;
      context.lineWidth = row === chosen ? 2 : 1;
      for (let i = 2; i < path.length; i += 2) {
        context.globalAlpha = (row === chosen ? 0.85 : 0.28) * (0.15 + (0.85 * i) / path.length);
        context.beginPath();
        context.moveTo(at.x(path[i - 2]), at.y(path[i - 1]));
        context.lineTo(at.x(path[i]), at.y(path[i + 1]));
        context.stroke();
      }
    }
    context.globalAlpha = 1;
  }

  function threads({ near, chosen, colours }, px) {
    context.strokeStyle = colours.query;
    near.forEach((row, i) => {
      context.globalAlpha = 0.75 - 0.045 * i;
      context.lineWidth = 1.8 - 0.1 * i;
      context.beginPath();
      context.moveTo(px[2 * chosen], px[2 * chosen + 1]);
      context.lineTo(px[2 * row], px[2 * row + 1]);
      context.stroke();
    });
    context.globalAlpha = 1;
  }

  function ringed(row, px, colour, radius, wide = 2.2) {
    context.strokeStyle = colour;
    context.lineWidth = wide;
    context.beginPath();
    context.arc(px[2 * row], px[2 * row + 1], radius, 0, 2 * Math.PI);
    context.stroke();
  }

  function arrow([x, y], [toX, toY], dash) {
    const long = Math.hypot(toX - x, toY - y);
    if (long < 6) return;
    const [dx, dy] = [(toX - x) / long, (toY - y) / long];
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(toX - 4 * dx, toY - 4 * dy);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(toX, toY);
    context.lineTo(toX - 11 * dx - 5 * dy, toY - 11 * dy + 5 * dx);
    context.lineTo(toX - 11 * dx + 5 * dy, toY - 11 * dy - 5 * dx);
    context.closePath();
    context.fill();
  }

  function question({ arrows, colours }, px) {
    if (!arrows) return;
    const at = (row) => [px[2 * row], px[2 * row + 1]];
    const [a, b, c] = [arrows.a, arrows.b, arrows.c].map(at);
    const to = [c[0] + b[0] - a[0], c[1] + b[1] - a[1]];
    for (const [stroke, wide] of [[colours.paper, 5], [colours["key-text"], 2.2]]) {
      [context.strokeStyle, context.fillStyle, context.lineWidth] = [stroke, stroke, wide];
      arrow(a, b, []);
      arrow(c, to, [6, 4]);
    }
    context.beginPath();
    for (const [dx, dy] of [[6, 6], [6, -6]]) {
      context.moveTo(to[0] - dx, to[1] - dy);
      context.lineTo(to[0] + dx, to[1] + dy);
    }
    context.stroke();
    if (arrows.answer >= 0) ringed(arrows.answer, px, colours["target-text"], 9, 3);
  }

  /** The words in the order in which they are labelled, most important first. */
  function* named({ space, chosen, near, pointed, arrows, lit, seen }) {
    const done = new Set();
    const heavy = [pointed, chosen, ...(arrows ? [arrows.a, arrows.b, arrows.c, arrows.answer, arrows.d] : []), ...near];
    for (const row of heavy) {
      if (row < 0 || done.has(row)) continue;
      done.add(row);
      yield [row, row === chosen || row === pointed, true];
    }
    for (const row of lit ?? []) {
      if (!done.has(row) && seen(row)) yield [row, true, true];
      done.add(row);
    }
    if (lit) return;
    for (let grouped = 1; grouped >= 0; grouped--) {
      for (let row = 0; row < space.count; row++) {
        if (space.groupOf[row] >= 0 === Boolean(grouped) && !done.has(row) && seen(row)) yield [row, false, false];
      }
    }
  }

  function names(scene, px) {
    const { space, width, height, colours, size, arrows } = scene;
    const wanted = [];
    const most = Math.round(clamp((width * height) / ROOM_OF_A_NAME, 14, 90));
    for (const [row, bold, heavy] of named(scene)) {
      const [x, y] = [px[2 * row], px[2 * row + 1]];
      if (x < 0 || y < 0 || x > width || y > height) continue;
      const text = shortened(space.words[row]);
      const ring = row === scene.chosen || row === arrows?.answer ? 8 : 0;
      wanted.push({ row, text, bold, heavy, x, y, gap: 3 + Math.max(size[row], ring), width: widthOf(text, bold) });
      if (wanted.length > 6 * most) break;
    }
    context.textAlign = "left";
    context.lineJoin = "round";
    context.strokeStyle = colours.paper;
    context.lineWidth = 3.5;
    for (const name of placed(wanted, { width, height, line: LINE, most })) {
      context.font = fonts[name.bold];
      context.fillStyle = name.heavy ? colours.ink : colours.soft;
      context.strokeText(name.text, name.left, name.top + 12);
      context.fillText(name.text, name.left, name.top + 12);
    }
  }

  const px = { of: new Float32Array(0) };
  return { paint(scene) {
    const { xy, view, width, height, chosen, pointed, colours } = scene;
    const fine = canvas.width / width;
    const at = lens(view, width, height);
    if (px.of.length !== xy.length) px.of = new Float32Array(xy.length);
    for (let i = 0; i < xy.length; i += 2) {
      px.of[i] = (xy[i] - view.x) * view.scale + width / 2;
      px.of[i + 1] = height / 2 - (xy[i + 1] - view.y) * view.scale;
    }
    context.setTransform(fine, 0, 0, fine, 0, 0);
    context.clearRect(0, 0, width, height);
    context.textBaseline = "alphabetic";
    frame(scene, at);
    points(scene, px.of);
    trails(scene, at);
    threads(scene, px.of);
    question(scene, px.of);
    ringed(chosen, px.of, colours.query, 7);
    if (pointed >= 0 && pointed !== chosen) ringed(pointed, px.of, colours.ink, 6, 1.6);
    names(scene, px.of);
  } };
}
