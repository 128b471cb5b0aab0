// Paths of points, as far as the motion is known: centres of mass, joints, named points.

const COLOURS = ["#e0872b", "#2f9e6e", "#b04a5a", "#7d86c4", "#94795d", "#5aa6a6"];
const MOST = 1500; // points of a path
const $ = (id) => document.getElementById(id);

/** Whether anything of a body is drawn: not of the massless target of a program. */
export function isSeen(body) {
  return Boolean(body.shape || body.line || body.meshes || body.skin);
}

/** Points (3) of a place of the scene at the rows of a recording, in the world. */
export function pathOf(picture, recording, place) {
  const step = Math.max(1, Math.ceil(recording.times.length / MOST)), points = [];
  for (let i = 0; i < recording.times.length; i += step) {
    recording.placeBody(place.body, i);
    points.push(picture.place(place)[0]);
  }
  return points;
}

/** The places of a picture whose paths can be drawn, by name. */
function placesOf({ scene, bodies, joints }) {
  const found = new Map();
  bodies.forEach((body, i) => { if (isSeen(body)) found.set(body.name, { body: i, at: body.com || [0, 0, 0] }); });
  for (const joint of joints) if ((joint.symbols || []).length) found.set(joint.name, joint.M);
  for (const point of scene.points || []) if (point.P.body >= 0) found.set(point.name, point.P);
  return found;
}

export class Traces {
  constructor(page) {
    this.page = page;
    this.lines = new Map(); // by name: {place, colour, lines, chip}
    this.places = placesOf(page.picture);
    this.others = page.ghost ? placesOf(page.ghost.picture) : new Map();
    for (const name of this.places.keys()) $("trace").add(new Option(name));
    $("trace").addEventListener("change", () => {
      if ($("trace").value) this.toggle($("trace").value);
      $("trace").value = "";
    });
  }

  /** Draws the path of a point, or no longer. */
  toggle(name) {
    const { world } = this.page.picture, old = this.lines.get(name);
    if (old) {
      this.lines.delete(name);
      for (const line of old.lines) { world.remove(line); line.geometry.dispose(); }
      old.chip.remove();
    } else {
      const colour = COLOURS.find((one) => ![...this.lines.values()].some((other) => other.colour === one)) || COLOURS[0];
      this.lines.set(name, { place: this.places.get(name), colour, lines: this.made(colour), chip: this.chip(name, colour) });
    }
    this.draw();
  }

  /** A line, and a fainter one for the second result. */
  made(colour) {
    return [1, 0.4].slice(0, this.page.ghost ? 2 : 1).map((opacity) => {
      const line = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: colour, opacity, transparent: opacity < 1 }));
      line.frustumCulled = false;
      this.page.picture.world.add(line);
      return line;
    });
  }

  chip(name, colour) {
    const button = document.createElement("button"), swatch = document.createElement("i");
    swatch.style.background = colour;
    button.append(swatch, `${name} ×`);
    button.title = `Ends the trace of ${name}`;
    button.addEventListener("click", () => this.toggle(name));
    $("traced").append(button);
    return button;
  }

  /** The lines over the present motion. */
  draw() {
    if (!this.lines.size) { this.page.dirty = true; return; }
    const { page } = this, { ghost } = page;
    for (const [name, { place, lines }] of this.lines) {
      replaced(lines[0], pathOf(page.picture, page.source, place));
      const other = this.others.get(name);
      if (other) replaced(lines[1], pathOf(ghost.picture, ghost.recording, other));
    }
    page.source.at(page.time);
    if (ghost) ghost.seek(page.time);
    page.dirty = true;
  }
}

function replaced(line, points) {
  line.geometry.dispose();
  line.geometry = new THREE.BufferGeometry().setFromPoints(points);
}
