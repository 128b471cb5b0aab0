// Arrays of the data, rotations, and numbers as text.

/** A Float64Array or Float32Array from {type: "f8" or "f4", data: base64}, little endian. */
export function decoded(field) {
  const text = atob(field.data), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return field.type === "f8" ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer);
}

/** The index i with times[i] <= t < times[i + 1], and how far t is between them, 0 to 1. */
export function interval(times, t) {
  let low = 0, high = times.length - 1;
  if (high <= 0 || t <= times[0]) return [0, 0];
  if (t >= times[high]) return [high, 0];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle; else high = middle;
  }
  return [low, (t - times[low]) / (times[high] - times[low])];
}

/** A number in a few digits: 0.0123, 1.23e-7. */
export function short(value, digits = 4) {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return value.toExponential(Math.max(0, digits - 2));
  return String(Number(value.toPrecision(digits)));
}

/** The largest of 1, 2, 5 times a power of ten that is at most `value`. */
export function round(value) {
  const power = 10 ** Math.floor(Math.log10(value)), head = value / power;
  return (head >= 5 ? 5 : head >= 2 ? 2 : 1) * power;
}

/** A length with its unit: 3 mm, 0.2 m, 1.5 km. */
export function lengthText(metres) {
  const [factor, unit] = metres < 1e-3 ? [1e6, "µm"] : metres < 0.1 ? [1e3, "mm"] : metres < 1e3 ? [1, "m"] : [1e-3, "km"];
  return `${short(metres * factor)} ${unit}`;
}
