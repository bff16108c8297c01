// The page: which charts there are, their legends and switches, and the table.

const data = JSON.parse(document.getElementById("data").textContent);
for (const row of data.records.flatMap((record) => record.rows)) if (row.response === "same") row.response = row;
const several = data.records.length > 1;
const families = [...new Set(data.records.flatMap(({ rows }) => rows.map(({ family }) => family)))];
const directions = [...new Set(data.records.flatMap(({ rows }) => rows.map(({ direction }) => direction)))];
const DASHES = [null, "7 4", "2 4", "9 3 2 3"];

function seriesColor(index) {
  return `var(--s${(index % 8) + 1})`;
}

/** A tone of a colour: 0 is the colour itself, 1 the nearest to that of the text. None is mixed with
 * the surface, on which several colours would fall below a contrast of 3. */
function toneOf(color, tone) {
  return `color-mix(in oklab, ${color} ${Math.round(100 - 60 * tone)}%, var(--ink))`;
}

/** Passes share the colour of their case: the last has it, the first is nearest to that of the text. */
function shade(color, step, steps) {
  return toneOf(color, steps > 1 ? 1 - step / (steps - 1) : 0);
}

/** A case of a sweep of several lines has the colour of its line, in a tone of its own; of a single
 * line, the colour of its place on it; of more lines than can be told apart, none. */
function placeColor(place) {
  if (!place) return null;
  if (place.step !== undefined) return toneOf(seriesColor(place.color), place.step);
  return place.rank === undefined ? null : lineColor(place);
}

/** With more records than this, all charts together draw those that are picked. */
const FEW = 4;
const systems = data.records.length > FEW
  ? new Picks(data.records.map(({ label }, key) => ({ key, name: label }))) : null;
const labels = [...new Set(data.records.flatMap(({ rows }) => rows.map(({ label }) => label)))];
const placeOf = new Map(data.records.flatMap(({ rows }) => rows.map(({ label, place }) => [label, place])));
const caseEntries = labels.map((label) => ({ key: label, name: label, color: placeColor(placeOf.get(label)) }));
/** Of a sweep its corners and knees first: the others lie between them. */
const telling = caseEntries.filter(({ key }) => (placeOf.get(key) || {}).is_telling);
const cases = labels.length > MOST_SERIES ? new Picks(caseEntries, [...telling, ...caseEntries.filter((entry) => !telling.includes(entry))], telling.length > 0) : null;

function recordColor(record) {
  return systems ? systems.color(record) : seriesColor(record);
}

function rowColor(record, row) {
  if (several) return recordColor(record);
  const own = placeColor(row.place);
  if (own) return own;
  return cases ? cases.color(row.label) : seriesColor(families.indexOf(row.family));
}

/** Calls a chart when something else is picked. */
function picked(changed) {
  for (const picks of [systems, cases]) if (picks) picks.changed.push(changed);
}

function dashOf(direction) {
  return DASHES[Math.max(0, directions.indexOf(direction)) % DASHES.length];
}

/** All rows of all records with what distinguishes them. */
const rows = data.records.flatMap(({ label, rows: own }, record) =>
  own.map((row) => ({ record, run: label, row, get color() { return rowColor(record, row); }, dash: dashOf(row.direction) })));

const isPicked = ({ record }) => !systems || systems.has(record);
const isPickedCase = ({ row }) => !cases || cases.has(row.label);

// ---- legends and switches

/** Buttons that hide and show; a double click shows one alone. `entries`: {key, name, color, dash, thin}. */
function legend(host, entries, hidden, changed) {
  if (entries.length < 2) return;
  const buttons = entries.map((entry) => el("button", { type: "button", class: "entry", "aria-pressed": String(!hidden.has(entry.key)) },
    swatch(entry.color, entry.dash, entry.thin), entry.name));
  const show = () => {
    entries.forEach(({ key }, k) => buttons[k].setAttribute("aria-pressed", String(!hidden.has(key))));
    changed();
  };
  entries.forEach(({ key }, k) => {
    buttons[k].addEventListener("click", () => {
      if (hidden.has(key)) hidden.delete(key);
      else hidden.add(key);
      show();
    });
    buttons[k].addEventListener("dblclick", () => {
      const alone = !hidden.has(key) && entries.every((other) => other.key === key || hidden.has(other.key));
      for (const other of entries) {
        if (alone || other.key === key) hidden.delete(other.key);
        else hidden.add(other.key);
      }
      show();
    });
  });
  host.append(el("div", { class: "legend", role: "group", "aria-label": "Series shown" }, ...buttons));
}

/** A choice of one among a few. */
function choice(label, options, changed) {
  const buttons = options.map((name) => el("button", { type: "button", "aria-pressed": "false" }, name));
  const pick = (index, quiet) => {
    buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(k === index)));
    if (!quiet) changed(index);
  };
  buttons.forEach((button, k) => button.addEventListener("click", () => pick(k)));
  pick(0, true);
  return el("div", { class: "choice", role: "group", "aria-label": label }, ...buttons);
}

/** A list to choose from; the link remembers what is chosen under `name`. */
function picker(label, options, name, changed) {
  const select = el("select", { "aria-label": label }, ...options.map((option) => el("option", {}, option)));
  select.selectedIndex = remembered(name, options);
  select.addEventListener("change", () => {
    remember(name, select.selectedIndex ? options[select.selectedIndex] : null);
    changed(select.selectedIndex);
  });
  return el("label", { class: "picker" }, el("span", {}, label), select);
}

function head(card, title, ...controls) {
  card.append(el("div", { class: "card-head" }, el("h3", {}, title), ...controls));
}

/** Those of many are picked for all charts together. */
const runEntries = () => (systems ? [] : data.records.map(({ label }, record) => ({ key: record, name: label, color: recordColor(record) })));

/** The rows of all records by case and direction. */
function grouped(visible) {
  const groups = new Map();
  for (const item of visible) {
    const { label } = item.row;
    if (!groups.has(label)) groups.set(label, { label, items: [] });
    groups.get(label).items.push({ ...item, name: several ? item.run : null, hatched: !several && item.dash });
  }
  return [...groups.values()];
}

// ---- the suite

/** More bars than this are no picture. */
const MOST_BARS = 40;

/** Bytes of an operation from which on its throughput matters more than its rate. */
const LARGE = 32768;
const isLarge = ({ row }) => row.mbps.value * 1e6 >= LARGE * row.iops.value && row.iops.value > 0;
const KINDS = [
  { unit: "MB/s", quantity: "mbps", title: "Throughput", part: "Large blocks: throughput", of: (row) => row.mbps, has: isLarge },
  { unit: "IOPS", quantity: "iops", title: "Operations per second", part: "Small blocks: operations per second", of: (row) => row.iops, has: (item) => !isLarge(item) },
];

/** What a panel is about. Syncs, which move no bytes, are beside the small blocks and are none. */
function partOf({ part, has }, all) {
  const isSync = ({ row }) => row.direction === "sync";
  const own = all.filter(has);
  return own.some(isSync) ? part.replace(/^[^:]+/, own.every(isSync) ? "Syncs" : "$& and syncs") : part;
}

/** Where blocks are large and small, each has a panel of its own: 30 MB/s are much of 4 KiB. */
function suite(card) {
  if (!card) return;
  const barred = rows.filter(({ row }) => !row.is_swept);
  const isMany = several || barred.length > MOST_BARS;
  card.parentElement.classList.toggle("by-pick", isMany);
  const hidden = new Set();
  const drawn = [];
  const redraw = () => drawn.forEach((chart) => chart.render());
  const panels = KINDS.every(({ has }) => barred.some(has)) ? KINDS : KINDS.slice(0, 1);
  const entries = several ? runEntries() : directions.map((direction) => ({ key: direction, name: direction, color: "var(--muted)", dash: dashOf(direction) }));
  legend(card, entries, hidden, redraw);
  const grid = el("div", { class: "grid-2" });
  card.append(grid);
  for (const [place, panel] of panels.entries()) {
    const host = el("div", {});
    grid.append(host);
    const state = { kind: panel };
    const visible = () => barred.filter((item) => isPicked(item) && (!isMany || isPickedCase(item)) && (panels.length < 2 || panel.has(item)))
      .filter(({ record, row }) => !hidden.has(several ? record : row.direction));
    const most = () => Math.max(1e-9, ...visible().map(({ row }) => Math.max(state.kind.of(row).value, state.kind.of(row).high || 0, ...state.kind.of(row).each)));
    const allLimits = () => limitsOfParts(limitsOf(state.kind.quantity, visible().map(({ row }) => row.direction), once(visible().map(({ record }) => record))), visible());
    const limits = () => limitsNear(allLimits(), most());
    const title = el("span", {}, panels.length > 1 ? partOf(panel, barred) : panel.title);
    head(host, title, ...(panels.length > 1 ? [] : [choice("Quantity", KINDS.map(({ unit }) => unit), (index) => {
      state.kind = KINDS[index];
      title.textContent = state.kind.title;
      drawn[0].whole();
    })]));
    drawn.push(barChart(host, {
      name: "suite", view: `suite-${place + 1}`, kind: "Bars", title: "suite", about: () => title.textContent, how: "Up and down choose a case.",
      hint: BAR_HINT,
      x: { axis: linearAxis(shortText), get title() { return state.kind.unit; }, full: () => [0, Math.max(most(), ...limits().map(({ value }) => value)) * 1.02] },
      limits, allLimits, caps: () => state.kind.quantity === "iops",
      rows: () => {
        const bars = visible();
        // A choice of cases, or of directions, may leave nothing of this size.
        host.hidden = !bars.length;
        return grouped(bars);
      },
      figure: (row) => state.kind.of(row), unit: () => state.kind.unit,
    }));
  }
  picked(redraw);
}

// ---- latency

/** The last point of a curve is the slowest operation of all: one in `ios`. */
function curveOf({ curve, ios }) {
  const [x, y] = [[], []];
  for (let k = 0; k < curve.length; k += 2) {
    x.push(tailAxis.forward(Math.max(curve[k], 1 / Math.max(1, ios))));
    y.push(curve[k + 1]);
  }
  if (x[0] > 0) {
    x.unshift(0);
    y.unshift(curve[1]);
  }
  return { x, y };
}

/** The place from which on fewer than ten operations lie beyond. */
function weakFrom({ ios }) {
  return Math.log10(Math.max(1, ios / 10));
}

/** A row's curve, and the thinner one of its response latency where there is one. */
function curvesOf(item) {
  const { row } = item;
  const name = several ? item.run : row.label;
  const service = { ...item, ...curveOf(row), key: several ? item.record : row.label, name, weak: weakFrom(row) };
  if (!row.response) return [service];
  const response = { ...service, ...curveOf(row.response), name: `${name}, response`, weak: weakFrom(row.response), dash: "3 3", thin: true };
  return [service, several ? response : { ...response, key: response.name }];
}

function percentiles(card) {
  if (!card) return;
  const hidden = new Set();
  // Another program may have reported no latency of a row.
  const curves = rows.flatMap(curvesOf).filter(({ x }) => x.length);
  let only = several ? labels[remembered("case", labels)] : null;
  const visible = () => curves.filter((item) => !hidden.has(item.key) && isPicked(item) && (several ? item.row.label === only : isPickedCase(item)))
    .map((item) => ({ ...item, color: rowColor(item.record, item.row) }));
  const deepest = Math.max(...curves.map(({ x }) => x[x.length - 1]));
  const full = [0, Math.max(4, Math.min(5, deepest))];
  const pick = picker("Case", labels, "case", (index) => {
    only = labels[index];
    chart.whole();
  });
  head(card, "Percentiles", ...(several ? [pick] : []));
  if (!cases || several) legend(card, several ? runEntries() : curves, hidden, () => chart.render());
  picked(() => chart.render());
  const chart = lineChart(card, {
    name: "percentiles", kind: "Lines", title: "latency by percentile", about: () => only || "every case",
    hint: "Pale: fewer than ten operations lie beyond.",
    x: { axis: tailAxis, title: "percentile", full: () => full, say: percentileText },
    side: { axis: logAxis(shortLatency), title: "latency" }, say: latencyText,
    lines: visible, height: (width) => (width < 620 ? 320 : 420),
    note: data.quantile_error_percent === null
      ? "~ fewer than ten operations beyond"
      : `values within ${percentText(data.quantile_error_percent)}; ~ fewer than ten operations beyond`,
  });
}

function histogram(card) {
  const known = rows.filter(({ row }) => row.bins.length);
  if (!card) return;
  card.hidden = !known.length;
  if (card.hidden) return;
  const hidden = new Set();
  const visible = () => known.filter((item) => (!hidden.has(item.record) || !several) && isPicked(item) && isPickedCase(item));
  const drawn = known.flatMap(({ row }) => (row.response ? [row, row.response] : [row]));
  const edges = drawn.flatMap(({ bins }) => [bins[0], bins[bins.length - 2]]).filter((ns) => ns > 0);
  const full = [Math.log10(Math.min(...edges)) - 0.03, Math.log10(Math.max(...edges)) + 0.03];
  head(card, "Histogram", el("span", { class: "key" }, "every row in its own scale",
    el("span", { class: "key-line" }), "median", el("span", { class: "key-line dotted" }), "p99"));
  if (several) legend(card, runEntries(), hidden, () => chart.render());
  const chart = ridgeChart(card, {
    name: "histogram", kind: "Histograms", title: "latency, one row a case", how: "Up and down choose a case.",
    hint: "Every row in its own scale; upright lines: median, dotted: p99.",
    x: { axis: logAxis(shortLatency), title: "latency", full: () => full },
    rows: () => grouped(visible()),
  });
  picked(() => chart.render());
}

// ---- over time

/** The five quantities: a frame each, so that the colour of a line means its pass alone. */
const QUANTITIES = [
  { name: "iops", title: "IOPS", axis: linearAxis(shortText), zero: true, say: iopsText },
  { name: "mbps", title: "MB/s", axis: linearAxis(shortText), zero: true, say: (v) => `${rateText(v)} MB/s` },
  { name: "p50", title: "median latency", axis: logAxis(shortLatency), say: latencyText },
  { name: "p99", title: "p99 latency", axis: logAxis(shortLatency), say: latencyText },
  { name: "cpu", title: "own CPU, % of one processor", axis: linearAxis(shortText), zero: true, say: percentText },
];

/** Pass 0 warms the target up, and enters no figure. */
function passName(pass) {
  return pass ? `pass ${pass}` : "warm-up pass";
}

function passLine(quantity, { record, run, pass, color, dash, direction, series, end, mixed, size }) {
  return {
    name: [several ? run : null, passName(pass), mixed ? direction : null].filter(Boolean).join(", "),
    color, dash: mixed ? dash : null, x: end, y: series[quantity.name], record, pass, direction, points: mixed ? [] : [{ size }],
  };
}

/** Every pass of a case with its series; the own CPU belongs to all directions together. */
function passesOf(name, quantity) {
  return data.records.flatMap(({ label, passes, rows: own }, record) => {
    const mine = passes.filter((pass) => pass.case === name);
    const row = own.find((one) => one.case === name);
    const base = several || !row ? recordColor(record) : row.place ? seriesColor(row.place.step === undefined ? 0 : row.place.color) : rowColor(record, row);
    return mine.flatMap((pass, k) => {
      const all = quantity.name === "cpu" ? [["all", { cpu: pass.cpu }]] : Object.entries(pass.directions);
      return all.map(([direction, series]) => passLine(quantity, {
        record, run: label, pass: pass.pass, color: shade(base, k, mine.length), dash: dashOf(direction),
        direction, series, end: pass.end, mixed: all.length > 1, size: row && row.iops.value > 0 ? (row.mbps.value * 1e6) / row.iops.value : 0,
      }));
    });
  });
}

function overTime(card) {
  const all = data.records.flatMap(({ passes }) => passes);
  const names = [...new Set(all.filter(({ end }) => end.length).map((pass) => pass.case))];
  if (!names.length) {
    document.getElementById("time").hidden = true;
    return;
  }
  const merged = Math.max(...data.records.map((record) => record.merged));
  document.getElementById("time-lead").textContent = merged > 1
    ? `A point shows ${merged} intervals: the rate over all of them, the worst of their percentiles.`
    : "Flat lines mean a steady device; passes that diverge mean drift.";
  let name = names[remembered("time", names)];
  const hiddenPasses = new Set();
  const hiddenRuns = new Set();
  const keys = el("div", {});
  const grid = el("div", { class: "grid-2" });
  const host = el("div", { class: "one-of-many" });
  const state = { charts: [] };
  const redraw = () => state.charts.forEach((chart) => chart.render());
  const fillKeys = () => {
    keys.replaceChildren();
    const lines = passesOf(name, QUANTITIES[0]).filter(isPicked);
    const passes = [...new Map(lines.map((line) => [line.pass, line])).values()];
    // With more lines than colours nothing is distinguished: the first passes wait in the legend.
    const most = Math.max(1, Math.floor((MOST_SERIES * passes.length) / lines.length));
    for (const { pass } of passes.slice(0, -most)) hiddenPasses.add(pass);
    legend(keys, passes.map(({ pass, color }) => ({ key: pass, name: passName(pass), color: several ? "var(--muted)" : color })), hiddenPasses, redraw);
    if (several) legend(keys, runEntries(), hiddenRuns, redraw);
  };
  const choose = (index) => {
    name = names[index];
    hiddenPasses.clear();
    fillKeys();
    state.charts[0].whole();
  };
  card.append(host);
  head(host, "One case over time", picker("Case", names, "time", choose));
  host.append(keys, grid);
  fillKeys();
  // A simulated run costs no processor that would say anything of its device.
  const paid = all.some(({ cpu }) => cpu.some((percent) => percent > 0));
  const quantities = QUANTITIES.filter(({ name: quantity }) => (quantity === "cpu" ? paid : isKnown(all, quantity)));
  state.charts = quantities.map((quantity) => timeChart(grid, quantity, () => name, hiddenPasses, hiddenRuns));
  for (const chart of state.charts) chart.peers = state.charts;
  picked(redraw);
  wholeRun(card);
}

/** Whether any slice has this figure: the percentiles of several hosts are in none. */
function isKnown(passes, quantity) {
  const has = (values) => values.some((value) => value !== null);
  return passes.some(({ directions }) => Object.values(directions).some((series) => has(series[quantity])));
}

/** A row's passes as one line: a value holds until the next, and between passes there is none. */
function lineOfRun(item, passes, of) {
  const { row: { case: name, direction, label } } = item;
  const mine = passes.filter((pass) => pass.case === name && pass.directions[direction] && pass.end.length);
  const start = mine.length ? mine[0].started : 0;
  const x = mine.flatMap(({ started, end }) => [started, ...end.map((at) => at + started)]);
  const y = mine.flatMap(({ directions: moved }) => [null, ...moved[direction][of].map((value) => (value > 0 ? value : null))]);
  return { ...item, key: label, name: label, color: item.color, from: start, x, y };
}

/** Every case where its passes lay in the run: what came before shows in what came after. */
function wholeRun(card) {
  const [{ passes }] = data.records;
  if (several || !passes.some(({ started }) => started > 0)) return;
  const host = el("div", { class: cases ? "map no-print" : "map" });
  const grid = el("div", { class: "grid-2" });
  const kinds = [{ of: "iops", title: "IOPS", axis: shortText, say: iopsText }, { of: "p99", title: "p99 latency", axis: shortLatency, say: latencyText }].filter(({ of }) => isKnown(passes, of));
  const hidden = new Set();
  const lines = ({ of }) => rows.filter((item) => isPickedCase(item) && !hidden.has(item.row.label))
    .map((item) => lineOfRun(item, passes, of)).filter(({ x }) => x.length);
  const drawn = kinds.slice(0, 1).flatMap(lines);
  if (!drawn.length) return;
  const full = [0, Math.max(...passes.map(({ started, end }) => started + (end[end.length - 1] || 0)))];
  const redraw = () => charts.forEach((chart) => chart.render());
  head(host, "The whole run", el("span", { class: "key" }, "every pass where it lay in the run"));
  if (!cases) legend(host, drawn, hidden, redraw);
  host.append(grid);
  card.append(host);
  const charts = kinds.map((kind) => {
    const { of, title, axis, say } = kind;
    const frame = el("div", {});
    grid.append(frame);
    return lineChart(frame, {
      name: `run-${of}`, view: "whole-run", kind: "Lines", title: `${title} over the whole run`, stairs: true, say,
      x: { axis: clockAxis, title: "time since the run began", full: () => full, say: secondsText },
      side: { axis: logAxis(axis), title }, limits: () => limitsOfParts(limitsOf(of, directions), rows), lines: () => lines(kind), height: () => 250,
    });
  });
  for (const chart of charts) chart.peers = charts;
  picked(redraw);
}

/** The directions of a case. */
function waysOf(name) {
  return rows.filter(({ row }) => row.case === name).map(({ row }) => row.direction);
}

/** A limit of all directions holds for their sum: where all cases have several, only the limits of one
 * direction are drawn beside figures of one. */
function limitsOfParts(limits, items) {
  const areParts = items.every(({ row }) => new Set(waysOf(row.case)).size > 1);
  return areParts ? limits.filter(({ only }) => only) : limits;
}

function timeChart(grid, quantity, name, hiddenPasses, hiddenRuns) {
  const passes = () => data.records.flatMap((record) => record.passes).filter((pass) => pass.case === name());
  const host = el("div", {});
  grid.append(host);
  const lines = () => passesOf(name(), quantity).filter(({ record, pass }) => !hiddenPasses.has(pass) && !hiddenRuns.has(record) && isPicked({ record }));
  return lineChart(host, {
    name: `time-${quantity.name}`, view: "over-time", kind: "Lines", title: `${quantity.title} over time`, about: name,
    x: { axis: clockAxis, title: "time", full: () => [0, Math.max(0.001, ...passes().flatMap(({ end }) => end.slice(-1)))], say: secondsText },
    side: { axis: quantity.axis, title: quantity.title, zero: quantity.zero }, say: quantity.say,
    limits: () => limitsOfParts(limitsOf(quantity.name, waysOf(name()), once(lines().map(({ record }) => record))), rows.filter(({ row }) => row.case === name())), caps: quantity.name === "iops" ? () => waysOf(name()) : null,
    stairs: true, lines,
    shade: () => Math.max(0, ...passes().map(({ ramp }) => ramp)), height: () => 250,
  });
}

// ---- the table, the workload, the colours

function sortable(table) {
  const heads = [...table.querySelectorAll("thead th")];
  const body = table.querySelector("tbody");
  heads.forEach((cell, column) => cell.querySelector("button").addEventListener("click", () => {
    const down = cell.getAttribute("aria-sort") !== "descending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sorted = [...body.rows].sort((a, b) => compareCells(a.cells[column], b.cells[column]));
    body.append(...(down ? sorted.reverse() : sorted));
  }));
}

const SCALES = { "µs": 1e3, ms: 1e6, s: 1e9 };

/** A figure as it is shown, `~5.87 ms` in nanoseconds; one that is not known is the least. */
function figureOf({ textContent }) {
  const [, number, unit] = textContent.match(/([\d.,]+) ?(\S*)/) || [null, "-1"];
  return Number(number.replaceAll(",", "")) * (SCALES[unit] || 1);
}

function compareCells(a, b) {
  if (a.tagName === "TH" || a.className === "text") return a.textContent.localeCompare(b.textContent, "en", { numeric: true });
  return figureOf(a) - figureOf(b);
}

function copying(button) {
  const text = button.parentElement.querySelector("pre").textContent;
  button.addEventListener("click", async () => {
    const done = await written(text);
    if (!done) getSelection().selectAllChildren(button.parentElement.querySelector("code"));
    button.textContent = done ? "Copied" : "Selected: press Ctrl+C";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

function theme(button) {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const show = () => button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  dark.addEventListener("change", show);
  show();
}

document.documentElement.classList.add("scripted");
theme(document.getElementById("theme"));
if (rows.length) {
  const bar = document.getElementById("picks");
  if (systems) systems.bar(bar, "Systems");
  if (cases) cases.bar(bar, "Cases");
  bar.hidden = !bar.children.length;
  suite(document.getElementById("suite-card"));
  percentiles(document.getElementById("percentiles-card"));
  histogram(document.getElementById("histogram-card"));
  overTime(document.getElementById("time-card"));
}
/** Paper cannot be clicked and is narrow: for it the observations open, and the charts are drawn anew. */
function printing() {
  let opened = [];
  const setPaper = (is) => {
    document.documentElement.classList.toggle("paper", is);
    charts.forEach((chart) => chart.render());
  };
  addEventListener("beforeprint", () => {
    setPaper(true);
    opened = [...document.querySelectorAll("details.infos:not(.long, [open])")];
    opened.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => {
    opened.forEach((details) => { details.open = false; });
    setPaper(false);
  });
}

printing();
document.querySelectorAll(".study-chart").forEach(studyChart);
document.querySelectorAll(".scroll").forEach(takingTables);
document.querySelectorAll("table.sortable").forEach(sortable);
document.querySelectorAll("button.copy").forEach(copying);
document.addEventListener("pointerdown", (event) => {
  if (event.target.closest(".picture")) return;
  document.querySelectorAll(".tooltip").forEach((tip) => { tip.hidden = true; });
});
toSection();
