// A mechanism beside the page: in a worker, so that a step that takes long never blocks the tab.

import { Mechanism, MechanismError } from "./live.js";

/** What the worker does. Its calls are answered in order. */
export class Host {
  constructor() {
    this.piece = 1 / 240; // of simulated time between looks at the clock [s]
    this.hand = null;
    this.forget();
  }

  /** What a second run needs to give the same bits: all ends of steps, and what was changed at which of them. */
  forget(starts = {}) {
    this.log = { starts, times: [0], changes: [] };
    this.pending = new Map();
  }

  record() {
    return this.log;
  }

  /** core, image: bytes. Returns what describe() does. */
  async open(core, image) {
    this.mechanism = await Mechanism.open(core, image);
    return this.describe();
  }

  /** All variables, those that can be changed while it runs with their values at the start. */
  describe() {
    const all = this.mechanism.variables, changed = all.filter((one) => one.causality === "input" || one.tunable);
    const values = this.mechanism.read(changed.map((one) => one.reference));
    changed.forEach((one, i) => { one.start = values[i]; });
    return all;
  }

  /** From the next step on; values in between would leave their trace in the integration. Refused at once. */
  set(name, value) {
    const kept = this.mechanism.save();
    try {
      this.mechanism.set(name, value);
    } finally {
      this.mechanism.restore(kept);
    }
    this.pending.set(name, value);
  }

  /** starts: values by name of what was changed before. */
  reset(starts, references) {
    this.hand = null;
    this.mechanism.reset(starts);
    this.forget({ ...starts });
    return this.frame(references);
  }

  frame(references) {
    const { mechanism, hand } = this;
    return { time: mechanism.time, poses: mechanism.poses(), values: mechanism.read(references), pull: hand && [...this.whereIs(hand).point, ...hand.aim] };
  }

  step(goal) {
    const { mechanism, log, pending } = this;
    if (this.hand) this.pull();
    for (const [name, value] of pending) {
      mechanism.set(name, value);
      log.changes.push({ step: log.times.length - 1, name, value });
    }
    pending.clear();
    mechanism.step(goal);
    log.times.push(mechanism.time);
  }

  // A hand ----------------------------------------------------------------------------------------------------------

  /** Takes hold of a body or of a named point: {body: its name, at: (3) where, in its frame [m], omega [rad/s], most: a
   * mass [kg]}. Once held, it is pulled towards `aim` by a spring and a damper, k = m omega^2 and d = 2 m omega, with the mass m that the
   * mechanism has there: three directions of a unit force accelerate the point by 3 / m in all, and `most` at most. */
  hold(hand) {
    this.release(); // of what another finger holds
    this.hand = { ...hand, aim: this.whereIs(hand).point };
    this.hand.mass = this.massAt(this.hand);
  }

  aim(at) {
    if (this.hand) this.hand.aim = at;
  }

  /** Lets go: the load is zero again. */
  release() {
    if (!this.hand) return;
    for (const [name] of this.load([0, 0, 0], [0, 0, 0])) this.pending.set(name, 0);
    this.hand = null;
  }

  /** arm: from the origin of the body's frame to where it is held; point: this place in the world [m]. */
  whereIs({ body, at }) {
    const r = this.vector(`${body}.r`);
    if (!at.some(Boolean)) return { arm: [0, 0, 0], point: r };
    const [w, ...u] = this.vector(`${body}.quat`, 4);
    const once = cross(u, at), twice = cross(u, once);
    const arm = at.map((one, k) => one + 2 * (w * once[k] + twice[k]));
    return { arm, point: r.map((one, k) => one + arm[k]) };
  }

  /** A velocity or an acceleration where it is held: that of the frame's origin, and what the rate of turning adds. */
  there({ body }, arm, linear, turning) {
    const v = this.vector(`${body}.${linear}`), added = arm.some(Boolean) ? cross(this.vector(`${body}.${turning}`), arm) : [0, 0, 0];
    return v.map((one, k) => one + added[k]);
  }

  vector(name, count = 3) {
    return Array.from({ length: count }, (_, k) => this.mechanism.get(`${name}[${k + 1}]`));
  }

  /** The load that a force at the held point is, by the names of its inputs. */
  load(force, arm) {
    const parts = [["force", force], ["torque", cross(arm, force)]];
    return parts.flatMap(([what, values]) => values.map((value, k) => [`${this.hand.body}.pull.${what}[${k + 1}]`, value]));
  }

  massAt({ most }) {
    const { mechanism } = this, kept = mechanism.save(), { arm } = this.whereIs(this.hand);
    const acceleration = (force) => {
      for (const [name, value] of this.load(force, arm)) mechanism.set(name, value);
      return this.there(this.hand, arm, "a", "alpha");
    };
    let sum = 0;
    try {
      const before = acceleration([0, 0, 0]);
      for (let k = 0; k < 3; k++) sum += (acceleration([0, 1, 2].map((i) => (i === k ? most : 0)))[k] - before[k]) / most;
    } finally {
      mechanism.restore(kept);
    }
    return 3 / sum > 0 && 3 / sum < most ? 3 / sum : most;
  }

  pull() {
    const { hand } = this, { arm, point } = this.whereIs(hand), v = this.there(hand, arm, "v", "w"), { mass, omega, aim } = hand;
    hand.force = point.map((one, k) => mass * omega * (omega * (aim[k] - one) - 2 * v[k]));
    for (const [name, value] of this.load(hand.force, arm)) this.pending.set(name, value);
  }

  // Running ---------------------------------------------------------------------------------------------------------

  /** Advances by an interval [s], or less of it when `budget` [ms] is over. Returns {frames, failure}: a frame at each
   * multiple of `pace` [s] on the way and where it ends; why a step ended early, else null. */
  advance(interval, pace, budget, references) {
    const { mechanism } = this, began = performance.now(), end = mechanism.time + interval, frames = [];
    const close = Math.max(1e-6 * pace, 1e-13 * end); // a native run takes times that round-off parts for one
    if (this.hand) this.hand.mass = this.massAt(this.hand);
    let failure = null, count = Math.floor((mechanism.time + close) / pace) + 1;
    try {
      while (mechanism.time < end - close && performance.now() - began < budget) {
        const before = performance.now(), next = count * pace < end + close ? count * pace : end;
        const piece = this.hand ? Math.min(this.piece, 0.1 / this.hand.omega) : this.piece;
        const goal = mechanism.time + piece < next - close ? mechanism.time + piece : next;
        this.step(goal);
        if (goal === count * pace) { frames.push(this.frame(references)); count++; }
        const spent = performance.now() - before;
        if (spent > budget / 2) this.piece = Math.max(this.piece / 2, 1e-7);
        else if (spent < budget / 8) this.piece = Math.min(this.piece * 2, 0.1);
      }
    } catch (error) {
      failure = error.message;
    }
    if (!frames.length || frames[frames.length - 1].time < mechanism.time) frames.push(this.frame(references));
    return { frames, failure };
  }
}

function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

/** Calls of a Host, as promises; they reject with a MechanismError. */
export class Engine {
  constructor() {
    this.pending = new Map();
    this.count = 0;
    this.host = null;
    this.answered = false;
    try {
      const text = `"use strict";${MechanismError}\n${Mechanism}\n${cross}\n${Host}\nconst host = new Host();\n${serve}\nserve(host);`;
      this.url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      this.worker = new Worker(this.url);
      this.worker.onmessage = ({ data }) => this.receive(data);
      this.worker.onerror = (event) => { event.preventDefault(); this.broken(event.message); };
    } catch {
      this.inPage();
    }
  }

  call(name, ...values) {
    return new Promise((resolve, reject) => {
      const id = this.count++;
      this.pending.set(id, { resolve, reject, name, values });
      if (this.host) this.answer(id);
      else this.worker.postMessage({ id, name, values });
    });
  }

  receive({ id, result, error }) {
    const { resolve, reject } = this.pending.get(id);
    this.answered = true;
    this.pending.delete(id);
    if (error) reject(new MechanismError(error.message, error.time));
    else resolve(result);
  }

  /** Where workers are not allowed, as in some notebooks, the page itself steps. */
  inPage() {
    this.host = new Host();
    this.turn = Promise.resolve();
    for (const id of this.pending.keys()) this.answer(id);
  }

  answer(id) {
    const { resolve, reject, name, values } = this.pending.get(id);
    this.pending.delete(id);
    this.turn = this.turn.then(() => this.host[name](...values)).then(resolve, reject);
  }

  broken(message) {
    if (!this.answered && !this.host) { this.inPage(); return; }
    for (const { reject } of this.pending.values()) reject(new MechanismError(message || "the worker ended"));
    this.pending.clear();
  }

  close() {
    if (this.worker) this.worker.terminate();
    if (this.url) URL.revokeObjectURL(this.url);
    for (const { reject } of this.pending.values()) reject(new MechanismError("stopped"));
    this.pending.clear();
  }
}

/** In the worker: answers messages {id, name, values} in order. */
function serve(host) {
  let turn = Promise.resolve();
  onmessage = ({ data: { id, name, values } }) => {
    turn = turn.then(async () => {
      try {
        postMessage({ id, result: await host[name](...values) });
      } catch (error) {
        postMessage({ id, error: { message: error.message, time: error.time } });
      }
    });
  };
}

/** Bytes of {deflated: base64}, raw deflate. */
export async function inflated(field) {
  const text = atob(field.deflated), packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
