// The motion that a live mechanism has made so far, as a recording that grows.

import { interval } from "./numbers.js";
import { Recording } from "./recording.js";

const POSE = 12; // numbers of a body from the core: r (3), R (3, 3) by rows
const MOST = 4000; // frames, and fewer of many bodies; then every second is dropped

/** Quaternion w x y z of a rotation matrix, given by rows; of its two signs the one nearer to `last`. */
export function quaternionOf(R, last) {
  const [a, b, c, d, e, f, g, h, i] = R, trace = a + e + i;
  const squares = [1 + trace, 1 + 2 * a - trace, 1 + 2 * e - trace, 1 + 2 * i - trace];
  const rows = [
    [squares[0], h - f, c - g, d - b],
    [h - f, squares[1], b + d, c + g],
    [c - g, b + d, squares[2], f + h],
    [d - b, c + g, f + h, squares[3]],
  ];
  const q = rows[squares.indexOf(Math.max(...squares))], size = Math.hypot(...q);
  const along = last ? q.reduce((sum, one, k) => sum + one * last[k], 0) : 1;
  return q.map((one) => one / (along < 0 ? -size : size));
}

/** Numbers in rows that grow: `rows` is a view of those there are. */
class Rows {
  constructor(width) {
    this.width = width;
    this.clear();
  }

  clear() {
    this.all = new Float64Array(64 * this.width);
    this.count = 0;
  }

  get rows() {
    return this.all.subarray(0, this.count * this.width);
  }

  last() {
    return this.all.subarray((this.count - 1) * this.width, this.count * this.width);
  }

  push(row) {
    const at = this.count * this.width;
    if (at + this.width > this.all.length) {
      const larger = new Float64Array(2 * this.all.length);
      larger.set(this.all);
      this.all = larger;
    }
    this.all.set(row, at);
    this.count++;
  }

  /** Keeps every second row, and the last. */
  thin() {
    const { width } = this, half = (this.count + 1) >> 1, first = (this.count + 1) % 2;
    for (let k = 0; k < half; k++) this.all.copyWithin(k * width, (2 * k + first) * width, (2 * k + first + 1) * width);
    this.count = half;
  }
}

export class Motion extends Recording {
  /** recording: whose bodies and forces it has; state: that of the picture, which at() writes. */
  constructor(data, recording) {
    super(data);
    this.state = recording.state;
    this.kept = { times: new Rows(1), poses: new Rows(7 * this.bodies), pull: new Rows(6), modal: [], forces: [], watched: new Map() };
    this.kept.modal = this.modal.map(([body, values]) => [body, new Rows(values.length / this.times.length)]);
    this.kept.forces = this.forces.map(({ kind, index }) => ({ kind, index, rows: new Rows(3) }));
    this.most = Math.max(200, Math.min(MOST, Math.floor(2e6 / Math.max(1, this.bodies))));
    this.clear();
  }

  all() {
    const { times, poses, pull, modal, forces, watched } = this.kept;
    return [times, poses, pull, ...modal.map(([, rows]) => rows), ...forces.map(({ rows }) => rows), ...watched.values()];
  }

  clear() {
    for (const rows of this.all()) rows.clear();
    this.show();
  }

  /** What Recording reads. */
  show() {
    const { times, poses, modal, forces } = this.kept;
    this.times = times.rows;
    this.poses = poses.rows;
    this.modal = modal.map(([body, rows]) => [body, rows.rows]);
    this.forces = forces.map(({ kind, index, rows }) => ({ kind, index, f: rows.rows }));
    this.start = times.count ? this.times[0] : 0;
    this.end = times.count ? this.times[times.count - 1] : 0;
  }

  /** From now on the values of a variable are kept; before, they are unknown. */
  watch(name) {
    if (this.kept.watched.has(name)) return;
    const rows = new Rows(1);
    for (let i = 0; i < this.kept.times.count; i++) rows.push([NaN]);
    this.kept.watched.set(name, rows);
  }

  values(name) {
    this.watch(name);
    return this.kept.watched.get(name).rows;
  }

  /** The variables whose values are kept. */
  names() {
    return [...this.kept.watched.keys()];
  }

  /** The state at the time t [s], with a pull there: where it acts and where to, or null. */
  at(t) {
    const [i] = interval(this.times, t), row = this.kept.pull.rows.subarray(6 * i, 6 * i + 6);
    super.at(t);
    this.state.pull = Number.isNaN(row[0]) ? null : row;
    return this.state;
  }

  /** poses: as the core gives them; pull: (6) or null; force, watched: values by "kind index" and by name. */
  push(time, poses, pull, force, watched) {
    const { kept } = this, row = new Float64Array(7 * this.bodies), before = kept.poses.count ? kept.poses.last() : null;
    for (let b = 0; b < this.bodies; b++) {
      const from = POSE * b, to = 7 * b;
      row.set(poses.subarray(from, from + 3), to);
      row.set(quaternionOf(poses.subarray(from + 3, from + POSE), before && before.subarray(to + 3, to + 7)), to + 3);
    }
    kept.times.push([time]);
    kept.poses.push(row);
    kept.pull.push(pull || new Array(6).fill(NaN));
    let at = POSE * this.bodies;
    for (const [, rows] of kept.modal) {
      rows.push(poses.subarray(at, at + rows.width));
      at += rows.width;
    }
    for (const { kind, index, rows } of kept.forces) rows.push(force.get(`${kind} ${index}`) || [0, 0, 0]);
    for (const [name, rows] of kept.watched) rows.push([watched.has(name) ? watched.get(name) : NaN]);
    if (kept.times.count > this.most) for (const rows of this.all()) rows.thin();
    this.show();
  }
}
