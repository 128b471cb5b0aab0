// The plots beside the picture: which variables there are, what is plotted over what, and their values as a file.

import { saved } from "./files.js";
import { decoded } from "./numbers.js";
import { Plot } from "./plots.js";

const $ = (id) => document.getElementById(id);

/** Series of the data by name; values() decodes when it is first asked. */
function seriesOf(list) {
  return new Map(list.map((one) => {
    let values = null;
    return [one.name, { ...one, values: () => values || (values = decoded(one.values)) }];
  }));
}

export class Charts {
  /** page: whose source of motion is plotted, and beside it that of its ghost. */
  constructor(page) {
    this.page = page;
    this.plots = [];
    this.series = seriesOf(page.data.series);
    this.beside = page.ghost ? seriesOf(page.data.other.series) : new Map();
    for (const name of this.series.keys()) $("variables").append(new Option(name));
    $("more").hidden = this.series.size === 0;
    for (const id of ["add", "against"]) $(id).addEventListener("change", () => this.asked());
    $("save-csv").addEventListener("click", () => this.save());
    for (const names of page.data.plots) this.plot(names);
  }

  /** Plots what the two fields name, when they name variables. */
  asked() {
    const name = $("add").value.trim(), against = $("against").value.trim();
    if (!this.series.has(name) || (against && !this.series.has(against))) return;
    this.plot([name], against || null);
    $("add").value = "";
  }

  plot(names, against = null) {
    const { page } = this, of = (all, name) => name && (() => all.get(name).values()); // which a live motion replaces
    const curves = names.flatMap((name) => {
      const found = [{ name, unit: this.series.get(name).unit, times: () => page.source.times, x: of(this.series, against), y: of(this.series, name) }];
      if (this.beside.has(name) && (!against || this.beside.has(against)))
        found.push({ ...found[0], times: () => page.ghost.recording.times, x: of(this.beside, against), y: of(this.beside, name), beside: true });
      return found;
    });
    const title = names.join(", ") + (against ? ` over ${against}` : "");
    const seek = (t) => { page.play(false); page.seek(t); }, closed = () => { this.plots = this.plots.filter((one) => one !== plot); };
    const plot = new Plot(title, curves, against && this.series.get(against), seek, closed);
    plot.names = against ? [...names, against] : names;
    this.plots.push(plot);
    this.watch?.(plot.names);
    $("plots").append(plot.figure);
    plot.redraw();
    plot.show(page.time);
  }

  redraw() {
    for (const plot of this.plots) { plot.redraw(); plot.show(this.page.time); }
  }

  show(t) {
    for (const plot of this.plots) plot.show(t);
  }

  /** All series of the present motion as CSV; of a live one those that were kept. */
  save() {
    const { source, data } = this.page, times = source.times, live = source !== this.page.recording;
    const shown = [...this.series.values()].filter((one) => (live ? source.names().includes(one.name) : one.recorded !== false));
    const columns = shown.map((one) => one.values()), lines = [["time", ...shown.map((one) => one.name)].join(",")];
    for (let i = 0; i < times.length; i++) lines.push([times[i], ...columns.map((values) => values[i])].join(","));
    saved(`${data.name}-curves.csv`, new Blob([`${lines.join("\n")}\n`], { type: "text/csv" }));
  }
}
