// Files that the page saves: anything, its picture, and the motion as a film.

const RATE = 30; // pictures a second
const LATE = 200; // [ms]
const TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];

/** Saves bytes as a browser saves a download. */
export function saved(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

export function savePicture(name, canvas) {
  canvas.toBlob((blob) => saved(name, blob), "image/png");
}

/** A film of what a canvas shows from now on; stop() saves it. Throws where the browser has no such film. */
export class Film {
  constructor(name, canvas) {
    const type = TYPES.find((one) => globalThis.MediaRecorder?.isTypeSupported(one));
    if (!type) throw new Error("this browser records no WebM");
    this.recorder = new MediaRecorder(canvas.captureStream(RATE), { mimeType: type, videoBitsPerSecond: 8e6 });
    const parts = [];
    this.recorder.ondataavailable = ({ data }) => parts.push(data);
    this.recorder.onstop = () => saved(name, new Blob(parts, { type: "video/webm" }));
    this.started = new Promise((done) => { this.recorder.onstart = done; });
    this.recorder.start();
  }

  /** With what was drawn last: encoders run late. */
  stop() {
    setTimeout(() => this.recorder.stop(), LATE);
  }
}
