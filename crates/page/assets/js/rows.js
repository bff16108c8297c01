// Charts with a row a case: bars of the suite, and histograms of the latency.
//   rows()  [{label, items: [{name, color, hatched, row}]}], one item a record

/** On a narrow screen the label is above its row, else at the left. A zoomed chart leaves room
 * for the button that returns. */
function rowLayout(width, rows, thickness, zoomed, above, lines = 1) {
  const stacked = width < 620;
  const longest = Math.max(8, ...rows.map(({ label }) => label.length));
  const left = stacked ? 2 : Math.min(width / 3, longest * 7.2 + 18);
  let top = (zoomed ? 40 : 12) + (above || 0);
  const places = rows.map(({ items }) => {
    const head = stacked ? 18 * lines : 0;
    const place = { top: top + head, height: thickness(items.length) };
    top += head + place.height + (stacked ? 12 : isPaper() ? 5 : 14);
    return place;
  });
  return { stacked, left, places, bottom: top };
}

function rowContent(options, layoutOf) {
  const layout = (chart) => layoutOf(chart.width, options.rows(), Boolean(chart.view));
  return {
    ...options,
    box: (width, zoomed) => {
      const { left, bottom } = layoutOf(width, options.rows(), zoomed);
      const right = width - options.margin(width);
      return { left, right, top: zoomed ? 34 : 8, bottom, height: bottom + 44 };
    },
    rowMiddles: (chart) => layout(chart).places.map(({ top, height }) => top + height / 2),
    layout,
  };
}

function paintRowLabel(chart, layout, place, text, lines = 1) {
  const { stacked, left } = layout;
  const at = stacked
    ? { x: 0, y: place.top - 6 - 17 * (lines - 1), class: "row-label" }
    : { x: left - 12, y: place.top + place.height / 2 + 4, class: "row-label right" };
  chart.labels.append(svg("text", at, shortened(text, stacked ? chart.width : left - 12)));
}

/** What of a text fits: its ends, where cases differ most. */
function shortened(text, width) {
  const most = Math.max(8, Math.floor(width / 6.9));
  if (text.length <= most) return text;
  return `${text.slice(0, most / 2)}…${text.slice(1 - most / 2)}`;
}

/** Index of the row under a height; rows reach to the middle between them. */
function rowAt({ places }, py) {
  const found = places.findIndex(({ top, height }) => py < top + height + 7);
  return found < 0 ? places.length - 1 : found;
}

// ---- bars

const BAR_HINT = "Whiskers: 95 % interval; dots: passes; upright lines: published.";
const BAR = 20;
const PAPER_BAR = 12;
const THIN_BAR = 13;

function barChart(host, options) {
  const thickness = (items) => (items === 1 ? barHeight() : items * THIN_BAR + (items - 1) * 3);
  const texts = () => options.rows().flatMap(({ items }) => items.map(({ row }) => `${figureText(options.figure(row))} ${options.unit()}`));
  const room = () => 7.5 * Math.max(...texts().map(({ length }) => length), 8) + 16;
  const margin = (width) => Math.min(room(), width / 2);
  // A unit that does not fit beside all bars is only below the axis.
  const besideBars = (width) => (room() <= width / 2 ? options.unit() : "");
  const content = rowContent({ ...options, margin, besideBars }, (width, rows, zoomed) => rowLayout(width, rows, thickness, zoomed, options.limits ? 13 * options.limits().length : 0));
  content.paint = (chart) => paintBars(chart, content);
  content.probe = (chart, px, py) => probeBars(chart, content, py);
  content.stops = (chart, here) => barStops(chart, content, here);
  return new Chart(host, content);
}

/** Of paper forty bars fill a sheet. */
function barHeight() {
  return isPaper() ? PAPER_BAR : BAR;
}

function barTop(place, index, items) {
  return items === 1 ? place.top : place.top + index * (THIN_BAR + 3);
}

function paintBars(chart, content) {
  const layout = content.layout(chart);
  if (content.limits) paintUndrawn(chart, content.allLimits(), paintLimitsUpright(chart, content.limits(), content.x.axis.forward));
  content.rows().forEach(({ label, items }, index) => {
    const place = layout.places[index];
    paintRowLabel(chart, layout, place, label);
    items.forEach((item, k) => {
      const box = { top: barTop(place, k, items.length), height: items.length === 1 ? barHeight() : THIN_BAR };
      paintBar(chart, item, content.figure(item.row), box, content.besideBars(chart.width));
      if (content.caps()) paintBarCaps(chart, item, box, content.ways);
    });
  });
}

/** Where a limit of bytes holds back operations of this size. */
function paintBarCaps(chart, { color, record, row }, { top, height }, ways) {
  const size = row.mbps ? (row.mbps.value * 1e6) / row.iops.value : row.size;
  for (const { cap, value } of byteCaps(size, ways || [row.direction], record)) {
    const x = chart.px(cap);
    if (x <= chart.box.right) chart.plot.append(svg("line", { x1: x, x2: x, y1: top - 3, y2: top + height + 3, class: "cap", "data-limit": value, style: { stroke: color } }));
  }
}

function paintBar(chart, item, figure, { top, height }, unit) {
  const zero = chart.px(0);
  const end = chart.px(figure.value);
  const middle = top + height / 2;
  chart.plot.append(svg("rect", {
    x: zero, y: top, width: figure.value === null ? 0 : Math.max(1, end - zero), height, rx: 3, class: "bar",
    style: { fill: item.hatched ? hatch(chart, item.color) : item.color },
  }));
  const reach = Math.max(paintSpread(chart, figure, middle, height), paintPublished(chart, figure, top, height));
  const x = Math.min(Math.max(end, reach), chart.box.right) + 8;
  if (Math.max(end, reach) < chart.box.left) return;
  chart.labels.append(svg("text", { x, y: middle + 4, class: "value" },
    figureText(figure), ...(unit ? [svg("tspan", { class: "value-unit", dx: 4 }, unit)] : [])));
}

/** In the words that came with it, where there are any. */
function figureText({ value, text }) {
  return text || rateText(value);
}

/** A tick at what was published; returns how far it reaches. */
function paintPublished(chart, { published }, top, height) {
  if (published === undefined || published === null) return -Infinity;
  const x = chart.px(published);
  chart.plot.append(svg("line", { x1: x, x2: x, y1: top - 1, y2: top + height + 1, class: "published" }));
  return x;
}

/** Whisker and dots; returns how far they reach. */
function paintSpread(chart, { low, high, each = [] }, middle, height) {
  let reach = -Infinity;
  if (low !== null && high !== null) {
    const [from, to] = [chart.px(Math.max(0, low)), chart.px(high)];
    const cap = height * 0.3;
    const path = `M${from} ${middle}H${to}M${from} ${middle - cap}v${2 * cap}M${to} ${middle - cap}v${2 * cap}`;
    chart.plot.append(svg("path", { d: path, class: "whisker-halo" }), svg("path", { d: path, class: "whisker" }));
    reach = to;
  }
  (each.length > 1 ? each : []).forEach((value, k) => {
    const jitter = (k / (each.length - 1) - 0.5) * height * 0.5;
    chart.plot.append(svg("circle", { cx: chart.px(value), cy: middle + jitter, r: 2.6, class: "pass-dot" }));
    reach = Math.max(reach, chart.px(value));
  });
  return reach;
}

/** A hatched fill for the second direction, so that it needs no colour of its own. */
function hatch(chart, color) {
  const id = `${chart.id}-hatch-${color.replace(/[^a-z0-9]/gi, "")}`;
  if (!chart.picture.querySelector(`#${id}`)) {
    chart.picture.querySelector("defs").append(svg("pattern", {
      id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)",
    },
    svg("rect", { width: 6, height: 6, style: { fill: color, "fill-opacity": 0.38 } }),
    svg("rect", { width: 3, height: 6, style: { fill: color } })));
  }
  return `url(#${id})`;
}

function probeBars(chart, content, py) {
  const rows = content.rows();
  if (!rows.length) return null;
  const layout = content.layout(chart);
  const index = rowAt(layout, py);
  const { label, items } = rows[index];
  const place = layout.places[index];
  const unit = content.unit();
  const entries = items.flatMap((item, k) => {
    const figure = content.figure(item.row);
    const middle = barTop(place, k, items.length) + (items.length === 1 ? barHeight() : THIN_BAR) / 2;
    const head = {
      color: item.color, name: item.name || `${data.records[item.record].aggregate}`, value: `${figureText(figure)} ${unit}`,
      py: middle, mark: chart.px(figure.value), near: true,
    };
    return [head, ...barDetails(figure, unit)];
  });
  const first = content.figure(items[0].row);
  return { px: chart.px(first.value), title: label, entries, note: items[0].row.what };
}

function barDetails({ low, high, each, cv, details: given }, unit) {
  const details = [];
  const line = (name, value) => details.push({ color: "transparent", name, value });
  if (given) {
    given.forEach(([name, value]) => line(name, value));
    return details;
  }
  if (low !== null && high !== null) line("95 % interval", `${rateText(low)} – ${rateText(high)} ${unit}`);
  if (each.length > 1) {
    line("passes", each.map(rateText).join(" · "));
    line("deviation", percentText(cv));
  }
  return details;
}

function barStops(chart, content, here) {
  const rows = content.rows();
  const index = rowAt(content.layout(chart), here.py);
  return rows[index].items.map(({ row }) => chart.px(content.figure(row).value)).sort((a, b) => a - b);
}

// ---- histograms

const RIDGE = 44;

/** Beside a long name the percentiles have no room: they have a line of their own. */
function ridgeLines(rows) {
  return rows.some(({ label, items }) => items.length === 1 && label.length > 18) ? 2 : 1;
}

function ridgeChart(host, options) {
  const content = rowContent({ ...options, margin: (width) => (several || width < 620 ? 4 : 130) },
    (width, rows, zoomed) => rowLayout(width, rows, () => RIDGE, zoomed, 0, ridgeLines(rows)));
  content.paint = (chart) => paintRidges(chart, content);
  content.probe = (chart, px, py) => probeRidges(chart, content, px, py);
  content.stops = (chart, here) => ridgeStops(chart, content, here);
  return new Chart(host, content);
}

/** Parts of a doubling of latency that one column shows: finer when zoomed in. */
function columnsPerDoubling(chart) {
  const doubling = chart.px(Math.log10(2)) - chart.px(0);
  return [32, 16, 8, 4, 2].find((parts) => doubling / parts >= 4) || 1;
}

/** Shares of the operations by column; a bin that spans columns is divided over them. */
function columnShares(row, parts) {
  const shares = new Map();
  for (let k = 0; k < row.bins.length; k += 3) {
    const from = Math.log2(Math.max(0.5, row.bins[k])) * parts;
    const to = Math.log2(row.bins[k + 1] + 1) * parts;
    const share = row.bins[k + 2] / row.ios;
    for (let column = Math.floor(from); column < to; column += 1) {
      const overlap = Math.min(to, column + 1) - Math.max(from, column);
      if (overlap > 0) shares.set(column, (shares.get(column) || 0) + (share * overlap) / (to - from));
    }
  }
  return shares;
}

function columnPlace(column, parts) {
  return (column / parts) * Math.log10(2);
}

function paintRidges(chart, content) {
  const layout = content.layout(chart);
  const parts = columnsPerDoubling(chart);
  content.rows().forEach(({ label, items }, index) => {
    const place = layout.places[index];
    const base = place.top + place.height;
    paintRowLabel(chart, layout, place, label, ridgeLines(content.rows()));
    chart.grid.append(svg("line", { x1: chart.box.left, x2: chart.box.right, y1: base, y2: base, class: "rule" }));
    const shares = items.map(({ row }) => columnShares(row, parts));
    const responses = items.map(({ row }) => (row.response ? columnShares(row.response, parts) : new Map()));
    const most = Math.max(...[...shares, ...responses].map((columns) => visibleMost(chart, columns, parts)));
    const shape = { base, most, parts, height: place.height };
    items.forEach((item, k) => paintRidge(chart, item, shares[k], shape));
    items.forEach((item, k) => paintOutline(chart, item, responses[k], shape));
    paintRidgeText(chart, layout, place, items);
  });
}

function visibleMost(chart, columns, parts) {
  const [low, high] = chart.range();
  let most = 0;
  for (const [column, share] of columns) {
    const place = columnPlace(column, parts);
    if (place >= low - 0.1 && place <= high && share > most) most = share;
  }
  return most;
}

function ridgePath(chart, columns, { base, most, parts, height }) {
  let path = "";
  let last = null;
  for (const column of [...columns.keys()].sort((a, b) => a - b)) {
    const [from, to] = [chart.px(columnPlace(column, parts)), chart.px(columnPlace(column + 1, parts))];
    const y = base - (columns.get(column) / most) * (height - 2);
    if (last !== column) path += `${last === null ? "" : `V${base}`}M${from.toFixed(1)} ${base}`;
    path += `V${y.toFixed(1)}H${to.toFixed(1)}`;
    last = column + 1;
  }
  return `${path}V${base}`;
}

function paintRidge(chart, { color, row }, columns, shape) {
  if (!(shape.most > 0)) return;
  const { base, height } = shape;
  chart.plot.append(svg("path", { d: ridgePath(chart, columns, shape), class: "ridge", style: { fill: color, stroke: color } }));
  for (const [ns, kind] of [[row.p50, "median"], [row.p99, "tail"]]) {
    const x = chart.px(Math.log10(ns));
    chart.plot.append(svg("line", { x1: x, x2: x, y1: base - height, y2: base + 3, class: `quantile ${kind}`, style: { stroke: color } }));
  }
}

/** The response latency, where there is one: a broken line above the filled service latency. */
function paintOutline(chart, { color }, columns, shape) {
  if (!columns.size || !(shape.most > 0)) return;
  chart.plot.append(svg("path", { d: ridgePath(chart, columns, shape), class: "outline", style: { stroke: color } }));
}

function paintRidgeText(chart, layout, place, items) {
  // A page of several runs keeps no margin for it, also where a row is of one run alone.
  if (items.length !== 1 || (several && !layout.stacked)) return;
  const { p50, p99, ios } = items[0].row;
  const texts = [`p50 ${quantileText(p50, 0.5, ios)}`, `p99 ${quantileText(p99, 0.99, ios)}`];
  if (layout.stacked) {
    chart.labels.append(svg("text", { x: chart.width, y: place.top - 6, class: "aside end" }, texts.join(" · ")));
    return;
  }
  texts.forEach((text, k) => chart.labels.append(
    svg("text", { x: chart.box.right + 14, y: place.top + place.height / 2 - 3 + k * 17, class: "aside" }, text)));
}

function probeRidges(chart, content, px, py) {
  const rows = content.rows();
  if (!rows.length) return null;
  const parts = columnsPerDoubling(chart);
  const column = Math.floor((chart.place(px) / Math.log10(2)) * parts);
  const [from, to] = [column, column + 1].map((edge) => latencyText(2 ** (edge / parts)));
  const { label, items } = rows[rowAt(content.layout(chart), py)];
  const entries = items.flatMap(({ color, name, row }) => [
    { color, name: name || "share of the operations", value: percentText(100 * (columnShares(row, parts).get(column) || 0)), near: true },
    { color: "transparent", name: "slower than this", value: percentText(100 * shareAbove(row, column + 1, parts)) },
  ]);
  return { px, title: `${label}: ${from} – ${to}`, entries };
}

function shareAbove(row, column, parts) {
  let above = 0;
  for (const [at, share] of columnShares(row, parts)) if (at >= column) above += share;
  return above;
}

function ridgeStops(chart, content, here) {
  const { items } = content.rows()[rowAt(content.layout(chart), here.py)];
  const parts = columnsPerDoubling(chart);
  const columns = new Set(items.flatMap(({ row }) => [...columnShares(row, parts).keys()]));
  return [...columns].sort((a, b) => a - b).map((column) => chart.px(columnPlace(column + 0.5, parts)));
}
