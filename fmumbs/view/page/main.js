// The page: its buttons, its clock, its plots.

import { Orbit } from "./camera.js";
import { Charts } from "./charts.js";
import { Film, savePicture } from "./files.js";
import { Ghost } from "./ghost.js";
import { lengthText, round, short } from "./numbers.js";
import { Modes } from "./modes.js";
import { Panel } from "./panel.js";
import { COLOURS, Picture } from "./picture.js";
import { Recording } from "./recording.js";
import { isSeen, Traces } from "./traces.js";

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const FEW_LABELS = 80;
const PHONE = matchMedia("(max-width: 720px)");
const OWN = [ // keys that belong to a control which has the focus
  ["input:not([type]), input[type=text], input[type=number], select, textarea", /./],
  ["input[type=range]:not(#slider)", /^(Arrow|Home|End|Page)/],
  ["input[type=checkbox], button, summary", /^( |Enter)$/],
];
const $ = (id) => document.getElementById(id);

class Page {
  constructor(data) {
    this.data = data;
    this.recording = new Recording(data);
    this.source = this.recording; // a live mechanism may take its place: it has start, end and at(t)
    this.time = this.recording.start;
    this.playing = false;
    this.speed = 1;
    $("name").textContent = data.name;
    $("note").textContent = data.note;
    this.picture = new Picture(data, this.recording.state);
    this.ghost = data.other ? new Ghost(data.other) : null;
    this.picture.build(this.recording, this.ghost);
    this.ghost?.build(this.picture);
    this.makeCamera();
    this.makeControls();
    this.makeFollow();
    this.charts = new Charts(this);
    this.traces = new Traces(this);
    this.makeSaves();
    this.makeLabels();
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
    this.makeLegend();
    this.resized();
    this.fit();
    new ResizeObserver(() => this.resized()).observe($("stage"));
    this.panel = data.live ? new Panel(this) : null;
    if (!this.panel) Object.assign($("live"), { hidden: false, textContent: "This page plays the recorded motion only: it was written without the core for browsers." });
    this.seek(this.time);
    this.play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
    requestAnimationFrame((now) => this.tick(now));
    this.modes = data.modes ? new Modes(this) : null;
    if (location.hash === "#live") this.panel?.enter();
  }

  // Camera ------------------------------------------------------------------------------------------------

  makeCamera() {
    this.renderer = new THREE.WebGLRenderer({ canvas: $("picture"), antialias: true, preserveDrawingBuffer: true });
    this.camera = new THREE.PerspectiveCamera(32, 1, 0.01, 100);
    this.orbit = new Orbit(this.camera, $("stage"), this.picture.up.toArray(), () => { this.dirty = true; }, (e) => this.grab(e));
    this.orbit.from(this.data.from);
  }

  fit() {
    const { middle, radius } = this.picture;
    const all = $("stage").getBoundingClientRect(), tools = $("tools").getBoundingClientRect();
    const covered = Math.min(tools.bottom - all.top, all.bottom - tools.top); // above or, on a phone, below
    const free = Math.max(0.3, 1 - 2 * covered / (all.height || 1));
    this.orbit.fit(this.following >= 0 ? this.picture.centre(this.following) : middle, radius, free);
  }

  resized() {
    const { clientWidth: width, clientHeight: height } = $("stage");
    if (!width || !height) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio || 1, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.orbit.update();
    this.charts?.redraw();
  }

  get plots() {
    return this.charts.plots;
  }

  // Time --------------------------------------------------------------------------------------------------

  seek(t) {
    this.time = Math.min(this.source.end, Math.max(this.source.start, t));
    const before = this.following >= 0 ? this.lastCentre : null;
    this.source.at(this.time);
    if (before) {
      const now = this.picture.centre(this.following);
      this.orbit.target.add(now.clone().sub(before));
      this.lastCentre = now;
      this.orbit.update();
    }
    this.picture.update();
    this.ghost?.seek(this.time);
    this.charts.show(this.time);
    $("time").textContent = `${this.time.toFixed(this.digits)} s`;
    if (document.activeElement !== $("slider") || this.playing) $("slider").value = this.time;
    this.dirty = true;
  }

  play(on = !this.playing) {
    const live = this.panel && this.panel.on;
    if (on && live) this.seek(this.source.end);
    else if (on && this.time >= this.source.end) this.seek(this.source.start);
    this.playing = on && (live || this.source.end > this.source.start);
    $("play").innerHTML = this.playing ? "&#10074;&#10074;" : "&#9654;";
    $("play").setAttribute("aria-label", this.playing ? "pause" : "play");
    this.last = null;
    if (!this.playing) this.endFilm();
  }

  tick(now) {
    requestAnimationFrame((then) => this.tick(then));
    if (this.playing && this.panel && this.panel.on) {
      const dt = this.last === null ? 0 : (now - this.last) / 1000;
      this.last = now;
      this.panel.tick(dt);
    } else if (this.playing) {
      const dt = this.last === null ? 0 : Math.min(0.1, (now - this.last) / 1000) * this.speed * (this.source.pace || 1);
      this.last = now;
      let t = this.time + dt;
      if (t >= this.source.end) {
        if ($("loop").checked && !this.film) t = this.source.start; else { t = this.source.end; this.play(false); }
      }
      this.seek(t);
    }
    if (!this.dirty) return;
    this.dirty = false;
    this.draw();
  }

  draw() {
    this.picture.sun.position.copy(this.camera.position).addScaledVector(this.picture.up, this.orbit.distance);
    this.renderer.render(this.picture.world, this.camera);
    this.placeLabels();
  }

  // Controls ----------------------------------------------------------------------------------------------

  makeControls() {
    const span = this.setSource(this.source);
    $("slider").addEventListener("input", () => { this.play(false); this.seek(Number($("slider").value)); });
    $("play").addEventListener("click", () => this.play());
    for (const speed of SPEEDS) $("speed").add(new Option(`${speed} ×`, speed, speed === 1, speed === 1));
    const wanted = span / 8; // a very short or long motion plays in about ten seconds
    if (span > 0 && (span < 0.8 || span > 40)) this.setSpeed(SPEEDS.reduce((a, b) => Math.abs(Math.log(b / wanted)) < Math.abs(Math.log(a / wanted)) ? b : a));
    $("speed").addEventListener("change", () => this.setSpeed(Number($("speed").value)));
    $("fit").addEventListener("click", () => this.fit());
    for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => this.view(button.dataset.view));
    for (const [id, group] of [["show-joints", "joints"], ["show-forces", "forces"], ["show-floor", "floor"]]) {
      $(id).addEventListener("change", () => {
        this.picture.things.show(group, $(id).checked);
        if (group === "floor") this.picture.floor.visible = $(id).checked;
        this.picture.update();
        this.dirty = true;
      });
    }
    $("show-names").addEventListener("change", () => { this.dirty = true; });
    $("theme").addEventListener("click", () => this.setTheme(!this.dark));
    $("panel").addEventListener("click", () => this.showPanel(document.body.classList.contains("narrow")));
    PHONE.addEventListener("change", () => this.arrange());
    this.arrange();
    $("help").addEventListener("click", () => { $("keys").hidden = !$("keys").hidden; });
    $("stage").addEventListener("pointermove", (e) => this.hover(e));
    $("stage").addEventListener("pointerleave", () => { $("hover").hidden = true; });
    $("stage").addEventListener("dblclick", (e) => { const item = this.under(e); if (item && item.body >= 0) this.follow(item.body); });
    this.makeKeys();
  }

  /** On a phone the panel opens below the picture, and the legend stands in it. */
  arrange() {
    (PHONE.matches ? $("side") : $("stage")).append($("legend"));
    this.showPanel(!PHONE.matches);
  }

  showPanel(on) {
    document.body.classList.toggle("narrow", !on);
    $("panel").setAttribute("aria-expanded", on);
    this.resized();
  }

  /** Makes a motion the one that plays; returns its duration [s]. */
  setSource(source) {
    const span = source.end - source.start;
    this.source = source;
    this.digits = span > 0 ? Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(span)))) : 3;
    Object.assign($("slider"), { min: source.start, max: source.end, disabled: !(span > 0) });
    $("play").disabled = !(span > 0);
    return span;
  }

  makeKeys() {
    const step = () => (this.source.end - this.source.start) / 200;
    const toggle = (id) => () => $(id).click();
    const keys = [
      [" ", "space", "play or pause", () => this.play()],
      ["ArrowLeft", "←", "a step back", () => { this.play(false); this.seek(this.time - step()); }],
      ["ArrowRight", "→", "a step ahead", () => { this.play(false); this.seek(this.time + step()); }],
      ["Home", "Home", "to the start", () => this.seek(this.source.start)],
      ["End", "End", "to the end", () => this.seek(this.source.end)],
      ["+", "+", "faster", () => this.faster(1)],
      ["-", "−", "slower", () => this.faster(-1)],
      ["l", "L", "repeat", toggle("loop")],
      ["f", "F", "fit into view", () => this.fit()],
      ["0", "0", "from a corner", () => this.view("iso")],
      ["1", "1", "along x", () => this.view("x")],
      ["2", "2", "along y", () => this.view("y")],
      ["3", "3", "along z", () => this.view("z")],
      ["n", "N", "names", toggle("show-names")],
      ["j", "J", "joints", toggle("show-joints")],
      ["r", "R", "forces", toggle("show-forces")],
      ["g", "G", "floor and axes", toggle("show-floor")],
      ["d", "D", "light or dark", () => this.setTheme(!this.dark)],
      ["p", "P", "panel", toggle("panel")],
      ["?", "?", "these keys", toggle("help")],
    ];
    for (const [, label, does] of keys) append($("keys"), "kbd", label, "span", does);
    for (const [label, does] of [["drag", "turn"], ["wheel", "zoom"], ["shift + drag", "move"], ["drag a body", "pull it, when live"], ["double click", "follow a body"]]) append($("keys"), "kbd", label, "span", does);
    addEventListener("keydown", (e) => {
      if (e.key === "Escape") $("keys").hidden = true;
      if (e.ctrlKey || e.metaKey || e.altKey || OWN.some(([which, own]) => e.target.closest(which) && own.test(e.key))) return;
      const found = keys.find(([key]) => key === (e.key.length === 1 ? e.key.toLowerCase() : e.key));
      if (!found) return;
      e.preventDefault();
      found[3]();
    });
  }

  setSpeed(speed) {
    this.speed = speed;
    $("speed").value = speed;
  }

  faster(by) {
    const at = SPEEDS.indexOf(this.speed) + by;
    if (SPEEDS[at]) this.setSpeed(SPEEDS[at]);
  }

  view(which) {
    const axes = { x: [1, 0, 0], y: [0, -1, 0], z: [0, 0, 1] };
    this.orbit.from(axes[which] || this.data.from);
  }

  setTheme(dark) {
    this.dark = dark;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    const style = getComputedStyle(document.documentElement);
    this.picture.world.background = new THREE.Color(style.getPropertyValue("--back").trim());
    const grid = style.getPropertyValue("--grid").trim();
    if (!this.picture.floor) this.picture.addFloor(this.pace = round(this.picture.radius / 3), grid);
    this.picture.floor.material.color.set(grid);
    this.charts.redraw();
    this.dirty = true;
  }

  makeLegend() {
    const of = (force) => (force.unique === null ? "unknown" : force.unique ? "unique" : "ambiguous");
    const reactions = this.data.forces.filter((one) => one.kind.startsWith("reaction")), kinds = new Set(reactions.map(of));
    const { scene, largest } = this.data, rows = [];
    const most = (value, unit) => value > 0 ? `, up to ${short(value, 3)} ${unit}` : "";
    if ((scene.joints || []).length) rows.push([COLOURS.axis, "line", "axis of a joint"]);
    if ((scene.joints || []).some((j) => (j.symbols || []).some((one) => one.prescribed))) rows.push([COLOURS.prescribed, "line", "prescribed motion, path"]);
    if ((scene.springs || []).length) rows.push([COLOURS.spring, "", "spring"]);
    if (largest.load > 0) rows.push([COLOURS.load, "", `load${most(largest.load, "N")}`]);
    if (largest.torque > 0) rows.push([COLOURS.torque, "", `torque${most(largest.torque, "N.m")}`]);
    if (largest.contact > 0) rows.push([COLOURS.contact, "", `contact${most(largest.contact, "N")}`]);
    const torque = largest["reaction torque"], sizes = most(largest.reaction, "N") + (torque > 0 ? ` and ${short(torque, 3)} N.m` : "");
    [["unique", "unique"], ["ambiguous", "not unique"], ["unknown", "uniqueness unknown"]].filter(([kind]) => kinds.has(kind)).forEach(([kind, text], i) => {
      rows.push([COLOURS[kind], "", `reaction, ${text}${i ? "" : sizes}`]);
    });
    if (this.ghost) rows.push([COLOURS.beside, "", `${this.data.other.name}, dashed`]);
    if (this.picture.gravity > 0) rows.push([COLOURS.gravity, "", `gravity ${short(this.picture.gravity)} m/s²`]);
    rows.push(["var(--grid)", "line", `grid ${lengthText(this.pace)}`]);
    for (const [colour, kind, text] of rows) {
      const [swatch] = append($("legend"), "dt", "", "dd", text);
      swatch.className = kind;
      swatch.style.background = colour;
    }
  }

  // Bodies ------------------------------------------------------------------------------------------------

  makeFollow() {
    this.following = -1;
    this.picture.bodies.forEach((body, i) => { if (isSeen(body)) $("follow").add(new Option(body.name, i)); });
    $("follow").addEventListener("change", () => this.follow($("follow").value === "" ? -1 : Number($("follow").value)));
  }

  /** The camera moves with the centre of mass of a body, whose trail is drawn; -1: it rests. */
  follow(body) {
    this.following = body;
    $("follow").value = body < 0 ? "" : body;
    this.picture.traced(body, this.recording);
    this.source.at(this.time);
    if (body >= 0) {
      this.lastCentre = this.picture.centre(body);
      this.orbit.target.copy(this.lastCentre);
    }
    this.orbit.update();
    this.dirty = true;
  }

  makeLabels() {
    this.labels = [];
    const label = (text, kind, at) => {
      const span = document.createElement("span");
      span.textContent = text;
      span.className = kind;
      $(kind === "axis" ? "letters" : "labels").append(span);
      this.labels.push({ span, kind, at });
    };
    const { picture } = this;
    picture.bodies.slice(0, FEW_LABELS).forEach((body, i) => { if (isSeen(body)) label(body.name, "body", () => picture.centre(i)); });
    picture.joints.slice(0, FEW_LABELS).forEach((joint) => { if ((joint.symbols || []).length) label(joint.name, "joint", () => picture.place(joint.M)[0].addScaledVector(picture.up, 1.4 * picture.s)); });
    picture.axes.forEach((v, k) => label("xyz"[k], "axis", () => v.clone().multiplyScalar(1.25)));
  }

  /** Where a point is on the screen, in pixels of the picture; null behind the camera. */
  project(point) {
    const p = point.clone().project(this.camera), { clientWidth: width, clientHeight: height } = $("stage");
    return p.z > 1 || p.z < -1 ? null : [(p.x + 1) / 2 * width, (1 - p.y) / 2 * height];
  }

  /** Names, each where it covers no other one: at its place, else above or below it; left out where there is no room. */
  placeLabels() {
    const names = $("show-names").checked, letters = $("show-floor").checked, taken = [];
    $("labels").hidden = !names;
    $("letters").hidden = !letters;
    for (const one of this.labels) {
      if (!(one.kind === "axis" ? letters : names)) continue;
      const place = this.project(one.at());
      one.size ||= [one.span.offsetWidth + 2, one.span.offsetHeight + 1];
      const free = place && (one.kind === "axis" ? place : roomFor(place, one.size, taken));
      one.span.style.visibility = free ? "" : "hidden";
      if (free) one.span.style.transform = `translate(${free[0].toFixed(1)}px, ${free[1].toFixed(1)}px) translate(-50%, -50%)`;
    }
  }

  ray(e) {
    const box = $("stage").getBoundingClientRect(), ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2((e.clientX - box.left) / box.width * 2 - 1, 1 - (e.clientY - box.top) / box.height * 2), this.camera);
    return ray;
  }

  /** A pointer that goes down on a body of a live mechanism pulls it, in the plane of the screen; returns whether it does. */
  grab(e) {
    const item = this.panel && this.panel.on && e.button === 0 && !e.shiftKey ? this.under(e) : null;
    if (!item || !(item.body >= 0) || !this.panel.handle(item.body, item.point)) return false;
    const normal = this.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, item.point);
    const move = (then) => { if (then.pointerId === e.pointerId) this.panel.aim(this.ray(then).ray.intersectPlane(plane, new THREE.Vector3())); };
    const end = (then) => {
      if (then.pointerId !== e.pointerId) return;
      $("stage").removeEventListener("pointermove", move);
      for (const kind of ["pointerup", "pointercancel"]) $("stage").removeEventListener(kind, end);
      this.panel.release();
    };
    $("stage").addEventListener("pointermove", move);
    for (const kind of ["pointerup", "pointercancel"]) $("stage").addEventListener(kind, end);
    this.panel.hold(item.body, item.point);
    return true;
  }

  /** What is under the pointer, with the point where it is. */
  under(e) {
    const ray = this.ray(e);
    const meshes = [...[...this.picture.things.sets.values()].map((set) => set.mesh).filter((mesh) => mesh.visible), ...this.picture.meshes];
    for (const hit of ray.intersectObjects(meshes, false)) {
      const item = hit.object.userData.item || hit.object.userData.items[hit.instanceId];
      if (item.name) return { ...item, point: hit.point };
    }
    return null;
  }

  hover(e) {
    const item = e.buttons || e.target.closest("#tools, #keys") ? null : this.under(e), box = $("stage").getBoundingClientRect();
    $("hover").hidden = !item;
    if (!item) return;
    $("hover").textContent = item.name;
    $("hover").style.left = `${Math.min(e.clientX - box.left + 12, box.width - 180)}px`;
    $("hover").style.top = `${e.clientY - box.top + 14}px`;
  }

  // Files ---------------------------------------------------------------------------------------------------

  makeSaves() {
    $("save-png").addEventListener("click", () => { this.draw(); savePicture(`${this.data.name}.png`, $("picture")); });
    $("save-webm").addEventListener("click", () => { if (this.film) this.play(false); else this.startFilm(); });
  }

  /** From the start to the end of a recording, at the present speed; of a live motion from now on, until it is paused. */
  async startFilm() {
    this.play(false);
    if (this.source === this.recording) this.seek(this.source.start);
    try {
      this.film = new Film(`${this.data.name}.webm`, $("picture"));
    } catch (error) {
      $("note").textContent = error.message;
      return;
    }
    $("save-webm").textContent = "Stop";
    await this.film.started;
    this.play(true);
  }

  endFilm() {
    this.film?.stop();
    this.film = null;
    $("save-webm").textContent = "WebM";
  }
}

/** The middle of a label of a size [px] near a point that covers none of the rectangles taken; null if there is none. */
function roomFor([x, y], [wide, high], taken) {
  for (const [dx, dy] of [[0, 0], [0, -1], [0, 1], [0.6, -1], [-0.6, 1], [1, 0], [-1, 0], [0, -2], [0, 2]]) {
    const cx = x + dx * wide, cy = y + dy * high, box = [cx - wide / 2, cx + wide / 2, cy - high / 2, cy + high / 2];
    if (taken.some((one) => box[0] < one[1] && one[0] < box[1] && box[2] < one[3] && one[2] < box[3])) continue;
    taken.push(box);
    return [cx, cy];
  }
  return null;
}

function append(parent, ...pairs) {
  const made = [];
  for (let i = 0; i < pairs.length; i += 2) {
    const one = document.createElement(pairs[i]);
    one.textContent = pairs[i + 1];
    parent.append(one);
    made.push(one);
  }
  return made;
}

try {
  globalThis.page = new Page(JSON.parse($("data").textContent));
} catch (error) {
  $("note").textContent = `The picture cannot be drawn: ${error.message}. It needs WebGL 2; try another browser.`;
  throw error;
}
