// Stops, gears, belts and racks: what limits one coordinate of a joint, or couples several.

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

/** A coupling, `train` of the data. */
export function addTrain(picture, train) {
  for (const wheel of train.wheels) addWheel(picture, train, wheel);
  if (train.rack) addRack(picture, train);
  if (train.belt) addBelt(picture, train);
  const places = train.joints.map((i) => picture.joints[i].M);
  for (let k = 0; k + 1 < places.length; k++) {
    const ends = () => [picture.place(places[k])[0], picture.place(places[k + 1])[0]];
    picture.things.stick("cylinder", COLOUR.coupled, train.name, 0.16 * picture.s, ends, { flat: true }, "joints");
  }
}

/** Points about a train, each with the body that it moves with: corners of an octagon about a wheel and its teeth, ends of a rack. */
export function extent({ wheels, rack }) {
  const found = [];
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
