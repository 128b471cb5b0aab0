// Many copies of a few geometries: each is drawn in one call, however many bodies there are.

const X = new THREE.Vector3(1, 0, 0), Y = new THREE.Vector3(0, 1, 0);

/** Geometries of unit size; cylinders, cones and coils lie along x. */
export const GEOMETRIES = {
  box: () => new THREE.BoxGeometry(1, 1, 1),
  cylinder: (many) => new THREE.CylinderGeometry(0.5, 0.5, 1, many ? 10 : 28).rotateZ(-Math.PI / 2),
  ellipsoid: (many) => new THREE.SphereGeometry(0.5, many ? 12 : 32, many ? 8 : 20),
  cone: () => new THREE.ConeGeometry(0.5, 1, 18).rotateZ(-Math.PI / 2),
  foot: () => new THREE.ConeGeometry(0.7071, 1, 4).rotateY(Math.PI / 4).rotateZ(-Math.PI / 2),
  plane: () => new THREE.PlaneGeometry(1, 1).rotateY(Math.PI / 2),
  coil: () => {
    const turns = 8, curve = new THREE.Curve();
    curve.getPoint = (t, out = new THREE.Vector3()) => {
      const wide = 0.42 * Math.min(1, 12 * t, 12 * (1 - t)), a = 2 * Math.PI * turns * t;
      return out.set(t - 0.5, wide * Math.cos(a), wide * Math.sin(a));
    };
    return new THREE.TubeGeometry(curve, 20 * turns, 0.07, 6);
  },
};

/** Copies of one geometry with one material. */
class Copies {
  constructor(geometry, options) {
    Object.assign(this, { geometry, options, items: [] });
  }

  build(scene, many) {
    const { ghost, flat, ...rest } = this.options;
    const material = flat ? new THREE.MeshBasicMaterial({ ...rest }) : new THREE.MeshStandardMaterial({ roughness: 0.55, metalness: 0.12, ...rest });
    if (ghost) Object.assign(material, { transparent: true, opacity: ghost, depthWrite: false });
    this.mesh = new THREE.InstancedMesh(GEOMETRIES[this.geometry](many), material, this.items.length);
    this.mesh.frustumCulled = false;
    this.mesh.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity); // copies move: none is left out
    this.mesh.userData.items = this.items;
    const colour = new THREE.Color();
    this.items.forEach((item, i) => this.mesh.setColorAt(i, colour.set(item.colour)));
    scene.add(this.mesh);
  }
}

/** All copies, by geometry and material; `add` before `build`, then `update` at each instant. */
export class Instances {
  /** options: of all materials. */
  constructor(options = {}) {
    this.options = options;
    this.sets = new Map();
    this.matrix = new THREE.Matrix4();
    this.turn = new THREE.Quaternion();
    this.middle = new THREE.Vector3();
    this.along = new THREE.Vector3();
    this.scale = new THREE.Vector3();
    this.none = new THREE.Matrix4().makeScale(0, 0, 0);
  }

  /** item: {colour, name, place(put, hide)}: place calls put(position, quaternion, scale) or hide(). */
  add(geometry, item, given = {}, group = "") {
    const options = { ...given, ...this.options };
    const key = `${geometry} ${group} ${JSON.stringify(options)}`;
    if (!this.sets.has(key)) this.sets.set(key, Object.assign(new Copies(geometry, options), { group }));
    this.sets.get(key).items.push(item);
    return item;
  }

  /** A cylinder or cone from `ends()`, two points, or null for none. */
  stick(geometry, colour, name, thickness, ends, options, group) {
    return this.add(geometry, { colour, name, ends, thickness }, options, group);
  }

  build(scene, many) {
    for (const set of this.sets.values()) set.build(scene, many);
  }

  show(group, visible) {
    for (const set of this.sets.values()) if (set.group === group) set.mesh.visible = visible;
  }

  update() {
    for (const { mesh, items } of this.sets.values()) {
      if (!mesh.visible) continue;
      for (let i = 0; i < items.length; i++) mesh.setMatrixAt(i, this.matrixOf(items[i]));
      mesh.instanceMatrix.needsUpdate = true;
    }
  }

  matrixOf(item) {
    if (item.ends) {
      const ends = item.ends();
      if (!ends) return this.none;
      this.along.subVectors(ends[1], ends[0]);
      const length = this.along.length();
      if (!(length > 0)) return this.none;
      this.turn.setFromUnitVectors(X, this.along.divideScalar(length));
      this.middle.addVectors(ends[0], ends[1]).multiplyScalar(0.5);
      const thick = typeof item.thickness === "function" ? item.thickness(length) : item.thickness;
      return this.matrix.compose(this.middle, this.turn, this.scale.set(length, thick, thick));
    }
    const placed = item.place();
    return placed ? this.matrix.compose(placed[0], placed[1], placed[2]) : this.none;
  }
}

/** The rotation that takes x to a unit vector. */
export function towards(axis, out = new THREE.Quaternion()) {
  return axis.x < -0.999999 ? out.setFromAxisAngle(Y, Math.PI) : out.setFromUnitVectors(X, axis);
}
