// Stops, gears, belts, racks and ropes: what limits one coordinate of a joint, or couples several.

import { towards } from "./instances.js";
import { short } from "./numbers.js";

const COLOUR = { stop: "#8a5a44", wheel: "#8a94a3", tooth: "#5f6b7a", belt: "#2f3640", coupled: "#9aa3ad", rope: "#8a5a44" };
const vector = (v) => new THREE.Vector3(...v);

/** Angle of a vector about an axis from a unit vector across it. */
export function angleAbout(axis, zero, vector) {
  return Math.atan2(new THREE.Vector3().crossVectors(zero, vector).dot(axis), zero.dot(vector));
}

/** A stop of a joint, `stop` of the scene: a plate at each end of a slide, or two pins and the hand that meets them. */
export function addStop(picture, stop) {
  const joint = picture.joints[stop.joint], { s, things } = picture;
  const ends = [[stop.lower, -1], [stop.upper, 1]].filter(([end]) => end !== null && end !== undefined);
  const [own, other] = stop.on === "M" ? [joint.M, joint.F] : [joint.F, joint.M];
  const turned = (v, place) => vector(v).applyQuaternion(picture.place(place)[1]);
  if (!stop.zero) {
    const axis = () => turned(stop.axis, own), wide = new THREE.Vector3(0.35 * s, 2.2 * s, 2.2 * s);
    for (const [end, side] of ends) {
      const place = () => {
        const a = axis(), from = picture.place(joint.F)[0], at = picture.place(joint.M)[0];
        const along = end - at.clone().sub(from).dot(a) + side * 1.28 * s; // beside the slide's box, which is 2.2 s long
        return [at.addScaledVector(a, along), towards(a), wide];
      };
      things.add("box", { colour: COLOUR.stop, name: `${stop.name}: stop at ${short(end)} m`, place }, {}, "joints");
    }
    return;
  }
  const radius = 2.1 * s, centre = () => picture.place(stop.on === "M" ? joint.M : joint.F)[0];
  const around = (angle) => {
    const a = turned(stop.axis, own);
    return turned(stop.zero, own).applyAxisAngle(a, angle).multiplyScalar(radius);
  };
  for (const [end, side] of ends) {
    const pin = () => {
      const at = centre().add(around(end + side * 0.17)), a = turned(stop.axis, own).multiplyScalar(0.9 * s); // beside the hand
      return [at.clone().sub(a), at.add(a)];
    };
    things.stick("cylinder", COLOUR.stop, `${stop.name}: stop at ${short(end)} rad`, 0.45 * s, pin, {}, "joints");
  }
  const hand = () => {
    const a = turned(stop.axis, own), angle = angleAbout(a, turned(stop.zero, own), turned(stop.hand, other));
    return [centre(), centre().add(around(angle))];
  };
  things.stick("cylinder", COLOUR.stop, `${stop.name}: hand`, 0.3 * s, hand, {}, "joints");
}

/** A stop on the length of a spring: a rope, and a buffer as long as the spring is when it meets. */
export function addLengthStops(picture, spring) {
  const ends = () => [picture.place(spring.P)[0], picture.place(spring.Q)[0]], { s, things } = picture;
  if (spring.longest !== undefined) things.stick("cylinder", COLOUR.rope, `${spring.name}: rope of ${short(spring.longest)} m`, 0.3 * s, ends);
  if (spring.shortest > 0) {
    const buffer = () => {
      const [a, b] = ends(), along = b.clone().sub(a), length = along.length();
      return [a, a.clone().addScaledVector(along, Math.min(1, spring.shortest / length))];
    };
    things.stick("cylinder", COLOUR.stop, `${spring.name}: buffer of ${short(spring.shortest)} m`, 1.1 * s, buffer);
  }
}

const CHORDS = 8; // of a rope on a pulley

/** Angle at which a tangent from [x, y] touches a disc about the origin. */
function touch([x, y], radius, turn) {
  const t = turn * Math.sqrt(Math.max(x * x + y * y - radius * radius, 0));
  return Math.atan2(radius * y - t * x, radius * x + t * y);
}

/** Angles along the arc on which a rope touches a pulley, between the points beside it; equal ones at an end of the rope. */
function arcOf(beside, { radius, turn = 0 }) {
  const whole = 2 * Math.PI, ways = (turn ? [turn] : [1, -1]).map((way) => {
    const ends = [-1, 1].map((side, k) => beside[k] && touch(beside[k], radius, side * way));
    const from = ends[0] ?? ends[1], to = ends[1] ?? ends[0];
    return [from, way * (((way * (to - from)) % whole + whole) % whole)];
  });
  const [from, arc] = ways.reduce((a, b) => (Math.abs(b[1]) < Math.abs(a[1]) ? b : a));
  return Array.from({ length: CHORDS + 1 }, (_, k) => from + arc * k / CHORDS);
}

/** Points along the way of a rope. places: [origin, orientation] of each of its points and pulleys. */
export function wayOf(places, vias) {
  return vias.flatMap((via, i) => {
    const [at, turned] = places[i];
    if (!via.radius) return [at];
    const axis = vector(via.axis || [0, 0, 1]).applyQuaternion(turned), size = axis.toArray().map(Math.abs);
    const least = [0, 1, 2].reduce((a, b) => (size[b] < size[a] ? b : a)), unit = vector([0, 1, 2].map((k) => (k === least ? 1 : 0)));
    const x = new THREE.Vector3().crossVectors(axis, unit).normalize(), y = new THREE.Vector3().crossVectors(axis, x);
    const beside = [i - 1, i + 1].map((k) => {
      const arm = places[k] && places[k][0].clone().sub(at);
      return arm && [arm.dot(x), arm.dot(y)];
    });
    return arcOf(beside, via).map((a) => at.clone().addScaledVector(x, via.radius * Math.cos(a)).addScaledVector(y, via.radius * Math.sin(a)));
  });
}

/** A rope: a line along its way, and a disc for each pulley. */
export function addRope(picture, { name, vias }) {
  const { s, things, least } = picture, places = () => vias.map((via) => picture.place(via.P));
  for (const via of vias.filter((one) => one.radius)) {
    const thick = Math.max(0.12 * via.radius, least), disc = new THREE.Vector3(thick, 1.94 * via.radius, 1.94 * via.radius);
    const place = () => {
      const [at, turned] = picture.place(via.P);
      return [at, towards(vector(via.axis || [0, 0, 1]).applyQuaternion(turned)), disc];
    };
    things.add("cylinder", { colour: COLOUR.wheel, name, place }, { ghost: 0.7 }, "joints");
  }
  const count = wayOf(places(), vias).length;
  for (let k = 0; k + 1 < count; k++) things.stick("cylinder", COLOUR.rope, name, 0.3 * s, () => wayOf(places(), vias).slice(k, k + 2));
}

/** A coupling, `train` of the data. */
export function addTrain(picture, train) {
  for (const wheel of train.wheels) addWheel(picture, train, wheel);
  if (train.rack) addRack(picture, train);
  if (train.belt) addBelt(picture, train);
  if (train.outline) addOutline(picture, train);
  const places = train.joints.map((i) => picture.joints[i].M);
  for (let k = 0; k + 1 < places.length; k++) {
    const ends = () => [picture.place(places[k])[0], picture.place(places[k + 1])[0]];
    picture.things.stick("cylinder", COLOUR.coupled, train.name, 0.16 * picture.s, ends, { flat: true }, "joints");
  }
}

/** Points about a train, each with the body that it moves with: corners of an octagon about a wheel and its teeth, ends of a rack, the edge of a cam. */
export function extent({ wheels, rack, outline }) {
  const found = outline ? outline.points.map((point) => [outline.body, point]) : [];
  for (const { body, at, axis, start, radius } of wheels) {
    const reach = 1.2 * radius, around = vector(axis);
    for (let k = 0; k < 8; k++) found.push([body, vector(at).addScaledVector(vector(start).applyAxisAngle(around, k * Math.PI / 4), reach).toArray()]);
  }
  for (const side of rack ? [-0.5, 0.5] : []) found.push([rack.body, vector(rack.at).addScaledVector(vector(rack.along), side * rack.length).toArray()]);
  return found;
}

function addWheel(picture, { name }, { body, at, axis, start, radius, teeth }) {
  const { things, least } = picture, thick = Math.max(0.14 * radius, least), pitch = teeth ? 2 * Math.PI * radius / teeth : 0;
  const turn = () => picture.rotation(body), colour = COLOUR.wheel, still = new THREE.Quaternion();
  const lies = towards(vector(axis)), around = vector(axis);
  const root = 2 * (radius - 0.3 * pitch), disc = new THREE.Vector3(thick, root, root);
  const item = (one) => ({ name, body, ...one });
  things.add("cylinder", item({ colour, place: () => [picture.inWorld(body, at), turn().multiply(still.copy(lies)), disc] }), { ghost: 0.7 }, "joints");
  const out = (angle) => vector(start).applyAxisAngle(around, angle);
  const upright = (angle) => {
    const x = out(angle), z = around.clone();
    return new THREE.Quaternion().setFromRotationMatrix(new THREE.Matrix4().makeBasis(x, new THREE.Vector3().crossVectors(z, x), z));
  };
  const bars = teeth ? Array.from({ length: teeth }, (_, k) => 2 * Math.PI * k / teeth) : [0];
  for (const angle of bars) {
    const size = teeth ? [0.6 * pitch, 0.45 * pitch, thick] : [0.9 * radius, 0.08 * radius, 1.1 * thick];
    const middle = vector(at).addScaledVector(out(angle), teeth ? radius : 0.5 * radius).toArray();
    const lie = upright(angle), scale = vector(size);
    things.add("box", item({ colour: COLOUR.tooth, place: () => [picture.inWorld(body, middle), turn().multiply(lie), scale] }), {}, "joints");
  }
}

/** The edge of a cam, which turns with its body. */
function addOutline(picture, { name, outline }) {
  const { body, points } = outline;
  for (let k = 0; k + 1 < points.length; k++) {
    const ends = () => [picture.inWorld(body, points[k]), picture.inWorld(body, points[k + 1])];
    picture.things.stick("cylinder", COLOUR.wheel, name, 0.3 * picture.s, ends, {}, "joints").body = body;
  }
}

function addRack(picture, { name, rack }) {
  const { body, at, along, out, length, pitch } = rack, x = vector(along), y = vector(out);
  const lie = new THREE.Quaternion().setFromRotationMatrix(new THREE.Matrix4().makeBasis(x, y, new THREE.Vector3().crossVectors(x, y)));
  const put = (colour, shift, size) => {
    const middle = vector(at).addScaledVector(x, shift[0]).addScaledVector(y, shift[1]).toArray(), scale = vector(size);
    picture.things.add("box", { colour, name, body, place: () => [picture.inWorld(body, middle), picture.rotation(body).multiply(lie), scale] }, {}, "joints");
  };
  put(COLOUR.wheel, [0, -0.6 * pitch], [length, 0.6 * pitch, 0.6 * pitch]);
  const count = Math.floor(length / pitch / 2);
  for (let k = -count; k <= count; k++) put(COLOUR.tooth, [k * pitch, 0], [0.45 * pitch, 0.6 * pitch, 0.6 * pitch]);
}

/** The straight parts of an open belt: between the points of two circles where their common tangents touch. */
export function tangents(a, b, axis, ra, rb) {
  const apart = b.clone().sub(a), d = apart.length(), x = apart.divideScalar(d), y = new THREE.Vector3().crossVectors(axis, x);
  const c = Math.min(1, Math.max(-1, (ra - rb) / d)), s = Math.sqrt(1 - c * c);
  return [1, -1].map((side) => {
    const n = x.clone().multiplyScalar(c).addScaledVector(y, side * s);
    return [a.clone().addScaledVector(n, ra), b.clone().addScaledVector(n, rb)];
  });
}

function addBelt(picture, { name, wheels }) {
  const [one, other] = wheels, thick = 0.09 * Math.min(one.radius, other.radius);
  for (const side of [0, 1]) {
    const ends = () => {
      const axis = vector(one.axis).applyQuaternion(picture.rotation(one.body));
      return tangents(picture.inWorld(one.body, one.at), picture.inWorld(other.body, other.at), axis, one.radius, other.radius)[side];
    };
    picture.things.stick("cylinder", COLOUR.belt, name, Math.max(thick, picture.least), ends, {}, "joints");
  }
}
