// Steps a mechanism in a page, by the core as WebAssembly, with the bits of the native core.
//
// The module is the FMU binary wasm32-wasi. Its functions are those of fmumbs.h, its pointers are offsets into its memory.
// It asks its host for files only in fmi2Instantiate, which is not called here: each such import answers "no such file".
// A worker is made from the source of these classes, so they use nothing else of the page.

/** A call that the core refused, or a step that failed; `time` is then where the state is valid [s]. */
export class MechanismError extends Error {
  constructor(message, time) {
    super(message);
    this.name = "MechanismError";
    this.time = time;
  }
}

export class Mechanism {
  static CAUSALITIES = ["input", "output", "parameter", "local"];
  static TYPES = ["Real", "Integer", "Boolean"];
  static MESSAGE = 4096; // bytes

  #core;
  #memory;
  #instance = 0;
  #room = new Map(); // memory that calls use again: name -> {at, bytes}
  #byName;

  /** wasm: bytes, or a compiled WebAssembly.Module; image: a model image. Returns a promise of a Mechanism, assembled at
   * time 0; rejects with a MechanismError for an image that the core refuses and for a failed assembly. */
  static async open(wasm, image) {
    const module = wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(wasm);
    const mechanism = new Mechanism();
    await mechanism.#load(module);
    mechanism.#openImage(image);
    mechanism.reset();
    return mechanism;
  }

  async #load(module) {
    const NO_FILE = 8; // EBADF
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      imports[from] ??= {};
      imports[from][name] = name === "proc_exit" ? () => { throw new MechanismError("the core ended"); } : () => NO_FILE;
    }
    this.#core = (await WebAssembly.instantiate(module, imports)).exports;
    this.#memory = this.#core.memory;
    this.#core._initialize();
  }

  #openImage(image) {
    const bytes = image instanceof Uint8Array ? image : new Uint8Array(image);
    const at = this.#allocate(bytes.length);
    const out = this.#allocate(4 + Mechanism.MESSAGE);
    new Uint8Array(this.#memory.buffer).set(bytes, at);
    const status = this.#core.fm_open(at, bytes.length, out, out + 4, Mechanism.MESSAGE);
    const why = status ? this.#text(out + 4) : "";
    this.#instance = this.#view().getUint32(out, true);
    this.#core.free(at);
    this.#core.free(out);
    if (status) throw new MechanismError(why);
  }

  close() {
    this.#core.fm_close(this.#instance);
    this.#instance = 0;
    for (const { at } of this.#room.values()) this.#core.free(at);
    this.#room.clear();
  }

  // Memory --------------------------------------------------------------------------------------------------------

  #view() {
    return new DataView(this.#memory.buffer); // made each time: the memory grows, and old views then end
  }

  #allocate(bytes) {
    const at = this.#core.malloc(Math.max(bytes, 8)) >>> 0;
    if (!at) throw new MechanismError(`not enough memory for ${bytes} bytes`);
    return at;
  }

  /** Memory of at least so many bytes, the same for each call with this name. */
  #scratch(name, bytes) {
    const have = this.#room.get(name);
    if (have && have.bytes >= bytes) return have.at;
    if (have) this.#core.free(have.at);
    this.#room.delete(name);
    const at = this.#allocate(bytes);
    this.#room.set(name, { at, bytes });
    return at;
  }

  #text(at) {
    const bytes = new Uint8Array(this.#memory.buffer, at >>> 0);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }

  #check(status) {
    if (status) throw new MechanismError(this.#text(this.#core.fm_message(this.#instance)), this.time);
  }

  // Variables -----------------------------------------------------------------------------------------------------

  /** All variables by value reference: {reference, name, unit, causality, type, tunable, state, description}. */
  get variables() {
    return [...this.#names().values()];
  }

  #names() {
    if (this.#byName) return this.#byName;
    const core = this.#core, count = core.fm_variable_count(this.#instance) >>> 0;
    const info = this.#scratch("info", 32), name = this.#scratch("name", Mechanism.MESSAGE), kinds = new Map();
    this.#byName = new Map();
    for (let reference = 0; reference < count; reference++) {
      core.fm_variable_name(this.#instance, reference, name, Mechanism.MESSAGE);
      core.fm_variable(this.#instance, reference, info);
      const view = this.#view(), at = (i) => view.getInt32(info + 4 * i, true);
      if (!kinds.has(at(0))) kinds.set(at(0), this.#text(view.getUint32((core.fm_kind(at(0)) >>> 0) + 12, true)));
      const one = {
        reference,
        name: this.#text(name),
        unit: this.#text(view.getUint32(info + 28, true)),
        causality: Mechanism.CAUSALITIES[at(3)],
        type: Mechanism.TYPES[at(4)],
        tunable: at(5) !== 0,
        state: at(6) !== 0,
        description: kinds.get(at(0)),
      };
      this.#byName.set(one.name, one);
    }
    return this.#byName;
  }

  variable(name) {
    const found = this.#names().get(name);
    if (!found) throw new MechanismError(`there is no variable '${name}'`, this.time);
    return found;
  }

  /** (n) values of variables by value reference. */
  read(references) {
    const n = references.length, at = this.#scratch("references", 4 * n), out = this.#scratch("values", 8 * n);
    new Uint32Array(this.#memory.buffer, at, n).set(references);
    this.#check(this.#core.fm_get(this.#instance, at, n, out));
    return new Float64Array(this.#memory.buffer, out, n).slice();
  }

  get(name) {
    return this.read([this.variable(name).reference])[0];
  }

  /** Sets an input or a tunable parameter, at any time. Start values are given to reset(). */
  set(name, value) {
    const { reference, causality, tunable } = this.variable(name);
    if (causality !== "input" && !tunable)
      throw new MechanismError(`${name} is neither an input nor a tunable parameter: give it to reset()`, this.time);
    this.#write(reference, value);
  }

  #write(reference, value) {
    const at = this.#scratch("references", 4), from = this.#scratch("values", 8);
    this.#view().setUint32(at, reference, true);
    this.#view().setFloat64(from, value, true);
    this.#check(this.#core.fm_set(this.#instance, at, 1, from));
  }

  // Running -------------------------------------------------------------------------------------------------------

  /** The present time [s]. */
  get time() {
    return this.#core.fm_time(this.#instance);
  }

  /** Starts over at time 0, with start values of inputs, states and parameters by name. */
  reset(starts = {}) {
    this.#check(this.#core.fm_reset(this.#instance));
    for (const [name, value] of Object.entries(starts)) this.#write(this.variable(name).reference, value);
    this.#check(this.#core.fm_assemble(this.#instance, 0));
  }

  /** Steps to a time, or by an interval [s]; after a MechanismError the state is that at `time`. */
  step(end) {
    this.#check(this.#core.fm_step(this.#instance, end));
  }

  advance(interval) {
    this.step(this.time + interval);
  }

  /** Where the bodies are, in the model's order: r (3) [m] and R (3, 3) by rows for each; then the modal coordinates of
   * each flexible body. */
  poses() {
    const count = this.#core.fm_poses(this.#instance, 0, 0) >>> 0, at = this.#scratch("poses", 8 * count);
    this.#core.fm_poses(this.#instance, at, count);
    return new Float64Array(this.#memory.buffer, at, count).slice();
  }

  /** The state as bytes, and back to it, bit for bit. */
  save() {
    const bytes = this.#core.fm_state_size(this.#instance) >>> 0, at = this.#scratch("state", bytes);
    this.#check(this.#core.fm_state_save(this.#instance, at, bytes));
    return new Uint8Array(this.#memory.buffer, at, bytes).slice();
  }

  restore(state) {
    const at = this.#scratch("state", state.length);
    new Uint8Array(this.#memory.buffer).set(state, at);
    this.#check(this.#core.fm_state_load(this.#instance, at, state.length));
  }
}
