// Charts of lines: percentiles, series over time, figures over a setting.
//   lines()  the visible lines: {name, color, dash, thin, x: [places], y: [values or null], weak}, and
//            beyond the place `weak` they rest on too few operations and are pale
//   side     axis and title at the left; `zero`: the axis begins at 0
//   from     of a line of stairs: the place where it begins, else 0
//   stairs   true: a value holds from the point before it to its own (series), drawn so
//   range    the places that the side spans, where several charts share them
//   dots     true: only the points are known, {at, text} in words; a line may have a `mark`
//   over     draws what else the chart has

function lineChart(host, options) {
  const content = {
    ...options,
    fitsHeight: true,
    box: (width) => {
      const height = options.height(width);
      return { left: 64, right: width - 12 - endsRoom(width, options), top: 34, bottom: height - 44, height };
    },
    paint: (chart) => paintLines(chart, options),
    probe: (chart, px, py) => probeLines(chart, options, px, py),
    stops: (chart) => lineStops(chart, options),
  };
  return new Chart(host, content);
}

/** What names at the ends of lines take of the width; nothing where they would leave too little. */
function endsRoom(width, { ends, lines }) {
  const names = ends ? lines().filter(({ thin }) => !thin).map(({ name }) => name.length) : [];
  const room = 7.5 * Math.max(...names);
  return names.length > 1 && room < width / 5 ? room : 0;
}

/** First index whose place is not before `place`. */
function firstFrom(places, place) {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Lowest and highest place that the lines reach within the view, with some air. */
function sideRange(chart, options) {
  const { side, lines, dots, range } = options;
  if (chart.yView) return chart.yView;
  if (range) return range;
  const [from, to] = chart.range();
  let [low, high] = hasBound(side) ? [side.axis.forward(side.bound), side.axis.forward(side.bound)] : [Infinity, -Infinity];
  for (const { value } of drawnLimits(options)) {
    const place = side.axis.forward(value);
    [low, high] = [Math.min(low, place), Math.max(high, place)];
  }
  for (const { x, y } of lines()) {
    // A curve of points may turn back.
    const end = dots ? x.length : Math.min(x.length, firstFrom(x, to) + 1);
    for (let k = dots ? 0 : Math.max(0, firstFrom(x, from) - 1); k < end; k += 1) {
      if (y[k] === null) continue;
      const place = side.axis.forward(y[k]);
      if (place < low) low = place;
      if (place > high) high = place;
    }
  }
  if (low > high) [low, high] = [0, 1];
  if (side.zero) return [0, high > 0 ? high * 1.08 : 1];
  const air = Math.max((high - low) * 0.06, 0.04);
  return [low - air, high + air];
}

/** The limits of the quantity at the side that lie near its figures. */
function drawnLimits({ lines, limits }) {
  const all = limits ? limits() : [];
  return all.length ? limitsNear(all, Math.max(0, ...lines().flatMap(({ y }) => y))) : [];
}

function hasBound({ bound }) {
  return bound !== undefined && bound !== null;
}

function paintLines(chart, options) {
  const [low, high] = sideRange(chart, options);
  const y = chart.paintSide(options.side.axis, low, high, options.side.title);
  const { top, bottom } = chart.box;
  chart.sidePx = (value) => y(options.side.axis.forward(value));
  chart.sidePlace = (py) => low + ((bottom - py) / (bottom - top)) * (high - low);
  if (options.shade) paintShade(chart, options.shade());
  for (const line of options.lines()) {
    const [firm, weak] = parted(line.path || line);
    const draw = (part, ...classes) => chart.plot.append(svg("path", {
      d: options.stairs ? stairPath(chart, part) : linePath(chart, part),
      class: [...classes, options.stairs && "stairs", line.thin && "thin"].filter(Boolean).join(" "),
      "stroke-dasharray": line.dash, style: { stroke: line.color },
    }));
    draw(firm, "line");
    if (weak) draw(weak, "pale");
    if (options.dots) paintDots(chart, line);
  }
  if (endsRoom(chart.width, options)) paintEnds(chart, options.lines());
  const limits = paintLimits(chart, drawnLimits(options));
  if (options.caps) options.lines().forEach((line) => paintCaps(chart, line, options.caps()));
  const { left, right } = chart.box;
  const upright = options.upright ? paintLimitsUpright(chart, options.upright(), options.x.axis.forward) : [];
  // Of many small frames one says it for all.
  if (!options.range) paintUndrawn(chart, [options.limits, options.upright].flatMap((all) => (all ? all() : [])), [...limits, ...upright]);
  if (hasBound(options.side)) {
    const py = chart.sidePx(options.side.bound);
    chart.plot.append(svg("line", { x1: left, x2: right, y1: py, y2: py, class: "bound", "data-bound": options.side.bound }));
  }
  if (options.over) options.over(chart);
}

/** The name of each line at its right end, pushed apart so that none overlap. */
function paintEnds(chart, lines) {
  if (lines.length < 2) return;
  const { right, top, bottom } = chart.box;
  const ends = lines.filter(({ y, thin }) => y.length && !thin).map(({ name, y, color }) => ({ name, color, at: chart.sidePx(y[y.length - 1]) }));
  ends.sort((a, b) => a.at - b.at);
  let free = top;
  for (const end of ends) {
    end.at = Math.max(end.at, free);
    free = end.at + 12;
  }
  let last = bottom + 6;
  for (const end of ends.reverse()) {
    end.at = Math.min(end.at, last);
    last = end.at - 12;
    chart.labels.append(svg("text", { x: right + 8, y: end.at + 4, class: "end-label", style: { fill: `color-mix(in oklab, ${end.color} 60%, var(--ink))` } }, end.name));
  }
}

/** The points, and the place of the saturation point or the knee. */
function paintDots(chart, { x, y, color, mark, thin }) {
  const { top, bottom } = chart.box;
  x.forEach((place, k) => chart.plot.append(svg("circle", {
    cx: chart.px(place), cy: chart.sidePx(y[k]), r: 3.5, class: thin ? "dot hollow" : "dot", style: { "--dye": color },
  })));
  if (mark === null || mark === undefined) return;
  const px = chart.px(mark);
  chart.plot.append(svg("line", { x1: px, x2: px, y1: top, y2: bottom, class: "quantile tail", style: { stroke: color } }));
}

/** What rests on enough operations, and what does not; both have the point between them. */
function parted({ x, y, weak, from: start }) {
  const at = weak === undefined ? x.length : firstFrom(x, weak + 1e-9);
  if (at >= x.length) return [{ x, y, from: start }, null];
  const from = Math.max(0, at - 1);
  return [{ x: x.slice(0, from + 1), y: y.slice(0, from + 1) }, { x: x.slice(from), y: y.slice(from) }];
}

function paintShade(chart, end) {
  if (!(end > 0)) return;
  const { top, bottom } = chart.box;
  const [from, to] = [chart.px(0), chart.px(end)];
  chart.plot.append(svg("rect", {
    x: from, y: top, width: Math.max(0, to - from), height: bottom - top, class: "shade",
  }));
  if (to - from > 32) chart.plot.append(svg("text", { x: to - 5, y: bottom - 6, class: "shade-text" }, "ramp"));
}

function linePath(chart, { x, y }) {
  let path = "";
  for (let k = 0; k < x.length; k += 1) {
    path += `${k ? "L" : "M"}${chart.px(x[k]).toFixed(1)} ${chart.sidePx(y[k]).toFixed(1)}`;
  }
  // A single point is a short stroke, so that it is seen.
  return x.length === 1 ? `${path}h4` : path;
}

/** Where nothing was measured, the line is broken. */
function stairPath(chart, { x, y, from = 0 }) {
  let path = "";
  for (let k = 0; k < x.length; k += 1) {
    if (y[k] === null) continue;
    const height = chart.sidePx(y[k]).toFixed(1);
    const goesOn = k > 0 && y[k - 1] !== null;
    path += `${goesOn ? "V" : `M${chart.px(k ? x[k - 1] : from).toFixed(1)} `}${height}H${chart.px(x[k]).toFixed(1)}`;
  }
  return path;
}

/** A place belongs to the first point at or after it: so quantiles are defined, and slices end. */
function probeLines(chart, options, px, py) {
  if (options.dots) return probeDots(chart, options.lines(), px, py);
  const place = options.stairs ? chart.place(px) : snapped(chart, px);
  const entries = [];
  for (const line of options.lines()) {
    const index = firstFrom(line.x, place);
    const start = line.from || 0;
    if (index >= line.x.length || line.y[index] === null || place < start) continue;
    const value = line.y[index];
    const from = index ? line.x[index - 1] : start;
    const doubt = place > line.weak + 1e-9 ? "~" : "";
    entries.push({ ...line, value: doubt + options.say(value), order: value, py: chart.sidePx(value), from, to: line.x[index] });
  }
  if (!entries.length) return null;
  const near = markNearest(entries, py);
  entries.sort((a, b) => b.order - a.order);
  const { axis, say } = options.x;
  const title = options.stairs ? `${say(near.from)} – ${say(near.to)}` : say(axis.backward(place));
  return { px: chart.px(place), title, entries: trimmed(entries), note: options.note };
}

/** The nearest point, and those of other lines at the same place. */
function probeDots(chart, lines, px, py) {
  const points = lines.flatMap((line) => line.points.map(({ at, text }, k) => ({
    ...line, at, value: text, px: chart.px(line.x[k]), py: chart.sidePx(line.y[k]),
  })));
  if (!points.length) return null;
  const far = (point) => Math.hypot(point.px - px, (point.py - py) / 4);
  const nearest = points.reduce((best, point) => (far(point) < far(best) ? point : best));
  const entries = points.filter((point) => Math.abs(point.px - nearest.px) < 0.5)
    .map((point) => ({ ...point, near: point === nearest }));
  return { px: nearest.px, title: nearest.at, entries: entries.sort((a, b) => a.py - b.py) };
}

/** A labelled percentile catches the pointer, so that p99 can be read exactly. */
function snapped(chart, px) {
  const [low, high] = chart.range();
  const ticks = chart.content.x.axis.ticks(low, high, 10);
  const near = ticks.find(({ at }) => Math.abs(chart.px(at) - px) < 5);
  return near ? near.at : chart.place(px);
}

function markNearest(entries, py) {
  let best = entries[0];
  for (const entry of entries) {
    if (Math.abs(entry.py - py) < Math.abs(best.py - py)) best = entry;
  }
  best.near = true;
  return best;
}

/** Of many lines, those around the nearest one. */
function trimmed(entries) {
  if (entries.length <= MOST_ENTRIES) return entries;
  const nearest = entries.findIndex(({ near }) => near);
  const start = Math.min(Math.max(0, nearest - MOST_ENTRIES / 2), entries.length - MOST_ENTRIES);
  return [...entries.slice(start, start + MOST_ENTRIES), ...entries.slice(0, start), ...entries.slice(start + MOST_ENTRIES)];
}

/** Labelled percentiles, or the middles of the slices. */
function lineStops(chart, options) {
  if (options.dots) return [...new Set(options.lines().flatMap(({ x }) => x.map((place) => chart.px(place))))].sort((a, b) => a - b);
  if (!options.stairs) {
    const [low, high] = chart.range();
    return options.x.axis.ticks(low, high, 10).map(({ at }) => chart.px(at));
  }
  const middles = options.lines().flatMap(({ x, from = 0 }) => x.map((end, k) => (end + (k ? x[k - 1] : from)) / 2));
  const rounded = new Set(middles.map((place) => Math.round(chart.px(place))));
  return [...rounded].sort((a, b) => a - b);
}
