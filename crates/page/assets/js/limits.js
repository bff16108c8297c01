// Limits: thin broken lines where a device is held back, dotted where a burst ends. A limit of bytes
// is a tick for each series on a chart of operations: there it depends on their size.
//   data.limits  [{label, value, is_bytes, is_burst, only}], `value` in IOPS or MB/s

/** Nearer than this to a limit, as a share of it, is at the limit. */
const AT_LIMIT = 0.03;

/** Those of a quantity, "iops" or "mbps", that count one of these directions. */
function limitsOf(quantity, ways) {
  if (quantity !== "iops" && quantity !== "mbps") return [];
  const isBytes = quantity === "mbps";
  return data.limits.filter((limit) => limit.is_bytes === isBytes && (!limit.only || ways.includes(limit.only)));
}

/** What is drawn beside figures up to `most`: what lies near them, and the least one beyond. */
function limitsNear(limits, most) {
  const beyond = limits.filter(({ value }) => value > most).map(({ value }) => value);
  const next = Math.min(...beyond);
  return limits.filter(({ value }) => value <= most * 1.25 || (value === next && value <= most * 2.5));
}

/** The limits of bytes, as rates of operations of this size. */
function byteCaps(size, ways) {
  if (!(size > 0)) return [];
  return limitsOf("mbps", ways).filter((limit) => !limit.is_burst).map((limit) => ({ ...limit, cap: (limit.value * 1e6) / size }));
}

/** Lines across, each with its label at the right end; labels do not lie on one another. */
function paintLimits(chart, limits) {
  const { left, right, top, bottom } = chart.box;
  let free = Infinity;
  const shown = [...limits].sort((a, b) => a.value - b.value).map((limit) => ({ limit, y: chart.sidePx(limit.value) })).filter(({ y }) => y >= top - 1 && y <= bottom + 1);
  for (const { limit, y } of shown) {
    chart.plot.append(svg("line", { x1: left, x2: right, y1: y, y2: y, class: limit.is_burst ? "limit burst" : "limit", "data-limit": limit.value }));
    free = Math.min(y - 4, free - 13);
    // The line of the next limit would strike the words out.
    for (const other of shown) if (other.y < free && other.y > free - 9) free = other.y - 4;
    if (free > top - 8) chart.labels.append(svg("text", { x: right - 2, y: free, class: "limit-label" }, shortened(limit.label, right - left)));
  }
}

/** Upright lines over an axis of rates, each with its label at the upper end. */
function paintLimitsUpright(chart, limits, forward) {
  const { left, right, top, bottom } = chart.box;
  let row = 0;
  for (const limit of [...limits].sort((a, b) => b.value - a.value)) {
    const x = chart.px(forward(limit.value));
    if (x < left - 1 || x > right + 1) continue;
    chart.plot.append(svg("line", { x1: x, x2: x, y1: top - 4, y2: bottom, class: limit.is_burst ? "limit burst" : "limit", "data-limit": limit.value }));
    // Beside its line where there is room, else across it.
    const room = limit.label.length * 6;
    const isRight = x - left <= room && right - x > room;
    chart.labels.append(svg("text", { x: isRight ? x + 4 : x - left > room ? x - 4 : right, y: top + 6 + 13 * row, class: isRight ? "limit-label start" : "limit-label" }, limit.label));
    row += 1;
  }
}

/** A short tick of a series at what a limit of bytes leaves of its operations: at the right end where
 * all are of one size, else at each point. */
function paintCaps(chart, { color, points = [], x }, ways) {
  const sizes = points.map(({ size }) => size);
  const isOne = sizes.length > 0 && sizes.every((size) => size === sizes[0]);
  const { right, top, bottom } = chart.box;
  const tick = (px, cap, value) => {
    const y = chart.sidePx(cap);
    if (y < top - 1 || y > bottom + 1) return;
    chart.plot.append(svg("line", { x1: px - 7, x2: px + 7, y1: y, y2: y, class: "cap", "data-limit": value, style: { stroke: color } }));
  };
  if (isOne) byteCaps(sizes[0], ways).forEach(({ cap, value }) => tick(right - 7, cap, value));
  else points.forEach(({ size }, k) => byteCaps(size, ways).forEach(({ cap, value }) => tick(chart.px(x[k]), cap, value)));
}

/** The limit at which a figure stands: a class for its frame, or nothing. */
function atLimit(iops, mbps, ways) {
  const near = (value, quantity) => limitsOf(quantity, ways).some((limit) => Math.abs(value / limit.value - 1) <= AT_LIMIT);
  if (near(iops, "iops")) return "at-iops";
  return near(mbps, "mbps") ? "at-bytes" : null;
}
