// What is drawn when there are many: eight at most, each in a colour of its own as long as it is drawn.
//   entries  {key, name, color}: without a colour of its own, an entry has that of its place

/** More than this many series in one frame cannot be distinguished. */
const MOST_SERIES = 8;

class Picks {
  /** `isTelling`: the first ones represent all. If not, paper shows none, because its reader cannot pick. */
  constructor(entries, first = entries, isTelling = false) {
    this.entries = entries;
    this.isChosen = isTelling || entries.length <= MOST_SERIES;
    this.places = first.slice(0, MOST_SERIES).map(({ key }) => key);
    this.changed = [];
  }

  has(key) {
    return this.places.includes(key);
  }

  color(key) {
    const own = this.entries.find((entry) => entry.key === key).color;
    return own || (this.has(key) ? seriesColor(this.places.indexOf(key)) : "var(--muted)");
  }

  /** Into a free place, else into the first one. */
  add(key) {
    const free = this.places.indexOf(null);
    if (free >= 0) this.places[free] = key;
    else if (this.places.length < MOST_SERIES) this.places.push(key);
    else this.places[0] = key;
    this.notify();
  }

  remove(key) {
    if (this.places.filter((place) => place !== null).length < 2) return;
    this.places[this.places.indexOf(key)] = null;
    this.notify();
  }

  notify() {
    this.isChosen = true;
    for (const listener of this.changed) listener();
  }

  /** The drawn ones as buttons that take them away, and a list that adds another. */
  bar(host, what) {
    const box = el("div", { class: "legend picks", role: "group", "aria-label": `${what} drawn` });
    const fill = () => {
      const shown = this.places.filter((key) => key !== null).map((key) => this.entries.find((entry) => entry.key === key));
      const buttons = shown.map(({ key, name }) => {
        const button = el("button", { type: "button", class: "entry", "aria-label": `Leave out ${name}` }, swatch(this.color(key)), name, el("span", { class: "cut", "aria-hidden": "true" }, "×"));
        button.addEventListener("click", () => this.remove(key));
        return button;
      });
      const others = this.entries.filter(({ key }) => !this.has(key));
      const list = el("select", { "aria-label": `Draw another of ${this.entries.length}: ${what}` },
        el("option", {}, `${shown.length} of ${this.entries.length} drawn: add …`), ...others.map(({ name }) => el("option", {}, name)));
      list.addEventListener("change", () => { if (list.selectedIndex) this.add(others[list.selectedIndex - 1].key); });
      box.classList.toggle("unchosen", !this.isChosen);
      box.replaceChildren(...buttons, el("span", { class: "picker" }, list));
    };
    this.changed.push(fill);
    fill();
    host.append(box);
  }
}

/** A legend for few, a list to pick from for many; returns what is drawn, and in which colour. */
function shownBy(host, entries, what, changed) {
  if (entries.length > MOST_SERIES) {
    const step = entries.length / MOST_SERIES;
    const spread = [...Array(MOST_SERIES).keys()].map((k) => entries[Math.round(k * step)]);
    const picks = new Picks(entries, spread);
    picks.changed.push(changed);
    picks.bar(host, what);
    return picks;
  }
  const hidden = new Set();
  legend(host, entries, hidden, changed);
  return { has: (key) => !hidden.has(key), color: (key) => entries.find((entry) => entry.key === key).color };
}
