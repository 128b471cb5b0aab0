// Vibrations about an equilibrium, or modes of a linear model: one of them is the motion that the page plays.

import { Recording } from "./recording.js";

const $ = (id) => document.getElementById(id);

export class Modes {
  /** page: whose source of motion they replace. */
  constructor(page) {
    this.page = page;
    const { modes } = page.data;
    modes.forEach(({ name }, k) => $("mode").add(new Option(name, k)));
    $("modes").hidden = false;
    $("mode").addEventListener("change", () => this.show($("mode").value));
    this.show("0");
  }

  /** which: its number from 0 as text, or "" for the equilibrium. */
  show(which) {
    const { page } = this, { data } = page;
    if (page.panel?.on) page.panel.leave();
    const source = which === "" ? page.recording : new Recording({ ...data, ...data.modes[which], forces: [] });
    if (which !== "") Object.assign(source, { state: page.recording.state, pace: source.end / data.modes[which].seconds });
    $("mode").value = which;
    page.play(false);
    page.setSource(source);
    page.seek(source.start);
    page.play(which !== "");
  }
}
