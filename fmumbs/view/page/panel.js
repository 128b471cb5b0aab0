// The live mechanism: run, reset, sliders of its inputs and tunable parameters.

import { Engine, inflated } from "./engine.js";
import { saved } from "./files.js";
import { Motion } from "./motion.js";
import { round, short } from "./numbers.js";

const BUDGET = 40; // ms of work for one frame
const LONGEST = 0.25; // of wall time that one frame makes up for [s]
const FRAMES = 240; // that are kept of a second as it is seen, of a mechanism of at most so many bodies:
const MANY = 60;
const FIRST_ROWS = 6; // sliders of inputs above the plots
const MOST_ROWS = 60; // others that are shown at once; the rest are found by their names
const PULL = /\.pull\.(force|torque)\[\d\]$/; // inputs of a hand
const $ = (id) => document.getElementById(id);

export class Panel {
  /** page: whose source of motion it replaces while it is on. */
  constructor(page) {
    this.page = page;
    this.on = false;
    this.changed = { ...page.data.live.starts }; // values by name with which it starts over
    this.held = 0; // until when the present line stays
    this.rate = 1; // simulated time by wall time, smoothed
    for (const id of ["live", "invite"]) $(id).hidden = false;
    $("invite").addEventListener("click", () => this.enter());
    $("live-run").addEventListener("click", () => { if (this.on) this.leave(); else this.enter(); });
    $("live-reset").addEventListener("click", () => this.reset());
    $("live-save").addEventListener("click", () => this.save());
    $("live-filter").addEventListener("input", () => this.showParameters());
    $("live-more").addEventListener("toggle", () => this.showParameters());
  }

  /** Shows a line; one that comes while an earlier one is held [ms] is dropped, unless it is held too. */
  say(text, hold = 0) {
    const now = performance.now();
    if (!hold && now < this.held) return;
    this.held = now + hold;
    if ($("live-status").textContent !== text) $("live-status").textContent = text;
  }

  // On and off --------------------------------------------------------------------------------------------

  async enter() {
    const { page } = this;
    try {
      if (!this.engine) await this.open();
    } catch (error) {
      this.engine?.close();
      this.engine = null;
      this.say(error.message);
      return;
    }
    this.on = true;
    $("invite").hidden = true;
    this.say("drag a body to pull it, or move a slider", 5000);
    page.play(false);
    page.source = this.motion;
    $("live-run").textContent = "Back to the recording";
    for (const id of ["live-reset", "live-save"]) $(id).hidden = false;
    await this.reset();
  }

  leave() {
    const { page } = this;
    page.play(false);
    this.on = false;
    page.source = page.recording;
    $("live-run").textContent = "Run live";
    for (const id of ["live-reset", "live-save"]) $(id).hidden = true;
    this.held = 0;
    this.say("");
    this.setSlider();
    page.seek(page.source.start);
    this.drawPlots();
    page.traces.draw();
  }

  async open() {
    const { page } = this, { live } = page.data;
    this.say("opening…");
    this.engine = new Engine();
    const [core, image] = await Promise.all([inflated(live.core || CORE), inflated(live.image)]);
    const variables = await this.engine.call("open", core, image);
    this.variables = new Map(variables.map((one) => [one.name, one]));
    this.motion = new Motion(page.data, page.recording);
    this.forces = this.forceReferences();
    this.makeScale(variables);
    for (const one of variables) one.declared = live.declared[one.name];
    this.inputs = variables.filter((one) => one.causality === "input" && !PULL.test(one.name));
    const rank = new Map(this.inputs.map((one) => [one, this.rank(one)]));
    this.inputs.sort((a, b) => rank.get(a) - rank.get(b));
    const late = (one) => (one.declared ? -1 : /\.inertia\[\d\]$/.test(one.name) ? 2 : one.name.endsWith(".mass") ? 1 : 0);
    const parameters = variables.filter((one) => one.causality === "parameter" && one.tunable).sort((a, b) => late(a) - late(b));
    this.parameters = [...this.inputs.slice(FIRST_ROWS), ...parameters];
    document.querySelector("#live summary").textContent = this.inputs.length > FIRST_ROWS ? "More inputs, parameters" : "Parameters";
    $("live-inputs").replaceChildren(...this.inputs.slice(0, FIRST_ROWS).map((one) => this.slider(one)));
    $("live-more").hidden = this.parameters.length === 0;
    this.takeSeries();
  }

  /** Inputs that a user drives come first: declared variables, programs, then joints of few free modes; those of joints
   * with springs, as of supports and flexible links, last. */
  rank({ name, declared }) {
    if (declared) return 0;
    if (/\.(kappa_dot|eta)_in/.test(name)) return 1;
    const owner = name.slice(0, name.lastIndexOf(".")), stem = name.replace(/\[\d+\]$/, "");
    let modes = 1, sprung = this.variables.get(`${owner}.stiffness`)?.start > 0;
    for (let k = 1; this.variables.has(`${stem}[${k}]`); k++) {
      modes = k;
      sprung ||= this.variables.get(`${owner}.stiffness[${k}]`)?.start > 0;
    }
    return 1 + modes + (sprung ? 100 : 0);
  }

  /** Value references of the forces that the picture draws, where the image has them. */
  forceReferences() {
    const { scene, forces } = this.page.data, found = [];
    for (const { kind, index } of forces) {
      const [elements, suffix] = { reaction: [scene.joints, "reaction.f"], "reaction torque": [scene.joints, "reaction.t"], load: [scene.loads, "force"], torque: [scene.loads, "torque"], contact: [scene.contacts, "force"], spot: [scene.contacts, "point"] }[kind];
      const { name, spots = 1 } = elements[index], of = (what, count) => Array.from({ length: count }, (_, k) => this.variables.get(count > 1 ? `${name}.${what}[${k + 1}]` : `${name}.${what}`));
      const parts = kind === "spot" ? [...of("point", 3 * spots), ...of("normal", spots)] : of(suffix, 3);
      const value = kind === "spot" ? (values) => meanSpot(values, spots) : (values) => values;
      if (parts.every(Boolean)) found.push({ key: `${kind} ${index}`, references: parts.map((one) => one.reference), value });
    }
    return found;
  }

  // Running -----------------------------------------------------------------------------------------------

  /** Value references of what a frame needs: of the variables that are kept, `names`, and of the forces. */
  wanted(names) {
    const plotted = names.map((name) => this.variables.get(name).reference);
    return [...plotted, ...this.forces.flatMap((one) => one.references)];
  }

  /** Simulated time between frames [s]: curves are smooth at any speed, and the page can hold many bodies. */
  pace() {
    return Math.max(1, this.motion.bodies / MANY) * this.page.speed / FRAMES;
  }

  /** frames: of the motion since the last ones; the picture shows the last. names: of the variables in their values,
   * before the forces. */
  take(frames, names) {
    for (const { time, poses, values, pull } of frames) {
      const now = new Map(names.map((name, i) => [name, values[i]])), force = new Map();
      let at = names.length;
      for (const { key, references, value } of this.forces) force.set(key, value(values.subarray(at, at += references.length)));
      this.motion.push(time, poses, pull, force, now);
    }
    this.setSlider();
    this.page.seek(this.motion.end);
  }

  setSlider() {
    const { source } = this.page;
    Object.assign($("slider"), { min: source.start, max: source.end, disabled: !(source.end > source.start) });
    $("play").disabled = !this.on && !(source.end > source.start);
  }

  async reset() {
    this.page.play(false);
    if (this.motion.times.length) { this.held = 0; this.say(""); }
    this.run = (this.run || 0) + 1;
    this.restInputs();
    try {
      const names = this.motion.names();
      const frame = await this.engine.call("reset", this.changed, this.wanted(names));
      this.motion.clear();
      this.take([frame], names);
      this.page.play(true);
    } catch (error) {
      const parameters = Object.keys(this.changed).filter((name) => !(name in this.page.data.live.starts));
      this.say(`${error.message}${parameters.length ? `. Changed were: ${parameters.join(", ")}; a double click on a name takes its change back` : ""}`);
    }
    this.drawPlots();
  }

  /** Inputs go back to what they are at the start, as what drove it may be why it failed; parameters stay. */
  restInputs() {
    for (const one of this.inputs) {
      const given = this.page.data.live.starts[one.name];
      if (given === undefined) delete this.changed[one.name]; else this.changed[one.name] = given;
      for (const input of document.querySelectorAll("#live input[data-name]")) {
        if (input.dataset.name === one.name) input.value = input.type === "range" ? given ?? one.start : short(given ?? one.start, 6);
      }
    }
  }

  /** One frame of a page that plays: asks for `dt` [s] of wall time, unless an answer is still to come. */
  async tick(dt) {
    if (this.waiting) { this.late = (this.late || 0) + dt; return; }
    const run = this.run, wall = dt + (this.late || 0), asked = Math.min(wall, LONGEST) * this.page.speed;
    this.late = 0;
    this.waiting = true;
    try {
      const from = this.motion.end, names = this.motion.names();
      const { frames, failure } = await this.engine.call("advance", asked, this.pace(), BUDGET, this.wanted(names));
      if (run !== this.run || !this.on) return;
      this.take(frames, names);
      if (failure) { this.page.play(false); this.say(`${failure}. Reset starts over.`, 1e9); return; }
      this.judge(this.motion.end - from, wall);
    } catch (error) {
      this.page.play(false);
      this.say(error.message);
    } finally {
      this.waiting = false;
    }
    this.drawPlots(100);
  }

  /** Says so when the mechanism moves more slowly than the page plays. */
  judge(moved, wall) {
    if (!(wall > 0)) return;
    this.rate += Math.min(1, 4 * wall) * (Math.min(1, moved / wall / this.page.speed) - this.rate);
    const now = short(this.rate * this.page.speed, 2);
    this.say(this.rate < 0.9 ? `slower than ${this.page.speed} ×: the mechanism moves at ${now} × real time` : "");
  }

  // A hand --------------------------------------------------------------------------------------------------

  /** What a hand at a point of the world holds: a rigid body, or of a flexible one the nearest of its named points. */
  handle(body, point) {
    const { picture } = this.page, { name } = picture.bodies[body];
    const pulled = (one) => this.variables.has(`${one}.pull.force[1]`);
    if (pulled(name)) return { name, at: point.clone().sub(picture.position(body)).applyQuaternion(picture.rotation(body).invert()).toArray() };
    const points = (this.page.data.scene.points || []).filter((one) => one.P.body === body && pulled(one.name));
    const far = (one) => picture.place(one.P)[0].distanceTo(point);
    return points.length ? { name: points.reduce((a, b) => (far(b) < far(a) ? b : a)).name, at: [0, 0, 0] } : null;
  }

  /** Takes hold of a body at a point of the world. The spring is so stiff that 30 times gravity pulls over the size of
   * the mechanism, whatever that is. */
  hold(body, point) {
    const { picture } = this.page, { scene } = this.page.data, { name, at } = this.handle(body, point);
    const g = Math.hypot(...(scene.gravity || [0, 0, 0])) || 9.81;
    this.holding = name;
    this.engine.call("hold", { body: name, at, omega: Math.sqrt(30 * g / picture.radius), most: this.mass }).catch((error) => this.say(error.message, 6000));
    if (!this.page.playing) this.page.play(true);
  }

  aim(point) {
    if (point && this.holding) this.engine.call("aim", point.toArray());
  }

  release() {
    this.holding = null;
    this.engine.call("release");
    this.say("");
  }

  // Files ---------------------------------------------------------------------------------------------------

  /** All that was changed since the last reset, over time, as a file that a native run takes. */
  async save() {
    const { times, starts, changes } = await this.engine.call("record"), { name } = this.page.data;
    const given = new Map(Object.entries(starts));
    for (const one of changes) if (!given.has(one.name)) given.set(one.name, this.variables.get(one.name).start);
    const names = [...given.keys()], lines = [["time", ...names].join(",")];
    let next = 0;
    times.forEach((time, step) => {
      for (; next < changes.length && changes[next].step === step; next++) given.set(changes[next].name, changes[next].value);
      lines.push([time, ...names.map((one) => given.get(one))].join(","));
    });
    saved(`${name}.csv`, new Blob([`${lines.join("\n")}\n`], { type: "text/csv" }));
    this.say(`${name}.csv has the same motion, bit for bit: fmumbs run MODEL --replay ${name}.csv`, 15000);
  }

  // Plots -------------------------------------------------------------------------------------------------

  /** Plots read the live motion while it is on, and all its variables can be plotted then. */
  takeSeries() {
    const { charts } = this.page, { series } = charts;
    for (const [name, one] of series) {
      if (!this.variables.has(name)) continue;
      const recorded = one.values;
      one.values = () => (this.on ? this.motion.values(name) : recorded());
    }
    for (const { name, unit, causality } of this.variables.values()) {
      if (series.has(name) || causality === "parameter") continue;
      const unknown = () => new Float64Array(this.page.recording.times.length).fill(NaN);
      series.set(name, { name, unit, recorded: false, values: () => (this.on ? this.motion.values(name) : unknown()) });
      $("variables").append(new Option(name));
    }
    $("more").hidden = false;
    charts.watch = (names) => { for (const name of names) if (this.variables.has(name)) this.motion.watch(name); };
    for (const plot of charts.plots) charts.watch(plot.names);
  }

  drawPlots(pause = 0) {
    const now = performance.now();
    if (now - (this.drawn || 0) < pause) return;
    this.drawn = now;
    this.page.charts.redraw();
    this.page.traces.draw();
  }

  // Sliders -----------------------------------------------------------------------------------------------

  /** Typical sizes by unit, from mass, length and gravity of the mechanism. */
  makeScale(variables) {
    const { length = 1, gravity = [0, 0, 0] } = this.page.data.scene;
    const mass = variables.filter((one) => one.name.endsWith(".mass")).reduce((sum, one) => sum + (one.start || 0), 0) || 1;
    this.mass = mass;
    const g = Math.hypot(...gravity) || 9.81, weight = mass * g, pace = Math.sqrt(g / length);
    this.scale = {
      N: weight, "N.m": weight * length, m: length, rad: Math.PI, "m/s": length * pace, "rad/s": 3 * pace, "m/s2": 2 * g,
      "rad/s2": 9 * pace ** 2, kg: mass, "kg.m2": mass * length ** 2, "N/m": (20 * weight) / length,
      "N.s/m": (4 * weight) / (length * pace), "N.m/rad": weight * length, "N.m.s/rad": (weight * length) / pace,
    };
  }

  /** Least and greatest value of a slider; other numbers can be typed. */
  range({ name, causality, unit, start }) {
    const size = upper(Math.max(2 * Math.abs(start), start ? 0 : this.scale[unit] || 1, causality === "input" ? this.scale[unit] || 0 : 0));
    const signed = causality === "input" || start < 0 || /^gravity|\.rest\b|\.inertia\[[456]\]/.test(name);
    return [signed ? -size : 0, size];
  }

  slider(one) {
    const row = document.createElement("div"), label = document.createElement("label");
    const range = document.createElement("input"), number = document.createElement("input");
    const value = this.changed[one.name] ?? one.start, [least, most] = this.range(one);
    row.className = "slider";
    label.textContent = `${one.declared ? `${one.declared}: ` : ""}${one.name}${one.unit ? ` [${one.unit}]` : ""}`;
    label.title = `${one.description}; double click: back to ${short(one.start)}`;
    Object.assign(range, { type: "range", min: least, max: most, step: (most - least) / 400, value });
    Object.assign(number, { type: "number", step: "any", value: short(value, 6) });
    for (const input of [range, number]) { input.dataset.name = one.name; input.setAttribute("aria-label", one.name); }
    const give = async (wanted, typed) => {
      const before = this.changed[one.name] ?? one.start;
      if (wanted < Number(range.min)) range.min = wanted;
      if (wanted > Number(range.max)) range.max = wanted;
      const show = (v) => { range.value = v; if (!typed) number.value = short(v, 6); };
      show(wanted);
      this.changed[one.name] = wanted;
      try {
        await this.engine.call("set", one.name, wanted);
      } catch (error) {
        this.changed[one.name] = before;
        range.value = before;
        number.value = short(before, 6);
        this.say(error.message, 6000);
      }
    };
    range.addEventListener("input", () => give(Number(range.value), false));
    number.addEventListener("change", () => { if (number.value !== "" && Number.isFinite(Number(number.value))) give(Number(number.value), true); });
    label.addEventListener("dblclick", () => give(one.start, false));
    row.append(label, range, number);
    return row;
  }

  showParameters() {
    if (!$("live-more").open || !this.parameters) return;
    const part = $("live-filter").value.trim().toLowerCase();
    const found = this.parameters.filter((one) => one.name.toLowerCase().includes(part));
    $("live-filter").hidden = this.parameters.length <= 12;
    $("live-parameters").replaceChildren(...found.slice(0, MOST_ROWS).map((one) => this.slider(one)));
    if (found.length > MOST_ROWS) $("live-parameters").append(`and ${found.length - MOST_ROWS} more: type a part of a name`);
  }
}

/** Where a contact acts: the mean of its spots by their normal forces, of an open one the mean. values: x y z of each
 * spot, then the forces. */
function meanSpot(values, spots) {
  const N = values.slice(3 * spots), sum = N.reduce((a, b) => a + b, 0), at = [0, 0, 0];
  for (let i = 0; i < spots; i++) for (let k = 0; k < 3; k++) at[k] += values[3 * i + k] * (sum > 0 ? N[i] / sum : 1 / spots);
  return at;
}

/** The least of 1, 2, 5 times a power of ten that is at least `value`. */
function upper(value) {
  const least = round(value);
  return least >= value * (1 - 1e-12) ? least : round(2.5 * least * 1.0000001);
}
