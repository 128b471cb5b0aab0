// Plots of variables over time, with a cursor at the present time; a click goes to a time.

import { interval, round, short } from "./numbers.js";

const COLOURS = ["#1d6fb8", "#d9822b", "#2f9e6e", "#b04a5a"];

export class Plot {
  /** series: [{name, unit, values}], all with one unit; times: (n,) [s]; seek: called with a time [s]. */
  constructor(title, series, times, seek, closed) {
    Object.assign(this, { title, series, times, seek });
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
    this.figure.append(caption, this.canvas);
    const go = (e) => {
      if (e.type === "pointermove" && !e.buttons) return;
      const box = this.canvas.getBoundingClientRect(), [left, right] = this.span;
      const part = (e.clientX - box.left - left) / (right - left);
      const [from, to] = this.range();
      seek(from + Math.min(1, Math.max(0, part)) * (to - from));
    };
    for (const kind of ["pointerdown", "pointermove"]) this.canvas.addEventListener(kind, go);
    this.span = [44, 300];
    this.base = null;
  }

  /** First and last time shown [s]. */
  range() {
    const t = this.times();
    return t.length > 1 ? [t[0], t[t.length - 1]] : [0, 1];
  }

  /** Least and greatest value of all series. */
  extent() {
    let low = Infinity, high = -Infinity;
    for (const one of this.series) for (const v of one.values()) if (Number.isFinite(v)) {
      if (v < low) low = v;
      if (v > high) high = v;
    }
    if (low > high) return [-1, 1];
    const room = Math.max(0.06 * (high - low), 1e-9 * Math.max(Math.abs(low), Math.abs(high)), 1e-12);
    return high - low < 1e-9 * Math.max(Math.abs(low), Math.abs(high), 1e-9) ? [low - 0.5 * (Math.abs(low) || 1), high + 0.5 * (Math.abs(high) || 1)] : [low - room, high + room];
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
    const c = this.base.getContext("2d"), style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--soft"), line = style.getPropertyValue("--line");
    c.scale(scale, scale);
    c.font = "10px system-ui, sans-serif";
    const [from, to] = this.range(), [low, high] = this.extent(), times = this.times();
    const left = 46, right = box.width - 6, top = 6, bottom = box.height - 16;
    this.span = [left, right];
    const x = (t) => left + (right - left) * (t - from) / (to - from || 1);
    const y = (v) => bottom - (bottom - top) * (v - low) / (high - low);
    c.fillStyle = ink;
    c.strokeStyle = line;
    c.lineWidth = 1;
    const step = round((high - low) / 2.5), pace = round((to - from) / 3.5);
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (let k = Math.ceil(low / step); k * step <= high; k++) {
      c.beginPath(); c.moveTo(left, y(k * step)); c.lineTo(right, y(k * step)); c.stroke();
      c.fillText(short(k * step), left - 4, y(k * step));
    }
    c.textBaseline = "top";
    c.textAlign = "center";
    for (let k = Math.ceil(from / pace - 1e-9); k * pace <= to; k++) {
      c.beginPath(); c.moveTo(x(k * pace), top); c.lineTo(x(k * pace), bottom); c.stroke();
      const at = Math.min(x(k * pace), right - 8);
      c.fillText(short(k * pace) + ((k + 1) * pace > to ? " s" : ""), at, bottom + 3);
    }
    this.series.forEach((one, k) => {
      c.strokeStyle = COLOURS[k % COLOURS.length];
      c.lineWidth = 1.4;
      c.beginPath();
      const values = one.values();
      for (let i = 0; i < times.length; i++) c.lineTo(x(times[i]), y(values[i]));
      c.stroke();
    });
    this.x = x;
    this.y = y;
    this.frame = [top, bottom, scale];
  }

  /** The cursor and the values at the time t [s]. */
  show(t) {
    if (!this.base) this.redraw();
    if (!this.base) return;
    const c = this.canvas.getContext("2d"), [top, bottom, scale] = this.frame, times = this.times();
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    c.drawImage(this.base, 0, 0);
    c.setTransform(scale, 0, 0, scale, 0, 0);
    const at = this.x(t);
    c.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--ink");
    c.lineWidth = 1;
    c.beginPath(); c.moveTo(at, top); c.lineTo(at, bottom); c.stroke();
    const [i, part] = interval(times, t), texts = [];
    this.series.forEach((one, k) => {
      const values = one.values(), v = part > 0 ? values[i] + part * (values[i + 1] - values[i]) : values[i];
      c.fillStyle = COLOURS[k % COLOURS.length];
      c.beginPath(); c.arc(at, this.y(v), 3, 0, 7); c.fill();
      texts.push(short(v));
    });
    this.value.textContent = `${texts.join(", ")} ${this.series[0].unit}`;
  }
}
