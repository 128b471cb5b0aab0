// A second result in the same picture: its bodies, grey and transparent, at the same time.

import { Picture } from "./picture.js";
import { Recording } from "./recording.js";

export class Ghost {
  /** other: as in the data, of the second result. */
  constructor(other) {
    this.recording = new Recording({ ...other, forces: [] });
    this.picture = new Picture({ ...other, forces: [] }, this.recording.state);
  }

  /** Calls note(point) for points that it reaches. */
  reached(note) {
    this.picture.reached(this.recording, note);
  }

  build(picture) {
    this.picture.buildBeside(picture);
  }

  seek(t) {
    this.recording.at(Math.min(this.recording.end, Math.max(this.recording.start, t)));
    this.picture.update();
  }
}
