// A forest plot: how many times faster each load is, with the interval, around a line at 1.
//   rows  {label, name, verdict, ratio, low, high, times, details: [[name, text]], tail}: `tail` is the
//         same of the p99, a hollow dot below the filled one
//   margin  differences up to this, in per cent, do not matter

const FOREST_ROW = 22;

function forestChart(host, { title, rows, margin, sides: [left, right] }) {
  const axis = logAxis((value) => `${Number(value.toPrecision(4))}×`);
  const full = forestRange(rows, margin);
  const content = rowContent({
    name: "forest", kind: "Forest plot", title, how: "Up and down choose a load.",
    hint: "Filled: rate; hollow: p99; lines: 95 % interval; shaded: differences too small to matter.",
    x: { axis, title: right, full: () => full },
    rows: () => rows.map((row) => ({ label: row.label, items: [row] })), margin: (width) => (width < 620 ? 4 : 200),
  }, (width, all, zoomed) => rowLayout(width, all, () => FOREST_ROW, zoomed));
  content.paint = (chart) => paintForest(chart, content, { rows, margin, left });
  content.probe = (chart, px, py) => {
    const row = rows[rowAt(content.layout(chart), py)];
    const entries = row.details.map(([name, value]) => ({ color: "transparent", name, value }));
    const heads = dotsOf(row).map((dot) => ({ color: verdictColor(dot), name: `${dot.name}: ${dot.verdict}`, value: dot.times }));
    return { px: chart.px(Math.log10(row.ratio)), title: row.label, entries: [...heads, ...entries] };
  };
  content.stops = (chart, here) => [chart.px(Math.log10(rows[rowAt(content.layout(chart), here.py)].ratio))];
  return new Chart(host, content);
}

/** All ratios, the line, and of the intervals what lies within three times the farthest ratio. */
function forestRange(rows, margin) {
  const dots = rows.flatMap(dotsOf);
  const far = Math.max(Math.log10(1 + margin / 50), 0.02, ...dots.map(({ ratio }) => Math.abs(Math.log10(ratio))));
  const ends = dots.flatMap(({ low, high }) => [low, high]).filter((end) => end > 0).map((end) => Math.log10(end));
  const bound = far + Math.log10(3);
  const within = ends.map((end) => Math.min(bound, Math.max(-bound, end)));
  return [Math.min(-far, ...within) * 1.06, Math.max(far, ...within) * 1.06];
}

function dotsOf(row) {
  return row.tail ? [row, row.tail] : [row];
}

function verdictColor({ verdict }) {
  if (verdict === "faster") return "var(--good)";
  return verdict === "slower" ? "var(--bad)" : "var(--muted)";
}

function paintForest(chart, content, { rows, margin, left }) {
  const layout = content.layout(chart);
  const { top, bottom } = chart.box;
  if (margin > 0) {
    const [from, to] = [-1, 1].map((sign) => chart.px(sign * Math.log10(1 + margin / 100)));
    chart.plot.append(svg("rect", { x: from, y: top, width: to - from, height: bottom - top, class: "margin" }));
  }
  const one = chart.px(0);
  chart.plot.append(svg("line", { x1: one, x2: one, y1: top, y2: bottom, class: "one" }));
  chart.labels.append(svg("text", { x: chart.box.left, y: bottom + 36, class: "title" }, left));
  rows.forEach((row, index) => {
    const place = layout.places[index];
    const y = place.top + place.height / 2;
    paintRowLabel(chart, layout, place, row.label);
    dotsOf(row).forEach((dot, k, all) => paintRatio(chart, dot, all.length > 1 ? y + (k ? 5.5 : -5.5) : y, k > 0));
    // Beside a long name, only the ratio has room.
    const text = `${row.times} ${row.verdict}`;
    const fits = (row.label.length + text.length) * 7 < chart.width;
    if (layout.stacked) chart.labels.append(svg("text", { x: chart.width, y: place.top - 6, class: "aside end" }, fits ? text : row.times));
    else chart.labels.append(svg("text", { x: chart.box.right + 12, y: y + 4, class: "aside" }, text));
  });
}

/** A dot with its whisker; that of the tail is hollow. */
function paintRatio(chart, dot, y, isTail) {
  const color = verdictColor(dot);
  if (dot.low !== null && dot.high !== null) {
    const [from, to] = [dot.low, dot.high].map((end) => chart.px(Math.log10(Math.max(end, 1e-9))));
    chart.plot.append(svg("path", { d: `M${from} ${y}H${to}M${from} ${y - 3}v6M${to} ${y - 3}v6`, class: "whisker", style: { stroke: color } }));
  }
  const style = isTail ? { fill: "var(--surface)", stroke: color } : { fill: color };
  chart.plot.append(svg("circle", { cx: chart.px(Math.log10(dot.ratio)), cy: y, r: 4, class: isTail ? "ratio tail" : "ratio", style }));
}
