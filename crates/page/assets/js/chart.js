// A chart: its frame, its axis along the bottom, hover, zoom and keys. What is drawn inside, and
// what is under the pointer, comes from its `content`:
//   name                 for the style, the tests, and the link
//   kind, title, how     for readers of the screen, and for pictures: what it is, and how to move in it
//   about()              what is chosen of several: a case, a quantity
//   hint                 how to read the marks, for pictures
//   view                 what the link calls its zoom, where that is not the name
//   x: {axis, title, full()}   axis, and the places that the whole view spans
//   box(width, zoomed)   {left, right, top, bottom, height}: the plot within the picture
//   paint(chart)         draws into chart.plot
//   probe(chart, px, py) {px, title, entries: [{color, name, value, py, near}]} or null
//   stops(chart)         places in px at which the keyboard stops

const charts = [];

class Chart {
  constructor(host, content) {
    this.content = content;
    this.view = null;
    this.yView = null;
    this.peers = [this];
    this.id = `chart-${charts.push(this)}`;
    this.tip = el("div", { class: "tooltip", hidden: "" });
    this.spoken = el("div", { class: "unseen", "aria-live": "polite" });
    this.back = el("button", { type: "button", class: "back", hidden: "" }, "Reset zoom");
    this.picture = svg("svg", {
      class: "picture", tabindex: 0, role: "application",
      "aria-roledescription": "chart",
    });
    this.frame = el("div", { class: "chart", "data-chart": content.name },
      this.picture, this.tip, this.back, this.spoken);
    host.append(this.frame);
    listen(this);
    this.render();
    if (content.name !== "study" && content.name !== "forest") remembering(this);
    takingPictures(this);
    new ResizeObserver(() => this.resized()).observe(this.frame);
  }

  /** Places of the left and the right edge. */
  range() {
    return this.view || this.content.x.full();
  }

  px(place) {
    const [low, high] = this.range();
    return this.box.left + ((place - low) / (high - low)) * (this.box.right - this.box.left);
  }

  place(px) {
    const [low, high] = this.range();
    return low + ((px - this.box.left) / (this.box.right - this.box.left)) * (high - low);
  }

  resized() {
    const width = Math.round(this.frame.clientWidth);
    if (width > 0 && width !== this.width) this.render();
  }

  render() {
    this.width = Math.round(this.frame.clientWidth) || 720;
    this.box = this.content.box(this.width, Boolean(this.view));
    const { left, right, top, bottom, height } = this.box;
    this.picture.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
    this.picture.setAttribute("aria-label", `${this.content.kind}: ${titleOf(this)}. ${this.content.how || ""}`.trim());
    this.picture.replaceChildren();
    const clip = svg("clipPath", { id: this.id },
      svg("rect", { x: left, y: top - 4, width: right - left, height: bottom - top + 8 }));
    this.grid = svg("g", { class: "grid" });
    this.plot = svg("g", { "clip-path": `url(#${this.id})` });
    this.labels = svg("g", { class: "labels" });
    this.over = svg("g", { class: "over", "pointer-events": "none" });
    this.picture.append(svg("defs", {}, clip), this.grid, this.plot, this.labels, this.over);
    this.paintBottom();
    this.content.paint(this);
    this.picture.dataset.low = String(this.range()[0]);
    this.picture.dataset.high = String(this.range()[1]);
    this.back.hidden = !this.view && !this.yView;
    this.leave();
  }

  paintBottom() {
    const { left, right, top, bottom } = this.box;
    const { axis, title } = this.content.x;
    const [low, high] = this.range();
    const wanted = Math.max(2, Math.floor((right - left) / 72));
    let free = -Infinity;
    for (const { at, label } of axis.ticks(low, high, wanted)) {
      const x = this.px(at);
      const half = label.length * 3.4 + 5;
      this.grid.append(svg("line", { x1: x, x2: x, y1: top, y2: bottom, class: "rule" }));
      const inside = Math.min(Math.max(x, half - 5), this.width - half + 5);
      if (inside - half < free) continue;
      free = inside + half;
      this.labels.append(svg("text", { x: inside, y: bottom + 18, class: "tick tick-x" }, label));
    }
    // A title that is longer than the axis goes on to the right of it.
    const end = Math.min(this.width, Math.max(right, 6.8 * title.length));
    this.labels.append(svg("text", { x: end, y: bottom + 36, class: "title title-x" }, title));
  }

  /** Rules and labels of a vertical axis over the places from `low` to `high`. */
  paintSide(axis, low, high, title) {
    const { left, right, top, bottom } = this.box;
    const y = (place) => bottom - ((place - low) / (high - low)) * (bottom - top);
    const wanted = Math.max(2, Math.floor((bottom - top) / 36));
    let free = -Infinity;
    // From the top: below a power of ten, where ticks are close, that one keeps its label.
    for (const { at, label } of [...axis.ticks(low, high, wanted)].reverse()) {
      this.grid.append(svg("line", { x1: left, x2: right, y1: y(at), y2: y(at), class: "rule" }));
      if (y(at) < free) continue;
      free = y(at) + 13;
      this.labels.append(svg("text", { x: left - 8, y: y(at) + 4, class: "tick tick-y" }, label));
    }
    this.labels.append(svg("text", { x: 0, y: top - 14, class: "title" }, title));
    return y;
  }

  // ---- zoom

  zoom(low, high) {
    const [from, to] = this.content.x.full();
    const least = (to - from) / 2000;
    const span = Math.min(Math.max(high - low, least), to - from);
    const start = Math.min(Math.max((low + high - span) / 2, from), to - span);
    const whole = span > (to - from) * 0.9999;
    for (const peer of this.peers) {
      peer.view = whole ? null : [start, start + span];
      peer.render();
    }
    this.changed();
  }

  /** To whoever keeps what is looked at. */
  changed() {
    if (this.zoomed) this.zoomed();
  }

  /** Around a place, which stays where it is. Below 1 is nearer. */
  zoomBy(factor, around) {
    const [low, high] = this.range();
    this.zoom(around - (around - low) * factor, around + (high - around) * factor);
  }

  pan(share) {
    const [low, high] = this.range();
    this.zoom(low + share * (high - low), high + share * (high - low));
  }

  whole() {
    for (const peer of this.peers) {
      peer.view = null;
      peer.yView = null;
      peer.render();
    }
    this.changed();
  }

  // ---- hover

  point(px, py, aloud) {
    const { left, right } = this.box;
    const inside = Math.min(Math.max(px, left), right);
    const found = this.content.probe(this, inside, py);
    this.over.replaceChildren();
    this.tip.hidden = !found;
    if (!found) return;
    this.at = { px: found.px, py };
    this.cross(found);
    showTip(this, found, px, py);
    if (aloud) this.spoken.textContent = spoken(found);
    for (const peer of this.peers) {
      if (peer !== this) peer.follow(found.px, this);
    }
  }

  /** The same moment in a chart next to the one under the pointer. */
  follow(px, leader) {
    const mine = this.px(leader.place(px));
    const found = this.content.probe(this, mine, this.box.top);
    this.over.replaceChildren();
    if (found) this.cross(found);
  }

  cross({ px, entries }) {
    const { left, right, top, bottom } = this.box;
    if (px >= left - 1 && px <= right + 1) {
      this.over.append(svg("line", { x1: px, x2: px, y1: top, y2: bottom, class: "cross" }));
    }
    for (const { color, py, near, mark } of entries) {
      if (py === undefined || py < top - 1 || py > bottom + 1) continue;
      const at = mark === undefined ? px : mark;
      if (at < left - 1 || at > right + 1) continue;
      this.over.append(svg("circle", {
        cx: at, cy: py, r: near ? 5 : 3.5, class: "mark", style: { fill: color },
      }));
    }
  }

  leave() {
    for (const peer of this.peers) {
      if (peer.over) peer.over.replaceChildren();
      peer.tip.hidden = true;
    }
  }
}

const MOST_ENTRIES = 12;

function showTip(chart, found, px, py) {
  const entries = found.entries.slice(0, MOST_ENTRIES);
  const more = found.entries.length - entries.length;
  const lines = entries.map(({ color, dash, thin, name, value, near }) => el("tr", { class: near ? "near" : null },
    el("td", {}, swatch(color, dash, thin), name), el("td", { class: "number" }, value)));
  chart.tip.replaceChildren(
    el("div", { class: "tip-title" }, found.title),
    el("table", {}, ...lines),
    ...(more > 0 ? [el("div", { class: "tip-more" }, `and ${more} more`)] : []),
    ...(found.note ? [el("div", { class: "tip-more" }, found.note)] : []),
  );
  placeTip(chart, px, py);
}

function placeTip(chart, px, py) {
  const { offsetWidth: width, offsetHeight: height } = chart.tip;
  // It may leave its chart, but not the window.
  const { left } = chart.frame.getBoundingClientRect();
  const [first, last] = [8 - left, document.documentElement.clientWidth - 8 - width - left];
  const side = px + 16 > last ? px - 16 - width : px + 16;
  const x = Math.max(first, Math.min(side, last));
  // In charts with rows the tip is below its row.
  const wanted = chart.content.rowMiddles ? py + 20 : py - height / 2;
  const y = Math.min(Math.max(wanted, 0), Math.max(0, chart.box.height - height + 60));
  chart.tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
}

function spoken({ title, entries }) {
  return `${title}: ${entries.map(({ name, value }) => `${name} ${value}`).join(", ")}`;
}

function swatch(color, dash, thin) {
  const kinds = { "7 4": "dashed", "9 3 2 3": "dash-dotted" };
  const kind = dash && (thin ? "slim" : kinds[dash] || "dotted");
  const class_ = ["swatch", kind].filter(Boolean).join(" ");
  return el("span", { class: class_, style: { "--dye": color } });
}

// ---- pointer, wheel, keys

function listen(chart) {
  const { picture } = chart;
  const state = { fingers: new Map(), drag: null, pinch: null };
  const at = (event) => {
    const rect = picture.getBoundingClientRect();
    const scale = chart.width / rect.width;
    return { px: (event.clientX - rect.left) * scale, py: (event.clientY - rect.top) * scale };
  };
  picture.addEventListener("pointerdown", (event) => down(chart, state, event, at(event)));
  picture.addEventListener("pointermove", (event) => move(chart, state, event, at(event)));
  picture.addEventListener("pointerup", (event) => up(chart, state, event, at(event)));
  picture.addEventListener("pointercancel", (event) => {
    forget(state, event);
    chart.leave();
  });
  picture.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "touch" && !state.drag) chart.leave();
  });
  picture.addEventListener("dblclick", () => chart.whole());
  picture.addEventListener("wheel", (event) => wheel(chart, event, at(event)), { passive: false });
  picture.addEventListener("keydown", (event) => key(chart, event));
  picture.addEventListener("blur", () => chart.leave());
  chart.back.addEventListener("click", () => chart.whole());
}

function down(chart, state, event, here) {
  if (event.button !== 0) return;
  state.fingers.set(event.pointerId, here);
  if (state.fingers.size === 2) {
    state.drag = null;
    state.pinch = spread(state);
    return;
  }
  if (event.pointerType === "touch") {
    chart.point(here.px, here.py);
    return;
  }
  // Keeps a drag that leaves the picture.
  chart.picture.setPointerCapture(event.pointerId);
  state.drag = here;
}

function spread(state) {
  const [a, b] = [...state.fingers.values()];
  return { distance: Math.max(20, Math.abs(a.px - b.px)), middle: (a.px + b.px) / 2 };
}

function move(chart, state, event, here) {
  if (state.fingers.has(event.pointerId)) state.fingers.set(event.pointerId, here);
  if (state.pinch && state.fingers.size === 2) {
    const now = spread(state);
    chart.zoomBy(state.pinch.distance / now.distance, chart.place(now.middle));
    state.pinch = now;
  } else if (state.drag && Math.abs(here.px - state.drag.px) > 4) {
    select(chart, state.drag, here);
  } else {
    chart.point(here.px, here.py);
  }
}

/** The part of the view that a drag encloses; a flat drag takes the whole height. */
function selection(chart, from, to) {
  const { left, right, top, bottom } = chart.box;
  const within = (value, low, high) => Math.min(Math.max(value, low), high);
  const x = [from.px, to.px].map((px) => within(px, left, right)).sort((a, b) => a - b);
  const y = [from.py, to.py].map((py) => within(py, top, bottom)).sort((a, b) => a - b);
  const flat = !chart.content.fitsHeight || y[1] - y[0] < 28;
  return { x, y: flat ? [top, bottom] : y, flat };
}

function select(chart, from, to) {
  const { x, y } = selection(chart, from, to);
  chart.leave();
  chart.over.append(svg("rect", {
    x: x[0], y: y[0], width: x[1] - x[0], height: y[1] - y[0], class: "selection",
  }));
}

function up(chart, state, event, here) {
  const from = state.drag;
  forget(state, event);
  if (!from || Math.abs(here.px - from.px) < 6) return;
  const { x, y, flat } = selection(chart, from, here);
  if (!flat) chart.yView = [chart.sidePlace(y[1]), chart.sidePlace(y[0])];
  chart.zoom(chart.place(x[0]), chart.place(x[1]));
}

function forget(state, event) {
  state.fingers.delete(event.pointerId);
  state.drag = null;
  state.pinch = null;
}

function wheel(chart, event, here) {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  chart.zoomBy(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 160), chart.place(here.px));
}

function key(chart, event) {
  const { box } = chart;
  const here = chart.at || { px: box.left, py: (box.top + box.bottom) / 2 };
  const middle = (chart.range()[0] + chart.range()[1]) / 2;
  const step = (event.key === "ArrowLeft" || event.key === "ArrowUp") ? -1 : 1;
  const acts = {
    ArrowLeft: () => (event.shiftKey ? chart.pan(-0.2) : walk(chart, here, step)),
    ArrowRight: () => (event.shiftKey ? chart.pan(0.2) : walk(chart, here, step)),
    ArrowUp: () => climb(chart, here, step),
    ArrowDown: () => climb(chart, here, step),
    "+": () => chart.zoomBy(0.6, middle),
    "=": () => chart.zoomBy(0.6, middle),
    "-": () => chart.zoomBy(1 / 0.6, middle),
    0: () => chart.whole(),
    Escape: () => chart.whole(),
  };
  if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  acts[event.key]();
}

/** To the next stop to the left or to the right. */
function walk(chart, here, step) {
  const stops = chart.content.stops(chart, here).filter((px) => px >= chart.box.left - 1 && px <= chart.box.right + 1);
  const next = step > 0
    ? stops.find((px) => px > here.px + 0.5)
    : stops.reverse().find((px) => px < here.px - 0.5);
  chart.point(next === undefined ? here.px : next, here.py, true);
}

/** To the row above or below, in charts that have rows. */
function climb(chart, here, step) {
  const rows = chart.content.rowMiddles ? chart.content.rowMiddles(chart) : [];
  const next = step > 0
    ? rows.find((py) => py > here.py + 0.5)
    : [...rows].reverse().find((py) => py < here.py - 0.5);
  chart.point(here.px, next === undefined ? here.py : next, true);
}
