// A run that lasts: its last minutes as lines, its figures in words, until it is done.

const page = document.getElementById("live");
const data = { records: [{ id: page.dataset.run }], limits: [] };
const directions = ["read", "write", "trim"];
/** An hour: what is older is on the page of the run. */
const MOST_SLICES = 3600;
const slices = [];
const seen = { step: -1, frame: 0 };

function show(name, text) {
  document.getElementById(name).textContent = text;
}

function seriesColor(index) {
  return `var(--s${(index % 8) + 1})`;
}

const used = () => directions.filter((way) => slices.some((slice) => slice[way].ios > 0));

function linesOf(of) {
  return () => used().map((way) => ({
    key: way, name: way, color: seriesColor(directions.indexOf(way)),
    x: slices.map(({ end_ns }) => end_ns / 1e9),
    y: slices.map((slice) => (slice[way].ios > 0 ? of(slice[way], slice) : null)),
    from: slices.length ? (slices[0].end_ns - slices[0].length_ns) / 1e9 : 0,
  }));
}

function liveChart(name, title, axis, say, of) {
  const lines = linesOf(of);
  const last = () => Math.max(1, ...slices.map(({ end_ns }) => end_ns / 1e9));
  return lineChart(page.querySelector("#charts"), {
    name, kind: "Chart of lines", title, how: "Arrows read values.", stairs: true, ends: true, lines, say,
    x: { axis: clockAxis, title: "time", say: secondsText, full: () => [0, last()] },
    side: { axis, title, zero: true },
    height: (width) => (width < 560 ? 240 : 280),
  });
}

const live = [
  liveChart("rate", "IOPS", linearAxis(shortText), iopsText, ({ ios }, { length_ns }) => (ios * 1e9) / length_ns),
  liveChart("p99", "p99 latency", timeAxis, latencyText, ({ p99_ns }) => p99_ns),
];
for (const chart of live) chart.peers = live;

/** The next frames; of another measurement from its beginning. */
function add(state) {
  if (state.step !== seen.step || state.is_whole) {
    seen.step = state.step;
    seen.frame = 0;
    slices.length = 0;
  }
  for (const frame of state.frames) {
    if (frame.number <= seen.frame) continue;
    seen.frame = frame.number;
    slices.push(...frame.slices);
  }
  slices.splice(0, Math.max(0, slices.length - MOST_SLICES));
  page.dataset.frames = String(seen.frame);
  for (const chart of live) chart.render();
  for (const [name, text] of Object.entries(state.words)) show(name, text);
}

function subscribe() {
  const source = new EventSource(`/live/${page.dataset.run}/events`);
  source.addEventListener("frame", (event) => add(JSON.parse(event.data)));
  source.addEventListener("done", (event) => {
    const { words, is_kept: isKept } = JSON.parse(event.data);
    source.close();
    page.dataset.state = "done";
    show("state", words);
    if (isKept) document.getElementById("result").hidden = false;
  });
  return source;
}

document.documentElement.classList.add("scripted");
/** A page that was saved shows what was known then, and asks nobody. */
const isOver = () => page.dataset.state === "done" || location.protocol === "file:";
let source = isOver() ? null : subscribe();
// A browser has six connections to a host: pages that nobody sees hold none.
document.addEventListener("visibilitychange", () => {
  if (isOver()) return;
  if (document.hidden && source) {
    source.close();
    source = null;
  } else if (!document.hidden && !source) {
    source = subscribe();
  }
});
