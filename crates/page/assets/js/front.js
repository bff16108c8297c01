// The front of an advice: what a month costs against the 99th percentile of an operation that waits
// for nothing. A step from one point to the next: between them nothing is both cheaper and quicker.

const data = JSON.parse(document.getElementById("data").textContent);
const directions = [];

function seriesColor(index) {
  return `var(--s${(index % 8) + 1})`;
}

const isWide = (values) => Math.max(...values) / Math.min(...values) >= 16;

function frontLine(points, line) {
  const [x, y] = [points.map(({ per_month: month }) => month), points.map(({ p99_ns: p99 }) => p99)];
  return { ...line, x, y, points: points.map(({ address, text }) => ({ at: address, text })), mark: null };
}

/** A line that falls at each point to its figure. */
function steps({ x, y }) {
  const corners = x.flatMap((place, k) => (k ? [[place, y[k - 1]], [place, y[k]]] : [[place, y[k]]]));
  return { x: corners.map(([place]) => place), y: corners.map(([, value]) => value) };
}

function frontChart(host) {
  const { front, beside, need_p99_ns: needed, currency } = data;
  const line = frontLine(front, { key: "front", name: "nothing is cheaper and quicker", color: seriesColor(0) });
  const others = frontLine(beside, { key: "others", name: "under other terms, or next in price", color: "var(--muted)", thin: true });
  const lines = [{ ...line, path: steps(line) }, { ...others, path: { x: [], y: [] } }];
  const all = [...front, ...beside];
  const months = all.map(({ per_month: month }) => month);
  const air = (Math.max(...months) - Math.min(...months)) * 0.06 || Math.max(...months) * 0.1;
  const full = () => [Math.max(0, Math.min(...months) - air), Math.max(...months) + air];
  const heights = all.map(({ p99_ns: p99 }) => p99).concat(needed || []);
  const isLogarithmic = isWide(heights);
  lineChart(host, {
    name: "front", kind: "Chart of points", title: host.dataset.label, how: "Arrows read values.", dots: true,
    lines: () => lines, height: (width) => (width < 620 ? 300 : 340),
    x: { axis: linearAxis(shortText), title: `${currency} a month`, full },
    side: { axis: isLogarithmic ? logAxis(shortLatency) : timeAxis, title: "p99", zero: !isLogarithmic, bound: needed },
    over: (chart) => {
      paintAdvised(chart, all);
      paintTypes(chart, all);
    },
  });
}

/** A ring around what is advised. */
function paintAdvised(chart, points) {
  for (const { per_month: month, p99_ns: p99 } of points.filter((point) => point.is_advised)) {
    chart.plot.append(svg("circle", { cx: chart.px(month), cy: chart.sidePx(p99), r: 8, class: "advised" }));
  }
}

/** Each type beside one of its points, where it lies on no other: what is advised first. */
function paintTypes(chart, points) {
  const taken = points.map(({ per_month: month, p99_ns: p99 }) => {
    const [x, y] = [chart.px(month), chart.sidePx(p99)];
    return { left: x - 5, right: x + 5, top: y - 5, bottom: y + 5 };
  });
  const { left, right, top } = chart.box;
  const named = new Set();
  for (const point of [...points].sort((a, b) => Number(b.is_advised) - Number(a.is_advised))) {
    const [x, y] = [chart.px(point.per_month), chart.sidePx(point.p99_ns)];
    if (x < left || x > right || named.has(point.volume_type)) continue;
    const width = point.volume_type.length * 7 + 4;
    const places = [[x + 11, y - 7], [x + 11, y + 15], [x - 11 - width, y - 7], [x - 11 - width, y + 15]];
    const box = ([from, base]) => ({ left: from, right: from + width, top: base - 11, bottom: base + 3 });
    const isFree = (one) => one.left >= left && one.right <= right && one.top >= top - 8
      && taken.every((other) => one.right < other.left || one.left > other.right || one.bottom < other.top || one.top > other.bottom);
    const place = places.find((at) => isFree(box(at)));
    if (!place) continue;
    taken.push(box(place));
    named.add(point.volume_type);
    chart.labels.append(svg("text", { x: place[0], y: place[1], class: "point-label" }, point.volume_type));
  }
}

document.documentElement.classList.add("scripted");
document.querySelectorAll(".front-chart").forEach(frontChart);
