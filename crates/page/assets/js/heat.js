// Heat maps: a cell for each pair of settings, stronger where its figure is larger.
//   columns  names, in order       rows()  [{label, cells: [{value, text} or null]}]
//   cell     its height, where that is not CELL       none  what a missing cell says

const CELL = 34;

function heatChart(host, options) {
  const { columns, rows, cell = CELL } = options;
  const layout = (chart) => heatLayout(chart.width, rows(), cell);
  const content = {
    ...options,
    x: { title: options.across, full: () => [0, columns.length], axis: heatAxis(columns) },
    box: (width) => {
      const { left, top, bottom } = heatLayout(width, rows(), cell);
      return { left, right: width - 2, top, bottom, height: bottom + 44 };
    },
    rowMiddles: (chart) => rows().map((row, k) => layout(chart).top + (k + 0.5) * cell),
    paint: (chart) => paintHeat(chart, rows(), cell),
    probe: (chart, px, py) => probeHeat(chart, options, px, py),
    stops: (chart) => columns.map((column, k) => chart.px(k + 0.5)),
  };
  return new Chart(host, content);
}

function heatAxis(columns) {
  const ticks = (low, high) => columns.map((label, k) => ({ at: k + 0.5, label })).filter(({ at }) => at >= low && at <= high);
  return { forward: (value) => value, backward: (place) => place, ticks };
}

function heatLayout(width, rows, cell) {
  const longest = Math.max(4, ...rows.map(({ label }) => label.length));
  const top = 8;
  return { left: Math.min(longest * 7.2 + 14, width / 3), top, bottom: top + rows.length * cell };
}

/** How strong the colour of a figure is, 0 to 1: by its logarithm where figures span much. */
function heatScale(rows) {
  const values = rows.flatMap(({ cells }) => cells).filter((cell) => cell && cell.value > 0).map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const by = high / low >= 16 ? Math.log : (value) => value;
  return (value) => (high > low && value > 0 ? (by(value) - by(low)) / (by(high) - by(low)) : 0.5);
}

function paintHeat(chart, rows, size) {
  const gap = size < CELL ? 0.5 : 2;
  const share = heatScale(rows);
  const { left, top } = chart.box;
  rows.forEach(({ label, cells }, r) => {
    const y = top + r * size;
    chart.labels.append(svg("text", { x: left - 10, y: y + size / 2 + 4, class: "row-label right" }, label));
    cells.forEach((cell, k) => {
      if (!cell) return;
      const [from, to] = [chart.px(k), chart.px(k + 1)];
      const fill = `color-mix(in oklab, var(--s1) ${Math.round(4 + 52 * share(cell.value))}%, var(--surface))`;
      chart.plot.append(svg("rect", { x: from + gap, y: y + gap, width: Math.max(1, to - from - 2 * gap), height: size - 2 * gap, rx: 2 * gap, class: ["cell", cell.at].filter(Boolean).join(" "), style: { fill } }));
      if (cell.brief && to - from > cell.brief.length * 6.6 + 4) {
        chart.plot.append(svg("text", { x: (from + to) / 2, y: y + size / 2 + 4, class: "cell-text" }, cell.brief));
      }
    });
  });
}

function probeHeat(chart, { rows, columns, across, by, about, cell: size = CELL, none = "not measured" }, px, py) {
  const all = rows();
  const row = all[Math.min(all.length - 1, Math.max(0, Math.floor((py - chart.box.top) / size)))];
  const column = Math.min(columns.length - 1, Math.max(0, Math.floor(chart.place(px))));
  const cell = row.cells[column];
  const value = cell ? cell.text : none;
  return { px: chart.px(column + 0.5), title: `${by} ${row.label}, ${across} ${columns[column]}`, entries: [{ color: "transparent", name: about(), value }] };
}
