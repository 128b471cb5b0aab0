// The motion that was computed before the page was written: poses at some instants, interpolated between them.

import { decoded, interval } from "./numbers.js";

/** Positions r (x y z of each body) [m], quaternions q (w x y z) and modal coordinates at one instant of a source. */
export function emptyState(bodies) {
  return { source: null, r: new Float64Array(3 * bodies), q: new Float64Array(4 * bodies), modal: {}, forces: new Map(), pull: null };
}

export class Recording {
  constructor(data) {
    this.times = decoded(data.times);
    this.bodies = data.scene.bodies ? data.scene.bodies.length : 0;
    this.poses = decoded(data.poses);
    this.modal = Object.entries(data.modal).map(([body, field]) => [Number(body), decoded(field)]);
    this.forces = data.forces.map((one) => ({ ...one, f: decoded(one.f) }));
    this.start = this.times[0];
    this.end = this.times[this.times.length - 1];
    this.state = emptyState(this.bodies);
  }

  /** Places one body, none for a negative index, as in row i. */
  placeBody(body, i) {
    if (body < 0) return;
    const { r, q, modal } = this.state, at = 7 * (i * this.bodies + body);
    r.set(this.poses.subarray(at, at + 3), 3 * body);
    q.set(this.poses.subarray(at + 3, at + 7), 4 * body);
    for (const [which, values] of this.modal) {
      const modes = values.length / this.times.length;
      if (which === body) modal[body] = Array.from(values.subarray(i * modes, (i + 1) * modes));
    }
  }

  /** The state at the time t [s]. */
  at(t) {
    const [i, part] = interval(this.times, t), j = part > 0 ? i + 1 : i, n = 7 * this.bodies;
    const { r, q } = this.state, p = this.poses;
    this.state.pull = null;
    this.state.source = this;
    const mix = (a, b) => part > 0 ? a + part * (b - a) : a;
    for (let body = 0; body < this.bodies; body++) {
      const a = i * n + 7 * body, b = j * n + 7 * body;
      for (let k = 0; k < 3; k++) r[3 * body + k] = mix(p[a + k], p[b + k]);
      let square = 0;
      for (let k = 0; k < 4; k++) {
        const value = mix(p[a + 3 + k], p[b + 3 + k]);
        q[4 * body + k] = value;
        square += value * value;
      }
      if (part > 0) for (let k = 0; k < 4; k++) q[4 * body + k] /= Math.sqrt(square);
    }
    for (const [body, values] of this.modal) {
      const modes = values.length / this.times.length;
      this.state.modal[body] = Array.from({ length: modes }, (_, k) => mix(values[i * modes + k], values[j * modes + k]));
    }
    for (const one of this.forces) {
      const f = [0, 1, 2].map((k) => mix(one.f[3 * i + k], one.f[3 * j + k]));
      this.state.forces.set(`${one.kind} ${one.index}`, f);
    }
    return this.state;
  }
}
