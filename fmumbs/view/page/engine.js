// A mechanism beside the page: in a worker, so that a step that takes long never blocks the tab.

import { Mechanism, MechanismError } from "./live.js";

/** What the worker does. Its calls are answered in order. */
export class Host {
  constructor() {
    this.piece = 1 / 240; // of simulated time between looks at the clock [s]
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

  set(name, value) {
    this.mechanism.set(name, value);
  }

  /** starts: values by name of what was changed before. */
  reset(starts, references) {
    this.mechanism.reset(starts);
    return this.frame(references);
  }

  frame(references) {
    return { time: this.mechanism.time, poses: this.mechanism.poses(), values: this.mechanism.read(references) };
  }

  /** Advances by an interval [s], or less of it when `budget` [ms] is over. Returns {frames, failure}: a frame at each
   * multiple of `pace` [s] on the way and where it ends; why a step ended early, else null. */
  advance(interval, pace, budget, references) {
    const { mechanism } = this, began = performance.now(), end = mechanism.time + interval, frames = [];
    let failure = null, count = Math.floor(mechanism.time / pace * (1 + 1e-12)) + 1;
    try {
      while (mechanism.time < end && performance.now() - began < budget) {
        const before = performance.now(), next = Math.min(end, count * pace);
        const goal = mechanism.time + this.piece < next ? mechanism.time + this.piece : next;
        mechanism.step(goal);
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

/** Calls of a Host, as promises; they reject with a MechanismError. */
export class Engine {
  constructor() {
    this.pending = new Map();
    this.count = 0;
    this.host = null;
    this.answered = false;
    try {
      const text = `"use strict";${MechanismError}\n${Mechanism}\n${Host}\nconst host = new Host();\n${serve}\nserve(host);`;
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
