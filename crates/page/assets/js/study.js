// Charts of a study. Their element holds all that they show: marks, places, words.

function studyChart(host) {
  const given = JSON.parse(host.querySelector("script").textContent);
  if (given.margin !== undefined) {
    host.append(el("div", { class: "key" }, el("span", { class: "key-dot" }), "rate", el("span", { class: "key-dot hollow" }), "p99", ...(given.margin > 0 ? [el("span", { class: "key-band" }), "too little to matter"] : [])));
    forestChart(host, given);
  }
  else if (given.map) givenMap(host, given);
  else if (given.figures) sweepCharts(host, given);
  else if (given.lines) studyLines(host, given);
  else studyBars(host, given);
}

/** An axis as it is given: rules at the named places, else at round figures. */
function givenAxis({ logarithmic, ticks, is_time: isTime }) {
  const say = isTime ? shortLatency : shortText;
  const axis = logarithmic ? logAxis(say) : isTime ? timeAxis : linearAxis(say);
  if (!ticks.length) return axis;
  const named = ticks.map(([value, label]) => ({ at: axis.forward(value), label }));
  return { ...axis, ticks: (low, high) => named.filter(({ at }) => at >= low - 1e-9 && at <= high + 1e-9) };
}

/** From zero, unless logarithmic; with some air at the ends. */
function givenRange(places, { logarithmic }) {
  const [least, high] = [Math.min(...places), Math.max(...places)];
  const low = logarithmic ? least : Math.min(0, least);
  const air = 0.03 * (high - low) || 1;
  return [logarithmic ? low - air : low, high + air];
}

/** Few lines, and lines of words, have a hue each. Many lines of numbers have the lightness of one hue,
 * the least the lightest, and that still in a contrast of 3 with the surface. */
function lineColor({ rank, color }) {
  if (rank === null || rank === undefined) return seriesColor(color);
  const [other, share] = rank < 0.5 ? ["var(--surface)", 0.28 * (1 - 2 * rank)] : ["var(--ink)", 0.62 * (2 * rank - 1)];
  return `color-mix(in oklab, var(--s1) ${Math.round(100 - 100 * share)}%, ${other})`;
}

/** A given line as it is drawn, and its overload, which begins at its last point. */
function drawnLines({ x, lines }) {
  const across = givenAxis(x);
  return lines.flatMap((line, key) => {
    const part = (points) => ({ points, x: points.map((point) => across.forward(point.x)), y: points.map((point) => point.y) });
    const whole = part(line.points.filter((point) => !point.past_peak));
    const past = part(line.points.filter((point) => point.past_peak));
    const base = { key, color: lineColor(line), record: line.record, name: line.is_published ? `${line.name}, published` : line.name, thin: line.is_published };
    const mark = line.mark === null ? null : across.forward(line.mark);
    const drawn = [{ ...base, ...whole, mark, dash: line.is_published && "5 4" }];
    if (past.points.length) {
      const path = part([...whole.points.slice(-1), ...past.points]);
      drawn.push({ ...base, ...past, path, mark: null, dash: "1.5 4", thin: true, name: `${base.name}, overload` });
    }
    return drawn;
  });
}

/** What the dotted lines, the bound and the ticks say, where there are any. */
function lineKeys(lines, { y, ways = WAYS }) {
  const keys = [];
  if (hasBound(y)) keys.push(el("span", { class: "key-bound" }), el("span", {}, y.is_time ? shortLatency(y.bound) : shortText(y.bound)));
  const hasCap = ({ points, record }) => points.some(({ size }) => byteCaps(size, ways, record).length);
  if (y.quantity === "iops" && lines.some(hasCap)) keys.push(el("span", { class: "key-cap" }), "a limit of bytes, as operations of that size");
  if (lines.some(({ mark }) => mark !== null)) keys.push(el("span", { class: "key-line dotted" }), "saturation point or knee");
  if (lines.some(({ path }) => path)) keys.push(el("span", { class: "key-dots" }), "overload: more requested, no more delivered");
  return keys.length ? [el("div", { class: "key" }, ...keys)] : [];
}

const WAYS = ["read", "write", "trim"];
/** Longer names are only in the legend: at the ends of lines they would be cut, or take their room. */
const LONGEST_END = 14;

function lineFrame(host, { x, y, ways = WAYS }, options) {
  const records = () => once(options.lines().map(({ record }) => record));
  const named = options.all.filter(({ path, thin }) => !path && !thin);
  const ends = named.length > 1 && named.length <= MOST_SERIES && !options.range && named.every(({ name }) => name.length <= LONGEST_END);
  const full = givenRange(options.all.flatMap((line) => line.x), x);
  return lineChart(host, {
    kind: "Lines", dots: true, ends,
    x: { axis: givenAxis(x), title: x.title, full: () => full },
    side: { axis: givenAxis(y), title: y.title, zero: !y.logarithmic, bound: y.bound },
    upright: x.quantity ? () => limitsOf(x.quantity, ways, records()) : null,
    limits: y.quantity ? () => limitsOf(y.quantity, ways, records()) : null,
    caps: y.quantity === "iops" ? () => ways : null,
    ...options,
  });
}

function studyLines(host, given) {
  const all = drawnLines(given);
  host.append(...lineKeys(all, given));
  if (given.lines.length > MOST_SERIES) {
    smallMultiples(host, given, all);
    return;
  }
  const shown = shownBy(host, all.filter(({ path }) => !path), "Lines", () => chart.render());
  const chart = lineFrame(host, given, {
    name: "study", title: host.dataset.label, all,
    lines: () => all.filter(({ key }) => shown.has(key)), height: (width) => (width < 620 ? 280 : 340),
  });
}

/** A small frame for each of many lines; all frames have the same axes. */
function smallMultiples(host, given, all) {
  const grid = el("div", { class: "grid-3" });
  host.append(grid);
  const values = all.flatMap(({ y }) => y).filter((value) => value !== null).map(givenAxis(given.y).forward);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const range = given.y.logarithmic ? [low - 0.06, high + 0.06] : [Math.min(0, low), high * 1.08 || 1];
  const [from, to] = givenRange(all.flatMap(({ x }) => x), given.x);
  const limits = limitsOf(given.x.quantity, given.ways || WAYS, once(all.map(({ record }) => record)));
  const across = givenAxis(given.x).forward;
  const beyond = undrawn(limits, limits.filter(({ value }) => across(value) >= from && across(value) <= to));
  if (beyond.length) grid.before(el("p", { class: "hint undrawn" }, `not drawn: ${beyond.map(({ label }) => label).join("; ")}`));
  for (const { name } of given.lines) {
    const lines = all.filter((line) => line.name === name || line.name === `${name}, overload` || line.name === `${name}, published`);
    const own = lines.map((line) => ({ ...line, color: "var(--s1)" }));
    const cell = el("div", { class: "multiple" }, el("p", {}, name));
    grid.append(cell);
    lineFrame(cell, given, {
      name: "study", title: `${host.dataset.label}: ${name}`, all, range, lines: () => own, height: () => (isPaper() ? 150 : 190),
    });
  }
}

/** One sweep: every figure over the first axis, and a heat map where the second is of numbers too. */
function sweepCharts(host, { title, direction, record, across, by, figures, is_map: isMap }) {
  const lines = figures[0].chart.lines.map((line, key) => ({ key, name: line.name, color: lineColor(line) }));
  head(host, title, ...(by ? [el("span", { class: "key" }, `a line for each ${by}`)] : []));
  const grid = el("div", { class: "grid-2" });
  const drawn = [];
  const operations = figures.find(({ name }) => name === "IOPS");
  if (operations) host.append(...lineKeys(drawnLines(operations.chart), operations.chart));
  const shown = shownBy(host, lines, "Lines", () => drawn.forEach((chart) => chart.render()));
  host.append(grid);
  for (const { name, chart } of figures) {
    const all = drawnLines(chart);
    if (!all.some(({ x }) => x.length)) continue;
    const frame = el("div", {});
    grid.append(frame);
    drawn.push(lineFrame(frame, chart, {
      name: `sweep-${name}`, view: `sweep-${title}`, title: `${title}: ${name}`, all,
      lines: () => all.filter(({ key }) => shown.has(key)), height: () => 250,
    }));
  }
  drawn.forEach((chart) => { chart.peers = drawn; });
  if (isMap) sweepMap(host, { title, direction, record, across, by, figures });
}

function sweepMap(host, { title, direction, record, across, by, figures }) {
  const { chart: { x } } = figures[0];
  let shown = figures[0];
  const frame = el("div", { class: "map" });
  const cellOf = (line, [place]) => {
    const point = line.points.find((one) => one.x === place);
    const brief = point && (shown.chart.y.is_time ? shortLatency(Number(point.y.toPrecision(3))) : shortText(Number(point.y.toPrecision(3))));
    return point ? { value: point.y, text: point.text, brief } : null;
  };
  // The border says which limit holds a cell, whatever quantity is shown.
  const [iops, mbps] = ["IOPS", "MB/s"].map((name) => figures.find((figure) => figure.name === name).chart.lines);
  const figureAt = (lines, k, place) => (lines[k].points.find((one) => one.x === place) || { y: 0 }).y;
  const bordered = (cell, k, [place]) => cell && { ...cell, at: atLimit(figureAt(iops, k, place), figureAt(mbps, k, place), [direction], record) };
  const rows = () => shown.chart.lines.map((line, k) => ({ label: line.name, cells: x.ticks.map((tick) => bordered(cellOf(line, tick), k, tick)) }));
  const all = rows().flatMap(({ cells }) => cells);
  const key = (at, text) => (all.some((cell) => cell?.at === at) ? [el("span", { class: `key-cell ${at}` }), text] : []);
  head(frame, "Heat map", el("span", { class: "key" }, "stronger colour: larger figure", ...key("at-iops", "at an IOPS limit"), ...key("at-bytes", "at a byte limit")), choice("Quantity", figures.map(({ name }) => name), (index) => {
    shown = figures[index];
    chart.render();
  }));
  host.append(frame);
  const chart = heatChart(frame, {
    name: "heat", kind: "Heat map", title, how: "Arrows choose a cell.", about: () => shown.name, across, by,
    hint: `A row for each ${by}; stronger colour: larger figure.`, columns: x.ticks.map(([, label]) => label), rows,
  });
}

/** A map of counts, as it is given. */
function givenMap(host, { map, by, columns, rows: given }) {
  const rows = given.map(({ label, cells }) => ({ label, cells: cells.map((value) => (value > 0 ? { value, text: countText(value), brief: "" } : null)) }));
  heatChart(host, {
    name: `map-${map.toLowerCase()}`, kind: "Heat map", title: host.dataset.label, how: "Arrows choose a cell.", about: () => "operations", across: "from", by,
    hint: "Stronger colour: more operations.", none: "0", cell: 18, columns, rows: () => rows,
  });
}

function studyBars(host, { unit, quantity, ways = WAYS, rows: given }) {
  const names = [...new Map(given.flatMap(({ bars }) => bars).map((bar) => [bar.name, bar])).values()];
  const entries = names.map(({ name, color }) => ({ key: name, name, color: names.length > MOST_SERIES ? null : seriesColor(color) }));
  const items = (bars) => bars.map((bar) => ({ name: bar.name, record: bar.record, color: shown.color(bar.name), row: bar }));
  const visible = () => given.map(({ label, bars }) => ({ label, items: items(bars.filter(({ name }) => shown.has(name))) }))
    .filter((row) => row.items.length);
  const bars = () => visible().flatMap((row) => row.items);
  const most = () => Math.max(1e-9, ...bars().map(({ row }) => Math.max(row.value, row.high, row.published)));
  const allLimits = () => limitsOf(quantity, ways, once(bars().map(({ record }) => record)));
  const limits = () => limitsNear(allLimits(), most());
  const hasPublished = given.some((row) => row.bars.some(({ published }) => published !== null));
  if (hasPublished) host.append(el("div", { class: "key" }, el("span", { class: "key-line" }), "published"));
  const shown = shownBy(host, entries, "Bars", () => chart.render());
  const chart = barChart(host, {
    name: "study", kind: "Bars", title: host.dataset.label, how: "Up and down choose a row.", hint: BAR_HINT,
    x: { axis: linearAxis(shortText), title: unit, full: () => [0, Math.max(most(), ...limits().map(({ value }) => value)) * 1.02] },
    limits, allLimits, ways, caps: () => quantity === "iops",
    rows: visible, figure: (bar) => bar, unit: () => unit,
  });
}
