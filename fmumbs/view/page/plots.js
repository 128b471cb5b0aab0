// Plots of variables over time or against another one, with a cursor at the present time; a click goes to a time.

import { interval, round, short } from "./numbers.js";

const COLOURS = ["#1d6fb8", "#d9822b", "#2f9e6e", "#b04a5a"];

export class Plot {
  /** curves: [{name, unit, times, x, y, beside}], functions that return (n,) arrays; x: null where it is the time;
   * beside: of a second result, drawn dashed. across: {name, unit} of x, null for the time. seek: called with a
   * time [s]. */
  constructor(title, curves, across, seek, closed) {
    Object.assign(this, { title, curves, across, seek });
    this.figure = document.createElement("figure");
    const caption = document.createElement("figcaption"), name = document.createElement("b");
    name.textContent = title;
    this.value = document.createElement("output");
    const close = document.createElement("button");
    close.textContent = "×";
    close.title = `Close the plot of ${title}`;
    close.addEventListener("click", () => { this.figure.remove(); closed(this); });
    caption.append(name, this.value, close);
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `plot of ${title}`);
    this.figure.append(caption, this.canvas);
    const go = (e) => { if (e.type === "pointerdown" || e.buttons) this.goTo(e); };
    for (const kind of ["pointerdown", "pointermove"]) this.canvas.addEventListener(kind, go);
    this.base = null;
  }

  /** To the time at the pointer; against a variable, to that of the nearest point of the first curve. */
  goTo(e) {
    if (!this.x) return;
    const box = this.canvas.getBoundingClientRect(), at = [e.clientX - box.left, e.clientY - box.top];
    if (!this.across) {
      const [left, right] = this.span, [from, to] = this.range;
      this.seek(from + Math.min(1, Math.max(0, (at[0] - left) / (right - left))) * (to - from));
      return;
    }
    const { times, x, y } = read(this.curves[0]);
    let best = 0, least = Infinity;
    for (let i = 0; i < times.length; i++) {
      const away = Math.hypot(this.x(x[i]) - at[0], this.y(y[i]) - at[1]);
      if (away < least) [best, least] = [i, away];
    }
    this.seek(times[best]);
  }

  /** Draws axes and lines, which change with the size, the colours and live data only. */
  redraw() {
    const scale = devicePixelRatio || 1, box = this.canvas.getBoundingClientRect();
    if (!box.width) return;
    this.canvas.width = Math.round(box.width * scale);
    this.canvas.height = Math.round(box.height * scale);
    this.base = document.createElement("canvas");
    this.base.width = this.canvas.width;
    this.base.height = this.canvas.height;
    const c = this.base.getContext("2d"), lines = this.curves.map(read);
    c.scale(scale, scale);
    const [low, high] = extent(lines.map((one) => one.y));
    const [from, to] = this.across ? extent(lines.map((one) => one.x)) : span(lines.filter((_, i) => !this.curves[i].beside));
    const left = 46, right = box.width - 6, top = 6, bottom = box.height - 16;
    this.span = [left, right];
    this.range = [from, to];
    this.x = (t) => left + (right - left) * (t - from) / (to - from || 1);
    this.y = (v) => bottom - (bottom - top) * (v - low) / (high - low);
    this.axes(c, [left, right, top, bottom], [from, to, low, high]);
    c.beginPath();
    c.rect(left, top - 2, right - left, bottom - top + 4);
    c.clip();
    lines.forEach((one, k) => {
      c.strokeStyle = this.colour(k);
      c.lineWidth = this.curves[k].beside ? 1.2 : 1.4;
      c.setLineDash(this.curves[k].beside ? [4, 3] : []);
      c.beginPath();
      for (let i = 0; i < one.times.length; i++) c.lineTo(this.x(one.x[i]), this.y(one.y[i]));
      c.stroke();
    });
    this.frame = [top, bottom, scale];
  }

  /** A second result's curve has the next colour. */
  colour(k) {
    return COLOURS[k % COLOURS.length];
  }

  axes(c, [left, right, top, bottom], [from, to, low, high]) {
    const style = getComputedStyle(document.documentElement);
    c.font = "10px system-ui, sans-serif";
    c.fillStyle = style.getPropertyValue("--soft");
    c.strokeStyle = style.getPropertyValue("--line");
    c.lineWidth = 1;
    const step = round((high - low) / 2.5), pace = round((to - from) / 3.5), unit = this.across ? this.across.unit : "s";
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (let k = Math.ceil(low / step); k * step <= high; k++) {
      c.beginPath(); c.moveTo(left, this.y(k * step)); c.lineTo(right, this.y(k * step)); c.stroke();
      c.fillText(short(k * step), left - 4, this.y(k * step));
    }
    c.textBaseline = "top";
    c.textAlign = "center";
    for (let k = Math.ceil(from / pace - 1e-9); k * pace <= to; k++) {
      c.beginPath(); c.moveTo(this.x(k * pace), top); c.lineTo(this.x(k * pace), bottom); c.stroke();
      const last = (k + 1) * pace > to && unit;
      if (last) c.textAlign = "right";
      c.fillText(short(k * pace) + (last ? ` ${unit}` : ""), last ? Math.min(this.x(k * pace) + 12, right) : this.x(k * pace), bottom + 3);
    }
  }

  /** The cursor and the values at the time t [s]. */
  show(t) {
    if (!this.base) this.redraw();
    if (!this.base) return;
    const c = this.canvas.getContext("2d"), [top, bottom, scale] = this.frame, texts = [];
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    c.drawImage(this.base, 0, 0);
    c.setTransform(scale, 0, 0, scale, 0, 0);
    if (!this.across) {
      c.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--ink");
      c.lineWidth = 1;
      c.beginPath(); c.moveTo(this.x(t), top); c.lineTo(this.x(t), bottom); c.stroke();
    }
    this.curves.forEach((curve, k) => {
      const { times, x, y } = read(curve), [i, part] = interval(times, t);
      const at = (values) => part > 0 ? values[i] + part * (values[i + 1] - values[i]) : values[i];
      c.fillStyle = this.colour(k);
      c.beginPath(); c.arc(this.across ? this.x(at(x)) : this.x(t), this.y(at(y)), 3, 0, 7); c.fill();
      texts.push(short(at(y)));
    });
    this.value.textContent = `${texts.join(", ")} ${this.curves[0].unit}`;
  }
}

function read({ times, x, y }) {
  const t = times();
  return { times: t, x: x ? x() : t, y: y() };
}

/** First and last time [s]. */
function span(lines) {
  const from = Math.min(...lines.map(({ times }) => times[0])), to = Math.max(...lines.map(({ times }) => times[times.length - 1]));
  return to > from ? [from, to] : [0, 1];
}

/** Least and greatest of all values, with room. */
function extent(lists) {
  let low = Infinity, high = -Infinity;
  for (const values of lists) for (const v of values) if (Number.isFinite(v)) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  if (low > high) return [-1, 1];
  const size = Math.max(Math.abs(low), Math.abs(high)), room = Math.max(0.06 * (high - low), 1e-9 * size, 1e-12);
  return high - low < 1e-9 * Math.max(size, 1e-9) ? [low - 0.5 * (Math.abs(low) || 1), high + 0.5 * (Math.abs(high) || 1)] : [low - room, high + room];
}
