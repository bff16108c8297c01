// Charts of a study. Their element holds all that they show: marks, places, words.

function studyChart(host) {
  const given = JSON.parse(host.dataset.chartData);
  if (given.lines) studyLines(host, given);
  else studyBars(host, given);
}

/** An axis as it is given: rules at the named places, else at round figures. */
function givenAxis({ logarithmic, ticks }) {
  const axis = logarithmic ? logAxis(shortText) : linearAxis(shortText);
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

function studyLines(host, { x, y, lines }) {
  const [across, up] = [givenAxis(x), givenAxis(y)];
  const hidden = new Set();
  const all = lines.map((line, key) => ({
    key, points: line.points, color: seriesColor(line.color), dash: line.is_published && "5 4",
    thin: line.is_published, name: line.is_published ? `${line.name}, published` : line.name,
    x: line.points.map((point) => across.forward(point.x)), y: line.points.map((point) => point.y),
    mark: line.mark === null ? null : across.forward(line.mark),
  }));
  const full = givenRange(all.flatMap((line) => line.x), x);
  if (all.some(({ mark }) => mark !== null)) {
    host.append(el("div", { class: "key" }, el("span", { class: "key-line dotted" }), "saturation point or knee"));
  }
  legend(host, all, hidden, () => chart.render());
  const chart = lineChart(host, {
    name: "study", label: `Lines: ${host.dataset.label}.`, dots: true,
    x: { axis: across, title: x.title, full: () => full },
    side: { axis: up, title: y.title, zero: !y.logarithmic, bound: y.bound },
    lines: () => all.filter(({ key }) => !hidden.has(key)), height: (width) => (width < 620 ? 280 : 340),
  });
}

function studyBars(host, { unit, rows: given }) {
  const hidden = new Set();
  const items = (bars) => bars.map((bar) => ({ name: bar.name, color: seriesColor(bar.color), row: bar }));
  const columns = [...new Map(given.flatMap(({ bars }) => items(bars)).map((item) => [item.name, { ...item, key: item.name }])).values()];
  const shown = () => given.map(({ label, bars }) => ({ label, items: items(bars.filter(({ name }) => !hidden.has(name))) }))
    .filter((row) => row.items.length);
  const most = () => Math.max(1e-9, ...shown().flatMap((row) => row.items).map(({ row }) => Math.max(row.value, row.high, row.published)));
  legend(host, columns, hidden, () => chart.render());
  const chart = barChart(host, {
    name: "study", label: `Bars: ${host.dataset.label}. Up and down choose a row.`,
    x: { axis: linearAxis(shortText), title: unit, full: () => [0, most() * 1.02] },
    rows: shown, figure: (bar) => bar, unit: () => unit,
  });
}
