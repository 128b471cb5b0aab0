// The mechanism: bodies as they were described, joints as symbols, springs, loads, reactions and paths.

import { addLengthStops, addRope, addStop, addTrain, extent } from "./elements.js";
import { Instances, towards } from "./instances.js";
import { bytes, Skin } from "./skin.js";
import { pathOf } from "./traces.js";

const BODIES = ["#5b8db8", "#d98c4a", "#6aa874", "#a9779c", "#c0a34d", "#7d86c4", "#c46e6e", "#5aa6a6", "#94795d", "#8a97a6"];
export const COLOURS = {
  joint: "#39424e", axis: "#1d6fb8", prescribed: "#8e44ad", point: "#1d6fb8", spring: "#b8860b", damper: "#6b7280",
  load: "#c2185b", torque: "#7b1fa2", unique: "#2e9e4f", ambiguous: "#d32f2f", unknown: "#8a8f98", ground: "#59626e",
  path: "#8e44ad", contact: "#0e8a8a", trail: "#e0872b", gravity: "#6b7280", world: "#7f8896", beside: "#7b8494", pull: "#e0a100",
};
const MANY = 150; // bodies above which copies have fewer faces

export class Picture {
  /** scene: as in the data; state: present poses, which update() reads; forces: their largest values and kinds. */
  constructor(data, state) {
    this.data = data;
    this.scene = data.scene;
    this.state = state;
    this.world = new THREE.Scene();
    this.things = new Instances();
    this.bodies = this.scene.bodies || [];
    this.joints = this.scene.joints || [];
    const g = new THREE.Vector3(...(this.scene.gravity || [0, 0, 0]));
    this.gravity = g.length();
    this.up = this.gravity > 0 ? g.clone().multiplyScalar(-1 / this.gravity) : new THREE.Vector3(0, 0, 1);
    this.lines = [];
    this.meshes = [];
    const links = new Map(); // the parts of a flexible link have one colour
    let next = 0;
    this.shades = this.bodies.map(({ part_of }) => {
      if (!part_of) return next++;
      if (!links.has(part_of)) links.set(part_of, next++);
      return links.get(part_of);
    });
  }

  // Places ------------------------------------------------------------------------------------------------

  position(body, out = new THREE.Vector3()) {
    const { r } = this.state;
    return body < 0 ? out.set(0, 0, 0) : out.set(r[3 * body], r[3 * body + 1], r[3 * body + 2]);
  }

  rotation(body, out = new THREE.Quaternion()) {
    const { q } = this.state;
    return body < 0 ? out.identity() : out.set(q[4 * body + 1], q[4 * body + 2], q[4 * body + 3], q[4 * body]);
  }

  /** A point of a body, given in its frame, in the world. */
  inWorld(body, at, out = new THREE.Vector3()) {
    return out.set(...at).applyQuaternion(this.rotation(body)).add(this.position(body));
  }

  /** Origin and axes of a place of the scene in the world. */
  place(place) {
    const at = new THREE.Vector3(...(place.at || [0, 0, 0])), axes = quaternion(place.axes);
    const modal = place.shapes ? this.state.modal[place.body] : null;
    if (modal) {
      const turn = new THREE.Vector3(), arm = new THREE.Vector3(...(place.arm || [0, 0, 0]));
      place.shapes.forEach((row, k) => {
        at.x += row[0] * modal[k]; at.y += row[1] * modal[k]; at.z += row[2] * modal[k];
        turn.x += row[3] * modal[k]; turn.y += row[4] * modal[k]; turn.z += row[5] * modal[k];
      });
      const angle = turn.length();
      if (angle > 0) {
        const spin = new THREE.Quaternion().setFromAxisAngle(turn.divideScalar(angle), angle);
        at.sub(arm).add(arm.applyQuaternion(spin));
        axes.premultiply(spin);
      }
    }
    const R = this.rotation(place.body);
    return [at.applyQuaternion(R).add(this.position(place.body)), axes.premultiply(R)];
  }

  /** Centre of mass of a body in the world. */
  centre(body) {
    return this.inWorld(body, this.bodies[body].com || [0, 0, 0]);
  }

  colour(body) {
    if (this.beside) return COLOURS.beside;
    return body < 0 ? COLOURS.ground : this.bodies[body].colour || BODIES[this.shades[body] % BODIES.length];
  }

  // Building ----------------------------------------------------------------------------------------------

  /** Calls note(point) for points that the mechanism reaches at some instants. */
  reached(recording, note) {
    const count = Math.min(40, recording.times.length);
    for (let i = 0; i < count; i++) {
      const at = count > 1 ? i / (count - 1) : 0;
      recording.at(recording.start + at * (recording.end - recording.start));
      this.bodies.forEach((body, b) => {
        if (body.shape) {
          const half = body.shape.size.map((v) => v / 2), axes = quaternion(body.shape.axes).premultiply(this.rotation(b));
          const centre = this.inWorld(b, body.shape.at || [0, 0, 0]);
          for (const corner of corners(half)) note(corner.applyQuaternion(axes).add(centre));
        }
        for (const end of body.links || []) note(this.inWorld(b, end));
        for (const { low, size } of [...(body.meshes || []), ...(body.skin ? [body.skin] : [])]) for (const corner of corners([0.5, 0.5, 0.5])) note(this.inWorld(b, low.map((v, k) => v + (corner.getComponent(k) + 0.5) * size[k])));
        if (body.line) for (const point of body.line.points) note(this.inWorld(b, point));
      });
      for (const train of this.data.trains || []) for (const [body, point] of extent(train)) note(this.inWorld(body, point));
      for (const joint of this.joints) if ((joint.symbols || []).length) note(this.place(joint.M)[0]);
      for (const rope of this.scene.ropes || []) for (const via of rope.vias) note(this.place(via.P)[0]);
      for (const one of [...(this.scene.springs || [])]) for (const end of [one.P, one.Q]) note(this.place(end)[0]);
    }
  }

  /** ghost: a second result beside it, or null. */
  build(recording, ghost) {
    const box = new THREE.Box3(), reached = (note) => { this.reached(recording, note); ghost?.reached(note); };
    reached((point) => box.expandByPoint(point));
    if (box.isEmpty()) box.expandByPoint(new THREE.Vector3());
    this.middle = box.getCenter(new THREE.Vector3());
    let square = 0;
    reached((point) => { square = Math.max(square, point.distanceToSquared(this.middle)); });
    this.radius = Math.sqrt(square) || 0.5 * (this.scene.length || 1);
    this.box = box;
    const typical = this.bodies.length > 1 ? 0.07 * (this.scene.length || 1) : Infinity;
    this.least = 0.0035 * this.radius; // about two pixels
    this.s = Math.max(Math.min(0.024 * this.radius, typical), this.least);
    this.bodies.forEach((body, b) => this.addBody(body, b));
    this.joints.forEach((joint) => this.addJoint(joint));
    for (const point of this.scene.points || []) this.addPoint(point);
    for (const spring of this.scene.springs || []) this.addSpring(spring);
    for (const rope of this.scene.ropes || []) addRope(this, rope);
    (this.scene.loads || []).forEach((load, i) => this.addLoad(load, i));
    for (const stop of this.scene.stops || []) addStop(this, stop);
    for (const train of this.data.trains || []) addTrain(this, train);
    for (const force of this.data.forces) if (force.kind.startsWith("reaction")) this.addReaction(force);
    for (const force of this.data.forces) if (force.kind === "contact") this.addContact(force);
    for (const curve of this.scene.curves || []) this.addCurve(curve);
    for (const ground of this.scene.grounds || []) this.addGround(ground);
    this.addWorld();
    this.things.build(this.world, this.bodies.length > MANY);
    for (const one of this.meshes) this.world.add(one);
    recording.at(recording.start);
    this.update();
  }

  /** Bodies alone, grey and transparent, in the world of another picture and in its sizes. */
  buildBeside({ world, s, least, bodies }) {
    Object.assign(this, { s, least, lines: [], beside: true });
    this.things = new Instances({ ghost: 0.28 });
    this.bodies.forEach((body, b) => this.addBody(body, b));
    for (const joint of this.joints) for (const one of joint.symbols || []) if (["disc", "sphere"].includes(one.kind)) this.addSymbol(joint, one, joint.name);
    this.things.build(world, bodies.length > MANY);
    for (const one of this.meshes) world.add(one);
  }

  addBody(body, b) {
    const { s } = this, colour = this.colour(b), name = body.name, clear = body.opacity === undefined ? {} : { ghost: body.opacity };
    for (const mesh of body.meshes || []) this.addMesh(mesh, b);
    if (body.skin) this.addSkin(body, b);
    if (body.shape) {
      const { kind } = body.shape, size = [...body.shape.size];
      const point = size.every((v) => v === 0), thin = point ? 1.7 * s : kind === "ellipsoid" ? 0.5 * s : 0.6 * s;
      const apart = 1 + 5e-4 * (b % 8); // faces of two bodies that coincide do not flicker
      const scale = new THREE.Vector3(...size.map((v) => apart * Math.max(v > 0 ? this.least : thin, v)));
      const at = body.shape.at || [0, 0, 0], axes = quaternion(body.shape.axes);
      const position = new THREE.Vector3(), turn = new THREE.Quaternion();
      const place = () => [this.inWorld(b, at, position), this.rotation(b, turn).multiply(axes), scale];
      this.things.add(kind, { colour, name, place, body: b }, body.opacity === undefined && kind === "ellipsoid" && !point && body.links ? { ghost: 0.55 } : clear);
    }
    for (const end of body.links || []) {
      this.things.stick("cylinder", colour, name, 0.42 * s, () => [this.centre(b), this.inWorld(b, end)], clear).body = b;
    }
    if (body.line) this.addLine(body, b);
  }

  /** Triangles of a body, which are drawn in a call of their own. */
  addMesh(mesh, b) {
    const { opacity = 1, colour } = mesh, shown = this.beside ? 0.28 : opacity * (this.bodies[b].opacity ?? 1);
    const corners = words(mesh.corners), at = new Float32Array(corners.length), geometry = new THREE.BufferGeometry();
    for (let i = 0; i < at.length; i++) at[i] = mesh.low[i % 3] + corners[i] / 65535 * mesh.size[i % 3];
    geometry.setAttribute("position", new THREE.BufferAttribute(at, 3));
    geometry.setIndex(new THREE.BufferAttribute(words(mesh.faces), 1));
    const material = new THREE.MeshStandardMaterial({ color: this.beside ? COLOURS.beside : colour || this.colour(b), flatShading: true, roughness: 0.55, metalness: 0.12, side: THREE.DoubleSide });
    if (shown < 1) Object.assign(material, { transparent: true, opacity: shown, depthWrite: false });
    const drawn = new THREE.Mesh(geometry, material);
    drawn.userData.item = { name: this.bodies[b].name, body: b };
    this.meshes.push(drawn);
    this.lines.push(() => { this.position(b, drawn.position); this.rotation(b, drawn.quaternion); drawn.updateMatrixWorld(); });
  }

  /** The surface of a flexible body, bent by its modes and coloured by displacement, up to the largest of the motion. */
  addSkin(body, b) {
    const skin = new Skin(body.skin), geometry = new THREE.BufferGeometry(), shown = this.beside ? 0.28 : body.opacity ?? 1;
    const attributes = [skin.at, skin.colours].map((numbers) => new THREE.BufferAttribute(numbers, 3));
    geometry.setAttribute("position", attributes[0]);
    if (!this.beside) geometry.setAttribute("color", attributes[1]);
    geometry.setIndex(new THREE.BufferAttribute(skin.faces, 1));
    const material = new THREE.MeshStandardMaterial({ color: this.beside ? COLOURS.beside : "#ffffff", vertexColors: !this.beside, flatShading: true, roughness: 0.55, metalness: 0.12, side: THREE.DoubleSide });
    if (shown < 1) Object.assign(material, { transparent: true, opacity: shown, depthWrite: false });
    const drawn = new THREE.Mesh(geometry, material);
    drawn.frustumCulled = false;
    drawn.userData.item = { name: body.name, body: b };
    this.meshes.push(drawn);
    this.lines.push(() => {
      const most = skin.reached(this.state.source, b);
      skin.bend(this.state.modal[b] || [], most);
      if (!this.beside) drawn.userData.item.name = `${body.name}: displaced by up to ${most.toPrecision(3)} m`;
      for (const one of attributes) one.needsUpdate = true;
      geometry.boundingSphere = null; // of where it was: a pointer finds it by this
      this.position(b, drawn.position); this.rotation(b, drawn.quaternion); drawn.updateMatrixWorld();
    });
  }

  /** A flexible body: pieces between the points of its bent axis. */
  addLine(body, b) {
    const { points, shapes = [], radius = 0 } = body.line, thick = Math.max(2 * radius, 0.6 * this.s);
    const bent = (i) => {
      const at = [...points[i]], q = this.state.modal[b] || [];
      shapes.forEach((mode, k) => { for (let a = 0; a < 3; a++) at[a] += mode[i][a] * (q[k] || 0); });
      return this.inWorld(b, at);
    };
    for (let i = 0; i + 1 < points.length; i++) {
      this.things.stick("cylinder", this.colour(b), body.name, thick, () => [bent(i), bent(i + 1)]).body = b;
      if (i) this.things.add("ellipsoid", { colour: this.colour(b), name: body.name, body: b, place: () => [bent(i), new THREE.Quaternion(), new THREE.Vector3(thick, thick, thick)] });
    }
  }

  addJoint(joint) {
    const symbols = joint.symbols || [];
    const what = symbols.map((one) => one.kind + (one.prescribed ? " (prescribed)" : "")).join(", ");
    const name = `${joint.name}: ${what || "weld"}`;
    for (const symbol of symbols) this.addSymbol(joint, symbol, name);
    const foot = joint.F.body < 0 ? joint.F : joint.M.body < 0 ? joint.M : null;
    const plain = ["plane", "line", "disc", "sphere"];
    if (foot && symbols.length && !symbols.some((one) => plain.includes(one.kind)) && symbols.filter((one) => one.kind !== "motor").length <= 2) {
      const { s } = this, below = towards(this.up.clone());
      const at = () => this.place(foot)[0].addScaledVector(this.up, -0.9 * s);
      this.things.add("foot", { colour: COLOURS.ground, name, place: () => [at(), below, new THREE.Vector3(1.8 * s, 2.3 * s, 2.3 * s)] }, {}, "joints");
    }
  }

  addSymbol(joint, symbol, name) {
    const { s, things } = this, on = () => this.place(joint[symbol.on || "M"]), from = () => this.place(joint.F)[0];
    const axis = new THREE.Vector3(...(symbol.axis || [0, 0, 1]));
    const inWorld = () => axis.clone().applyQuaternion(on()[1]);
    const turned = () => towards(inWorld());
    const at = () => this.place(joint.M)[0];
    const colour = symbol.prescribed ? COLOURS.prescribed : COLOURS.joint, size = symbol.size || 0;
    const put = (geometry, scale, options) => things.add(geometry, { colour, name, place: () => [symbol.on === "F" ? on()[0] : at(), turned(), scale] }, options, "joints");
    const line = (half, centre = at) => things.stick("cylinder", symbol.prescribed ? COLOURS.prescribed : COLOURS.axis, name, 0.16 * s, () => {
      const middle = centre(), a = inWorld().multiplyScalar(half());
      return [middle.clone().sub(a), middle.add(a)];
    }, { flat: true }, "joints");
    switch (symbol.kind) {
      case "turn": put("cylinder", new THREE.Vector3(2.2 * s, 1.1 * s, 1.1 * s)); line(() => 2.6 * s, () => symbol.on === "F" ? from() : at()); break;
      case "helix": put("coil", new THREE.Vector3(3 * s, 1.6 * s, 1.6 * s)); line(() => 3.2 * s); break;
      case "slide":
        things.add("box", { colour, name, place: () => [at(), turned(), new THREE.Vector3(2.2 * s, 1.3 * s, 1.3 * s)] }, {}, "joints");
        things.stick("cylinder", symbol.prescribed ? COLOURS.prescribed : COLOURS.axis, name, 0.2 * s, () => {
          const a = inWorld(), start = from(), along = at().sub(start).dot(a), room = 2.5 * s;
          return [start.clone().addScaledVector(a, Math.min(0, along) - room), start.addScaledVector(a, Math.max(0, along) + room)];
        }, { flat: true }, "joints");
        break;
      case "ball": put("ellipsoid", new THREE.Vector3(1.6 * s, 1.6 * s, 1.6 * s)); break;
      case "motor":
        things.add("cylinder", { colour, name, place: () => {
          const a = inWorld(), middle = symbol.on === "F" ? from() : at();
          return [middle.addScaledVector(a, 2.4 * s), towards(a), new THREE.Vector3(2.4 * s, 1.9 * s, 1.9 * s)];
        } }, {}, "joints");
        break;
      case "weld": put("box", new THREE.Vector3(1.1 * s, 1.1 * s, 1.1 * s)); break;
      case "rod": things.stick("cylinder", colour, name, 0.4 * s, () => [from(), at()], {}, "joints"); break;
      case "line": line(() => from().distanceTo(at()) + 8 * s, from); break;
      case "plane": {
        const wide = 1.7 * this.radius, scale = new THREE.Vector3(1, wide, wide);
        const middle = () => { const n = inWorld(), o = from(); return at().addScaledVector(n, o.clone().sub(at()).dot(n) + size); };
        things.add("plane", { colour: COLOURS.ground, place: () => [middle(), turned(), scale] }, { ghost: 0.16, side: THREE.DoubleSide }, "joints");
        break;
      }
      case "disc": case "sphere": {
        const body = joint.M.body, thick = symbol.kind === "disc" ? Math.max(0.05 * size, 0.3 * s) : 2 * size;
        const geometry = symbol.kind === "disc" ? "cylinder" : "ellipsoid", scale = new THREE.Vector3(thick, 2 * size, 2 * size);
        const spin = () => this.place(joint.M)[1].multiply(towards(axis.clone()));
        things.add(geometry, { colour: this.colour(body), name, body, place: () => [at(), spin(), scale] }, { ghost: 0.75 });
        things.stick("cylinder", COLOURS.joint, name, 0.25 * s, () => [at(), at().add(new THREE.Vector3(0, size, 0).applyQuaternion(spin()))]);
      }
    }
  }

  addPoint(point) {
    const d = 0.75 * this.s, scale = new THREE.Vector3(d, d, d), turn = new THREE.Quaternion();
    this.things.add("ellipsoid", { colour: COLOURS.point, name: point.name, place: () => [this.place(point.P)[0], turn, scale] }, {}, "joints");
  }

  addSpring(spring) {
    addLengthStops(this, spring);
    const { s } = this, ends = () => [this.place(spring.P)[0], this.place(spring.Q)[0]];
    if (spring.stiff !== false) this.things.stick("coil", COLOURS.spring, spring.name, 1.9 * s, ends);
    if (spring.damped) {
      this.things.stick("cylinder", COLOURS.damper, spring.name, 0.3 * s, ends);
      this.things.stick("cylinder", COLOURS.damper, spring.name, 0.85 * s, () => { const [a, b] = ends(); return [a.clone().lerp(b, 0.3), a.lerp(b, 0.62)]; });
    }
  }

  /** A shaft and a head along v() from or to a point; v in metres. */
  addArrow(colour, name, tail, group, heads = 1) {
    const { s } = this, head = (length) => Math.min(2 * s, 0.45 * length);
    const part = (low, high) => () => {
      const found = tail();
      if (!found) return null;
      const [start, v] = found, length = v.length();
      if (!(length > 0.02 * s)) return null;
      return [start.clone().addScaledVector(v, low(length)), start.clone().addScaledVector(v, high(length))];
    };
    this.things.stick("cylinder", colour, name, 0.36 * s, part(() => 0, (l) => 1 - heads * head(l) / l), { flat: true }, group);
    for (let k = 0; k < heads; k++) {
      this.things.stick("cone", colour, name, 1.15 * s, part((l) => 1 - (k + 1) * head(l) / l, (l) => 1 - k * head(l) / l), { flat: true }, group);
    }
  }

  addLoad(load, i) {
    const long = 0.3 * this.radius;
    const pushed = (kind, start, largest) => () => {
      const given = this.state.forces.get(`${kind} ${i}`) || start;
      if (!(largest > 0)) return null;
      const v = new THREE.Vector3(...given).multiplyScalar(long / largest);
      const [at, turn] = this.place(load.P);
      if (load.follower) v.applyQuaternion(turn);
      return [at.sub(v), v];
    };
    const largest = this.data.largest;
    this.addArrow(COLOURS.load, `${load.name}: force`, pushed("load", load.force, largest.load), "forces");
    this.addArrow(COLOURS.torque, `${load.name}: torque`, pushed("torque", load.torque, largest.torque), "forces", 2);
  }

  /** A force, or a torque with two heads, on M in F's axes. */
  addReaction(force) {
    const { kind } = force, joint = this.joints[force.index], colour = COLOURS[force.unique === null ? "unknown" : force.unique ? "unique" : "ambiguous"];
    const which = force.unique === null ? "" : force.unique ? ", unique" : ", not unique";
    const long = 0.3 * this.radius / (this.data.largest[kind] || 1);
    this.addArrow(colour, `${joint.name}: ${kind}${which}`, () => {
      const f = this.state.forces.get(`${kind} ${force.index}`);
      if (!f) return null;
      return [this.place(joint.M)[0], new THREE.Vector3(...f).applyQuaternion(this.place(joint.F)[1]).multiplyScalar(long)];
    }, "forces", kind === "reaction" ? 1 : 2);
  }

  /** The force of a contact on A, from where it acts. */
  addContact({ index }) {
    const long = 0.3 * this.radius / (this.data.largest.contact || 1), { forces } = this.state;
    this.addArrow(COLOURS.contact, `${this.scene.contacts[index].name}: contact`, () => {
      const f = forces.get(`contact ${index}`), at = forces.get(`spot ${index}`);
      return f && at ? [new THREE.Vector3(...at), new THREE.Vector3(...f).multiplyScalar(long)] : null;
    }, "forces");
  }

  /** A plane that contacts touch, below the mechanism, or on a body about its place; or a road. */
  addGround(ground) {
    if (ground.profile) return this.addRoad(ground);
    const fixed = ground.P.body < 0, wide = (fixed ? 1.7 : 0.3) * this.radius, scale = new THREE.Vector3(1, wide, wide);
    const place = () => {
      const [at, axes] = this.place(ground.P), n = new THREE.Vector3(0, 0, 1).applyQuaternion(axes), { middle } = this;
      return [fixed ? middle.clone().addScaledVector(n, at.sub(middle).dot(n)) : at, towards(n), scale];
    };
    this.things.add("plane", { colour: COLOURS.ground, place }, { ghost: 0.16, side: THREE.DoubleSide }, "joints");
  }

  /** A road, a little wider than where bodies are at first. */
  addRoad({ P, profile }) {
    const [origin, axes] = this.place(P), back = axes.clone().invert();
    const across = this.bodies.map((_, b) => this.position(b).sub(origin).applyQuaternion(back).y), room = 4 * this.s;
    const sides = [Math.min(...across) - room, Math.max(...across) + room], corners = [], faces = [];
    profile.forEach(([x, z], i) => {
      for (const y of sides) corners.push(x, y, z);
      if (i) faces.push(2 * i - 2, 2 * i, 2 * i - 1, 2 * i - 1, 2 * i, 2 * i + 1);
    });
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(corners), 3));
    geometry.setIndex(faces);
    geometry.computeVertexNormals();
    const material = new THREE.MeshStandardMaterial({ color: COLOURS.ground, transparent: true, opacity: 0.4, depthWrite: false, side: THREE.DoubleSide });
    const road = new THREE.Mesh(geometry, material);
    road.frustumCulled = false;
    this.world.add(road);
    this.lines.push(() => { const [at, turn] = this.place(P); road.position.copy(at); road.quaternion.copy(turn); });
  }

  addCurve(curve) {
    const geometry = new THREE.BufferGeometry().setFromPoints(curve.points.map((p) => new THREE.Vector3(...p)));
    const line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: COLOURS.path }));
    line.frustumCulled = false;
    this.world.add(line);
    this.lines.push(() => { const [at, axes] = this.place(curve.frame); line.position.copy(at); line.quaternion.copy(axes); });
  }

  /** Lights, the world's axes, gravity, and the trail of the body that the camera follows. */
  addWorld() {
    this.sky = new THREE.HemisphereLight(0xffffff, 0x9aa3ad, 1.7);
    this.sun = new THREE.DirectionalLight(0xffffff, 1.9);
    this.sky.position.copy(this.up);
    this.world.add(this.sky, this.sun);
    const long = Math.max(4.5 * this.s, 0.1 * this.radius);
    this.axes = [0, 1, 2].map((k) => new THREE.Vector3().setComponent(k, long));
    this.axes.forEach((v, k) => this.addArrow(COLOURS.world, `world axis ${"xyz"[k]}`, () => [new THREE.Vector3(), v], "floor"));
    if (this.gravity > 0) {
      const start = this.middle.clone().addScaledVector(this.up, 0.5 * this.radius).addScaledVector(sideways(this.up), -0.88 * this.radius);
      this.gravityAt = start;
      this.addArrow(COLOURS.gravity, "gravity", () => [start.clone(), this.up.clone().multiplyScalar(-0.22 * this.radius)], "floor");
    }
    this.addArrow(COLOURS.pull, "pull", () => {
      const { pull } = this.state;
      if (!pull) return null;
      const [from, to] = [0, 3].map((k) => new THREE.Vector3(pull[k], pull[k + 1], pull[k + 2]));
      return [from, to.sub(from)];
    }, "pull");
    this.trail = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: COLOURS.trail }));
    this.trail.frustumCulled = false;
    this.trail.visible = false;
    this.world.add(this.trail);
  }

  /** A grid under the mechanism, with lines `pace` [m] apart. */
  addFloor(pace, colour) {
    const a = sideways(this.up), b = new THREE.Vector3().crossVectors(this.up, a);
    const low = Math.min(...corners([0.5, 0.5, 0.5]).map((c) => this.box.getCenter(new THREE.Vector3()).add(c.multiply(this.box.getSize(new THREE.Vector3()))).dot(this.up)));
    const level = low - 0.5 * this.s, count = Math.ceil(1.2 * this.radius / pace), points = [];
    const u0 = Math.round(this.middle.dot(a) / pace) * pace, v0 = Math.round(this.middle.dot(b) / pace) * pace;
    const at = (u, v) => a.clone().multiplyScalar(u0 + u * pace).addScaledVector(b, v0 + v * pace).addScaledVector(this.up, level);
    for (let k = -count; k <= count; k++) points.push(at(k, -count), at(k, count), at(-count, k), at(count, k));
    this.floor = new THREE.LineSegments(new THREE.BufferGeometry().setFromPoints(points), new THREE.LineBasicMaterial({ color: colour }));
    this.world.add(this.floor);
  }

  /** Draws the path of a body's centre of mass over the recording, or nothing for a negative index. */
  traced(body, recording) {
    this.trail.visible = body >= 0 && recording.times.length > 1;
    if (!this.trail.visible) return;
    const points = pathOf(this, recording, { body, at: this.bodies[body].com });
    this.trail.geometry = new THREE.BufferGeometry().setFromPoints(points);
  }

  update() {
    for (const line of this.lines) line();
    this.things.update();
  }
}

/** 16-bit numbers in base64, little endian. */
function words(text) {
  return new Uint16Array(bytes(text));
}

/** A quaternion of the scene, w x y z; none for no rotation. */
function quaternion(q) {
  return q ? new THREE.Quaternion(q[1], q[2], q[3], q[0]) : new THREE.Quaternion();
}

/** A unit vector perpendicular to `up`. */
function sideways(up) {
  const axis = Math.abs(up.x) < 0.9 ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 1, 0);
  return axis.addScaledVector(up, -axis.dot(up)).normalize();
}

function corners(half) {
  const found = [];
  for (const x of [-1, 1]) for (const y of [-1, 1]) for (const z of [-1, 1]) found.push(new THREE.Vector3(x * half[0], y * half[1], z * half[2]));
  return found;
}
