// A camera on a sphere about a target: drag turns it, the wheel or a pinch zooms, right button or shift pans.

export class Orbit {
  /** up: (3,) unit vector that stays upright. changed: called after each change. taken: whether what a pointer that
   * goes down begins is something else. */
  constructor(camera, element, up, changed, taken) {
    Object.assign(this, { camera, element, changed, taken });
    this.up = new THREE.Vector3(...up);
    this.across = new THREE.Vector3(1, 0, 0);
    if (Math.abs(this.up.x) > 0.9) this.across.set(0, 1, 0);
    this.across.addScaledVector(this.up, -this.across.dot(this.up)).normalize();
    this.ahead = new THREE.Vector3().crossVectors(this.up, this.across);
    this.target = new THREE.Vector3();
    this.azimuth = -0.9;
    this.height = 0.45;
    this.distance = 5;
    this.pointers = new Map();
    element.addEventListener("pointerdown", (e) => this.down(e));
    element.addEventListener("pointermove", (e) => this.move(e));
    for (const end of ["pointerup", "pointercancel"]) element.addEventListener(end, (e) => this.pointers.delete(e.pointerId));
    element.addEventListener("contextmenu", (e) => e.preventDefault());
    element.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.zoom(Math.exp(Math.sign(e.deltaY) * Math.min(Math.abs(e.deltaY), 100) * 0.0015));
    }, { passive: false });
  }

  down(e) {
    if (e.target.closest("button, label, select, input, #keys")) return;
    this.element.setPointerCapture(e.pointerId);
    if (this.pointers.size === 0 && this.taken(e)) return;
    this.pointers.set(e.pointerId, [e.clientX, e.clientY]);
  }

  move(e) {
    const last = this.pointers.get(e.pointerId);
    if (!last) return;
    const dx = e.clientX - last[0], dy = e.clientY - last[1];
    if (this.pointers.size === 2) {
      const other = [...this.pointers].find(([id]) => id !== e.pointerId)[1];
      const before = Math.hypot(last[0] - other[0], last[1] - other[1]);
      const after = Math.hypot(e.clientX - other[0], e.clientY - other[1]);
      if (after > 0) this.zoom(before / after, false);
      this.pan(dx / 2, dy / 2);
    } else if (e.shiftKey || e.buttons === 2 || e.buttons === 4) {
      this.pan(dx, dy);
    } else {
      this.azimuth -= dx * 0.008;
      this.height = Math.min(Math.PI / 2, Math.max(-Math.PI / 2, this.height + dy * 0.008));
    }
    this.pointers.set(e.pointerId, [e.clientX, e.clientY]);
    this.update();
  }

  zoom(factor, now = true) {
    this.distance = Math.min(this.far || Infinity, Math.max(this.near || 0, this.distance * factor));
    if (now) this.update();
  }

  pan(dx, dy) {
    const size = 2 * this.distance * Math.tan(this.camera.fov * Math.PI / 360) / this.element.clientHeight;
    const right = new THREE.Vector3().setFromMatrixColumn(this.camera.matrix, 0);
    const above = new THREE.Vector3().setFromMatrixColumn(this.camera.matrix, 1);
    this.target.addScaledVector(right, -dx * size).addScaledVector(above, dy * size);
  }

  /** Looks at a sphere from the present direction. free: how much of the height, about its middle, nothing covers. */
  fit(centre, radius, free) {
    this.target.copy(centre);
    const half = this.camera.fov * Math.PI / 360, wide = Math.atan(Math.tan(half) * Math.min(free, this.camera.aspect));
    this.distance = 1.08 * radius / Math.sin(wide);
    this.near = radius * 1e-3;
    this.far = radius * 200;
    this.update();
  }

  /** Looks along a direction, given as where the camera is. */
  from(direction) {
    const d = new THREE.Vector3(...direction).normalize();
    this.height = Math.asin(Math.min(1, Math.max(-1, d.dot(this.up))));
    if (Math.abs(d.dot(this.up)) < 0.999) this.azimuth = Math.atan2(d.dot(this.ahead), d.dot(this.across));
    else this.azimuth = -Math.PI / 2;
    this.update();
  }

  update() {
    const c = Math.cos(this.height), s = Math.sin(this.height);
    const out = this.across.clone().multiplyScalar(c * Math.cos(this.azimuth));
    out.addScaledVector(this.ahead, c * Math.sin(this.azimuth)).addScaledVector(this.up, s);
    this.camera.position.copy(this.target).addScaledVector(out, this.distance);
    // looking straight down, `up` would be along the view
    this.camera.up.copy(this.up).multiplyScalar(c).addScaledVector(this.across, -s * Math.cos(this.azimuth));
    this.camera.up.addScaledVector(this.ahead, -s * Math.sin(this.azimuth));
    this.camera.lookAt(this.target);
    this.camera.near = this.distance * 0.02; // what is nearer is cut; the larger this is, the finer are depths told apart
    this.camera.far = this.distance + 50 * (this.far || this.distance) / 200 + 20 * this.distance;
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
    this.changed();
  }
}
