// Limits: thin broken lines where a device is held back, dotted where a burst ends. A limit of bytes
// is a tick for each series on a chart of operations: there it depends on their size.
//   data.limits  [{label, value, is_bytes, is_burst, only, whose, of}], `value` in IOPS or MB/s, `of`:
//                the records that it holds for, where it does not hold for all, and `whose` their names

/** Nearer than this to a limit, as a share of it, is at the limit. */
const AT_LIMIT = 0.03;

/** More lines than this are a grid, and their names lie on one another. */
const MOST_LIMITS = 4;

const MIB_PER_MB = 1e6 / 1048576;

/** Those of a quantity, "iops", "mbps" or "mibps", that count one of these directions and hold for one
 * of these records. */
function limitsOf(quantity, ways, records) {
  if (!["iops", "mbps", "mibps"].includes(quantity)) return [];
  const isBytes = quantity !== "iops";
  const scale = quantity === "mibps" ? MIB_PER_MB : 1;
  const holds = ({ of }) => !of || !records || records.some((record) => of.includes(record));
  return data.limits.filter((limit) => limit.is_bytes === isBytes && (!limit.only || ways.includes(limit.only)) && holds(limit))
    .map((limit) => ({ ...limit, value: limit.value * scale, label: limit.whose && !(records && records.length === 1) ? `${limit.whose}: ${limit.label}` : limit.label }));
}

/** Each once. */
function once(all) {
  return [...new Set(all)];
}

/** Limits at one value are one line: the first names it, and says how many there are. */
function merged(limits) {
  const places = new Map();
  for (const limit of limits) {
    const place = `${limit.value} ${limit.is_burst}`;
    places.set(place, [...(places.get(place) || []), limit]);
  }
  return [...places.values()].map(([first, ...others]) => ({ ...first, name: first.label, count: 1 + others.length, label: others.length ? `${first.label}, and ${others.length} more` : first.label }));
}

/** What is drawn beside figures up to `most`: what lies near them, and the least one beyond. Others
 * would press the figures together. */
function limitsNear(limits, most) {
  const all = merged(limits);
  const beyond = all.filter(({ value }) => value > most).map(({ value }) => value);
  const next = Math.min(...beyond);
  const near = all.filter(({ value }) => value <= most * 1.25 || (value === next && value <= most * 2.5));
  return near.sort((a, b) => Math.abs(a.value - most) - Math.abs(b.value - most)).slice(0, MOST_LIMITS);
}

/** The limits of bytes, as rates of operations of this size. */
function byteCaps(size, ways, record) {
  if (!(size > 0)) return [];
  return limitsOf("mbps", ways, [record]).filter((limit) => !limit.is_burst).map((limit) => ({ ...limit, cap: (limit.value * 1e6) / size }));
}

/** What of a label fits: its name is cut, its figure never. */
function limitText(label, width) {
  const [figure] = label.match(/ [\d.,]+( [^\d ]+)?(, and \d+ more)?$/) || [""];
  return shortened(label.slice(0, label.length - figure.length), width - 6.5 * figure.length) + figure;
}

/** The limits that have no line, the least first. */
function undrawn(limits, drawn) {
  return merged(limits).filter(({ value }) => !drawn.some((limit) => limit.value === value)).sort((a, b) => a.value - b.value);
}

/** In words below the chart: the limits that it has no line for. */
function paintUndrawn(chart, limits, drawn) {
  const left = undrawn(limits, drawn);
  if (!left.length) return;
  const all = left.reduce((sum, { count }) => sum + count, 0);
  const more = all > 1 ? ` and ${all - 1} more` : "";
  const room = chart.box.right - 6.5 * chart.content.x.title.length - 16;
  const long = `not drawn: ${limitText(left[0].name, room - 6.5 * (11 + more.length))}${more}`;
  const brief = all > 1 ? `${all} limits not drawn` : "a limit is not drawn";
  chart.labels.append(svg("text", { x: 0, y: chart.box.bottom + 36, class: "title undrawn" }, svg("title", {}, left.map(({ label }) => label).join("; ")),
    long.length * 6.5 <= room ? long : brief));
}

/** Lines across, each with its label at the right end; labels do not overlap. Returns the limits
 * that are drawn. */
function paintLimits(chart, limits) {
  const { left, right, top, bottom } = chart.box;
  let free = Infinity;
  const shown = [...limits].sort((a, b) => a.value - b.value).map((limit) => ({ limit, y: chart.sidePx(limit.value) })).filter(({ y }) => y >= top - 1 && y <= bottom + 1);
  for (const { limit, y } of shown) {
    chart.plot.append(svg("line", { x1: left, x2: right, y1: y, y2: y, class: limit.is_burst ? "limit burst" : "limit", "data-limit": limit.value }));
    free = Math.min(y - 4, free - 13);
    // The line of the next limit must not cross the words.
    for (const other of shown) if (other.y < free && other.y > free - 9) free = other.y - 4;
    if (free > top - 8) chart.labels.append(svg("text", { x: right - 2, y: free, class: "limit-label" }, limitText(limit.label, right - left)));
  }
  return shown.map(({ limit }) => limit);
}

/** Upright lines over an axis of rates, each with its label at the upper end; returns those that are drawn. */
function paintLimitsUpright(chart, limits, forward) {
  const { left, right, top, bottom } = chart.box;
  const drawn = merged(limits).map((limit) => ({ limit, x: chart.px(forward(limit.value)) })).filter(({ x }) => x >= left - 1 && x <= right + 1)
    .sort((a, b) => b.x - a.x).slice(0, MOST_LIMITS);
  drawn.forEach(({ limit, x }, row) => {
    chart.plot.append(svg("line", { x1: x, x2: x, y1: top - 4, y2: bottom, class: limit.is_burst ? "limit burst" : "limit", "data-limit": limit.value }));
    // Beside its line where there is room, else across it.
    const label = limitText(limit.label, right - left);
    const room = label.length * 6;
    const isRight = x - left <= room && right - x > room;
    chart.labels.append(svg("text", { x: isRight ? x + 4 : x - left > room ? x - 4 : right, y: top + 6 + 13 * row, class: isRight ? "limit-label start" : "limit-label" }, label));
  });
  return drawn.map(({ limit }) => limit);
}

/** A short tick of a series at what a limit of bytes leaves of its operations: at the right end where
 * all are of one size, else at each point. */
function paintCaps(chart, { color, points = [], x, record }, ways) {
  const sizes = points.map(({ size }) => size);
  const isOne = sizes.length > 0 && sizes.every((size) => size === sizes[0]);
  const { right, top, bottom } = chart.box;
  const tick = (px, cap, value) => {
    const y = chart.sidePx(cap);
    if (y < top - 1 || y > bottom + 1) return;
    chart.plot.append(svg("line", { x1: px - 7, x2: px + 7, y1: y, y2: y, class: "cap", "data-limit": value, style: { stroke: color } }));
  };
  if (isOne) byteCaps(sizes[0], ways, record).forEach(({ cap, value }) => tick(right - 7, cap, value));
  else points.forEach(({ size }, k) => byteCaps(size, ways, record).forEach(({ cap, value }) => tick(chart.px(x[k]), cap, value)));
}

/** The class for the frame of a figure that is at a limit; null if it is at none. */
function atLimit(iops, mbps, ways, record) {
  const near = (value, quantity) => limitsOf(quantity, ways, [record]).some((limit) => Math.abs(value / limit.value - 1) <= AT_LIMIT);
  if (near(iops, "iops")) return "at-iops";
  return near(mbps, "mbps") ? "at-bytes" : null;
}
