// The history of a load: a small chart a figure. Their element holds all that they show.
//   runs     [{run, at, left_out, changed}], the oldest first
//   figures  [{name, is_time, points, levels, marks}], places are those of runs

const data = { records: [{ id: "history" }], limits: [] };
const HISTORY_HINT = "A dot a run with its 95 % interval; hollow: left out; across: medians of levels; upright: a level begins, broken: suspected.";

function seriesColor(index) {
  return `var(--s${(index % 8) + 1})`;
}

/** Rules at runs, named by their day, or by their time where all are of one day. */
function runAxis(runs) {
  const parts = runs.map(({ at }) => at.split(" "));
  const isOneDay = parts.every(([day]) => day === parts[0][0]);
  const nameOf = ([day, time]) => (isOneDay && time ? time.slice(0, 5) : day);
  return {
    forward: (place) => place,
    backward: (place) => place,
    ticks(low, high, wanted) {
      const step = Math.max(1, niceStep(high - low, wanted));
      const ticks = [];
      let before = "";
      for (let k = Math.max(0, Math.ceil(low / step) * step); k <= high && k < parts.length; k += step) {
        const name = nameOf(parts[k]);
        ticks.push({ at: k, label: name === before ? "" : name });
        before = name;
      }
      return ticks;
    },
  };
}

/** What the points within the view span: a tenth of their figure at least, so that a scatter of a per
 * mille is no mountain. Of a wide interval the ends are cut. */
function valueRange(chart, { points, levels }) {
  if (chart.yView) return chart.yView;
  const [from, to] = chart.range();
  const seen = points.filter(({ place }) => place >= from && place <= to);
  const shown = seen.length ? seen : points;
  const values = shown.map(({ value }) => value).concat(levels.map(({ median }) => median));
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const middle = (least + most) / 2;
  const span = Math.max(most - least, 0.1 * Math.abs(middle), 1e-9);
  const ends = shown.flatMap(({ low, high }) => [low, high]).filter((end) => end !== null);
  const low = Math.max(Math.min(middle - span / 2, ...ends), middle - 1.5 * span);
  const high = Math.min(Math.max(middle + span / 2, ...ends), middle + 1.5 * span);
  const air = 0.06 * (high - low);
  return [low < 0 || low > air ? low - air : 0, high + air];
}

function markColor({ is_worse: isWorse, is_suspected: isSuspected }) {
  if (isSuspected) return "var(--doubt)";
  return isWorse ? "var(--bad)" : "var(--good)";
}

/** So many changes have their words in full, each in a row of its own above the plot. */
const MOST_WORDED = 3;
const MARK_ROW = 15;

function markRows({ marks }) {
  return marks.length <= MOST_WORDED ? Math.max(1, marks.length) : 1;
}

/** An upright line where a level begins, with its words. */
function paintMarks(chart, marks) {
  const { left, right, top, bottom } = chart.box;
  const isFew = marks.length <= MOST_WORDED;
  const seen = marks.map((mark) => ({ ...mark, px: chart.px(mark.place - 0.5) })).filter(({ px }) => px >= left - 1 && px <= right + 1);
  let free = left;
  for (const [row, mark] of seen.entries()) {
    const style = { "--dye": markColor(mark) };
    const class_ = mark.is_suspected ? "begins suspected" : "begins";
    chart.plot.append(svg("line", { x1: mark.px, x2: mark.px, y1: top - 4, y2: bottom, class: class_, style }));
    const text = isFew && mark.text.length * 6.4 < right - left ? mark.text : mark.brief;
    const room = text.length * 6.4;
    const isLeft = mark.px + room > right;
    const start = isLeft ? mark.px - room : mark.px;
    // Each of few has a row; of many those that find room have their size.
    if (!isFew && (start < free || mark.px + room > right)) continue;
    free = start + room + 12;
    const y = top - 14 - (isFew ? MARK_ROW * row : 0);
    chart.labels.append(svg("text", { x: isLeft ? mark.px - 5 : mark.px + 5, y, class: isLeft ? "begins-label end" : "begins-label", style }, text));
  }
}

function paintHistory(chart, { figure, runs, axis }) {
  const [low, high] = valueRange(chart, figure);
  const { top, bottom } = chart.box;
  const y = chart.paintSide(axis, low, high, figure.name);
  chart.sidePx = y;
  chart.sidePlace = (py) => low + ((bottom - py) / (bottom - top)) * (high - low);
  runs.forEach(({ changed }, place) => {
    const x = chart.px(place);
    if (changed) chart.plot.append(svg("line", { x1: x, x2: x, y1: bottom - 6, y2: bottom, class: "around-changed" }));
  });
  for (const { from, to, median, is_suspected: isSuspected } of figure.levels) {
    const [x1, x2] = [chart.px(from - 0.4), chart.px(to + 0.4)];
    chart.plot.append(svg("line", { x1, x2, y1: y(median), y2: y(median), class: isSuspected ? "level suspected" : "level" }));
  }
  for (const point of figure.points) {
    const [cx, cy] = [chart.px(point.place), y(point.value)];
    if (point.low !== null && point.high !== null) {
      chart.plot.append(svg("path", { d: `M${cx} ${y(point.low)}V${y(point.high)}M${cx - 2} ${y(point.low)}h4M${cx - 2} ${y(point.high)}h4`, class: "spread" }));
    }
    chart.plot.append(svg("circle", {
      cx, cy, r: 3.5, class: point.is_left_out ? "dot hollow" : "dot", style: { "--dye": "var(--s1)" }, "data-run": runs[point.place].run,
    }));
  }
  paintMarks(chart, figure.marks);
}

/** The run that is nearest along the bottom. */
function probeHistory(chart, { figure, runs }, px) {
  if (!figure.points.length) return null;
  const place = chart.place(px);
  const far = (point) => Math.abs(point.place - place);
  const point = figure.points.reduce((best, other) => (far(other) < far(best) ? other : best));
  const level = figure.levels.find(({ from, to }) => point.place >= from && point.place <= to);
  const mark = figure.marks.find((one) => one.place === point.place);
  const { run, at, left_out: leftOut, changed } = runs[point.place];
  const plain = (name, value) => ({ color: "transparent", name, value });
  const entries = [
    { color: "var(--s1)", name: figure.name, value: point.text, py: chart.sidePx(point.value), near: true },
    ...(point.interval ? [plain("95 % interval", point.interval)] : []),
    ...(level ? [plain("median of the level", level.text)] : []),
    ...(mark ? [plain("a level begins", mark.text)] : []),
  ];
  const note = [leftOut, changed].filter(Boolean).join("; ");
  return { px: chart.px(point.place), title: `${run}, ${at}`, entries, note };
}

function historyCharts(host) {
  const given = JSON.parse(host.querySelector("script").textContent);
  const { title, runs, figures } = given;
  const grid = el("div", { class: figures.length > 1 ? "grid-2" : null });
  host.append(grid);
  const full = [-0.7, runs.length - 0.3];
  const drawn = figures.map((figure) => {
    const frame = el("div", {});
    grid.append(frame);
    const options = { figure, runs, axis: figure.is_time ? timeAxis : linearAxis(shortText) };
    return new Chart(frame, {
      name: "history", view: `history-${title}`, kind: "History", title: `${title}: ${figure.name}`,
      how: "Arrows read runs.", hint: HISTORY_HINT, fitsHeight: true,
      x: { axis: runAxis(runs), title: "runs, the newest at the right", full: () => full },
      box: (width) => {
        const top = 34 + MARK_ROW * (markRows(figure) - 1);
        return { left: 64, right: width - 12, top, bottom: top + 152, height: top + 196 };
      },
      lines: () => [],
      paint: (chart) => paintHistory(chart, options),
      probe: (chart, px) => probeHistory(chart, options, px),
      stops: (chart) => figure.points.map(({ place }) => chart.px(place)),
    });
  });
  for (const chart of drawn) chart.peers = drawn;
}

document.documentElement.classList.add("scripted");
document.querySelectorAll(".study-chart").forEach(historyCharts);
document.querySelectorAll(".scroll").forEach(takingTables);
document.addEventListener("pointerdown", (event) => {
  if (event.target.closest(".picture")) return;
  document.querySelectorAll(".tooltip").forEach((tip) => { tip.hidden = true; });
});
toSection();
