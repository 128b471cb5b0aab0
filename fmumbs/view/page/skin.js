// The surface of a flexible body: what its modal coordinates make of it, and colours by displacement.

const SCALE = [ // from no displacement to the largest one; those of pictures (view/skins.py)
  [46, 86, 166], [36, 142, 196], [62, 184, 172], [122, 200, 112], [208, 208, 72], [244, 172, 56], [236, 114, 44], [204, 50, 40],
];
const NOTHING = 1e-9; // of the size: what assembly leaves
const MOST = 200; // instants at which the largest displacement is looked for

/** Bytes of numbers in base64, little endian. */
export function bytes(text) {
  return Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer;
}

export class Skin {
  /** look: as in the scene. */
  constructor(look) {
    const corners = new Uint16Array(bytes(look.corners)), shapes = new Int16Array(bytes(look.shapes)), n = corners.length;
    this.size = Math.max(...look.size);
    this.faces = new Uint16Array(bytes(look.faces));
    this.rest = Float32Array.from(corners, (v, i) => look.low[i % 3] + v / 65535 * look.size[i % 3]);
    this.shapes = look.reach.map((most, k) => Float32Array.from(shapes.subarray(k * n, (k + 1) * n), (v) => v / 32767 * most));
    this.moves = new Float32Array(n);
    this.at = new Float32Array(n);
    this.colours = new Float32Array(n);
    this.known = new WeakMap(); // by source of motion: rows that were looked at, and the largest displacement [m] there
  }

  /** Displacements by modal coordinates. */
  displaced(q) {
    const { moves, shapes } = this;
    moves.fill(0);
    shapes.forEach((shape, k) => {
      const value = q[k] || 0;
      if (value) for (let i = 0; i < moves.length; i++) moves[i] += value * shape[i];
    });
    return moves;
  }

  /** The largest displacement of a corner [m] by modal coordinates. */
  largest(q) {
    const moves = this.displaced(q);
    let most = 0;
    for (let i = 0; i < moves.length; i += 3) most = Math.max(most, moves[i] ** 2 + moves[i + 1] ** 2 + moves[i + 2] ** 2);
    return Math.sqrt(most);
  }

  /** The same over what a source of motion has of a body so far. */
  reached(source, body) {
    const values = source?.modal.find(([which]) => which === body)?.[1], modes = this.shapes.length;
    if (!values) return 0;
    const rows = values.length / modes, step = Math.max(1, Math.ceil(rows / MOST));
    let known = this.known.get(source);
    if (!known || known.rows > rows) this.known.set(source, known = { rows: 0, most: 0 });
    for (let i = known.rows; i < rows; i += step) known.most = Math.max(known.most, this.largest(values.subarray(i * modes, (i + 1) * modes)));
    known.rows = rows;
    return known.most > NOTHING * this.size ? known.most : 0;
  }

  /** Corners and colours by modal coordinates; most: the displacement of the last colour [m]. */
  bend(q, most) {
    const { rest, at, colours } = this, moves = this.displaced(q), top = SCALE.length - 1;
    for (let i = 0; i < at.length; i += 3) {
      for (let a = i; a < i + 3; a++) at[a] = rest[a] + moves[a];
      const part = most > 0 ? Math.min(1, Math.hypot(moves[i], moves[i + 1], moves[i + 2]) / most) * top : 0;
      const k = Math.min(Math.floor(part), top - 1), beyond = part - k;
      for (let a = 0; a < 3; a++) colours[i + a] = ((1 - beyond) * SCALE[k][a] + beyond * SCALE[k + 1][a]) / 255;
    }
  }
}
