// Elements, texts for numbers, and axes. Nothing here knows a chart.

const SVG_SPACE = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "style") {
      for (const [key, text] of Object.entries(value)) node.style.setProperty(key, text);
    } else {
      node.setAttribute(name, value);
    }
  }
  node.append(...children);
  return node;
}

/** An HTML element; text among the children is text, never markup. */
function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG_SPACE, tag), attributes, children);
}

/** Whether the page is about to be printed. */
function isPaper() {
  return document.documentElement.classList.contains("paper");
}

// ---- numbers for people: the same rules as on the terminal

function threeFigures(value) {
  const size = Math.abs(value);
  return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

function latencyText(ns) {
  if (ns < 999.5) return `${ns.toFixed(0)} ns`;
  if (ns < 999500) return `${threeFigures(ns / 1e3)} µs`;
  if (ns < 999500000) return `${threeFigures(ns / 1e6)} ms`;
  return `${threeFigures(ns / 1e9)} s`;
}

/** `~` where fewer than ten operations lie beyond. */
function quantileText(ns, quantile, ios) {
  return `${ios * (1 - quantile) < 10 - 1e-6 ? "~" : ""}${latencyText(ns)}`;
}

function countText(value) {
  return Math.round(value).toLocaleString("en-US");
}

/** With one decimal below 100; what that would show as 0.0 has two figures. */
function rateText(value) {
  if (value > 0 && value < 0.05) return String(Number(value.toPrecision(2)));
  return Math.abs(value) < 99.95 ? value.toFixed(1) : countText(value);
}

/** Whole from 10 on: less than one operation per second is neither 0 nor 1. */
function iopsText(value) {
  return `${value < 10 ? rateText(value) : countText(value)} IOPS`;
}

function percentText(value) {
  const size = Math.abs(value);
  return `${value.toFixed(size < 0.995 ? 2 : size < 9.95 ? 1 : 0)} %`;
}

/** For an axis: `250k`, `1.5M`, `20`. */
function shortText(value) {
  const size = Math.abs(value);
  const [divisor, suffix] = size >= 1e9 ? [1e9, "G"] : size >= 1e6 ? [1e6, "M"]
    : size >= 1e4 ? [1e3, "k"] : [1, ""];
  const scaled = value / divisor;
  return `${divisor === 1 && size >= 1e3 ? countText(scaled) : Number(scaled.toPrecision(6))}${suffix}`;
}

/** For an axis: a latency without the zeros that only alignment needs. */
function shortLatency(ns) {
  if (ns === 0) return "0";
  const [divisor, unit] = ns < 1e3 ? [1, "ns"] : ns < 1e6 ? [1e3, "µs"]
    : ns < 1e9 ? [1e6, "ms"] : [1e9, "s"];
  return `${Number((ns / divisor).toPrecision(4))} ${unit}`;
}

/** `p99.9` of the share 0.001 that lies above; as many decimals as the distance to 100 needs. */
function percentileText(tail) {
  if (tail <= 0) return "maximum";
  const decimals = Math.min(6, Math.max(0, Math.ceil(-Math.log10(tail) - 1e-9) - 2) + 1);
  return `p${Number((100 * (1 - tail)).toFixed(decimals))}`;
}

function secondsText(seconds) {
  if (seconds < 120) return `${Number(seconds.toFixed(2))} s`;
  const whole = Math.round(seconds);
  const rest = whole % 60;
  if (whole < 7200) return rest ? `${Math.floor(whole / 60)} min ${rest} s` : `${whole / 60} min`;
  return `${Number((whole / 3600).toFixed(2))} h`;
}

// ---- axes: forward and backward between a value and its place, ticks between two places

function niceStep(span, wanted) {
  const rough = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough * 0.999);
}

/** Whole minutes and hours, where decimal steps would be 8 min 20 s. */
function clockStep(span, wanted) {
  const rough = span / Math.max(1, wanted);
  const steps = [60, 120, 300, 600, 900, 1800, 3600, 7200];
  return (rough > 20 && steps.find((step) => step >= rough * 0.999)) || niceStep(span, wanted);
}

function linearTicks(low, high, wanted, say, stepOf = niceStep) {
  const wide = stepOf(high - low, wanted);
  // With fewer than two steps, a figure near the end would have no rule to be read by.
  const step = high - low < 2 * wide ? stepOf(high - low, 2 * wanted) : wide;
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-6); k * step <= high + step * 1e-6; k += 1) {
    ticks.push({ at: k * step, label: say(Number((k * step).toPrecision(12))) });
  }
  return ticks;
}

function linearAxis(say, stepOf) {
  return {
    forward: (value) => value,
    backward: (place) => place,
    ticks: (low, high, wanted) => linearTicks(low, high, wanted, say, stepOf),
  };
}

/** Latencies from zero: rules at round figures of their unit. */
const timeAxis = linearAxis(shortLatency);
/** Seconds of a run. */
const clockAxis = linearAxis(secondsText, clockStep);

/** Ticks at these multiples of powers of ten. */
function decadeTicks(low, high, factors, say) {
  const ticks = [];
  for (let power = Math.floor(low); power <= high; power += 1) {
    for (const factor of factors) {
      const at = power + Math.log10(factor);
      if (at >= low - 1e-9 && at <= high + 1e-9) ticks.push({ at, label: say(factor * 10 ** power) });
    }
  }
  return ticks;
}

/** Every second, third, … of too many. */
function thinned(ticks, wanted) {
  const step = Math.ceil(ticks.length / (wanted + 1));
  return ticks.filter((tick, k) => k % step === 0);
}

function logAxis(say) {
  const sets = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]];
  const valueTicks = (low, high, wanted) =>
    linearTicks(10 ** low, 10 ** high, wanted, say).map(({ at, label }) => ({ at: Math.log10(at), label }));
  return {
    forward: (value) => Math.log10(Math.max(value, 1e-12)),
    backward: (place) => 10 ** place,
    ticks(low, high, wanted) {
      const all = sets.map((factors) => decadeTicks(low, high, factors, say));
      if (all[0].length > wanted + 1) return thinned(all[0], wanted);
      const fitting = all.filter((ticks) => ticks.length >= 3 && ticks.length <= wanted + 2);
      return fitting.length ? fitting[fitting.length - 1] : valueTicks(low, high, wanted);
    },
  };
}

/** The percentile axis: a place is -log10 of the share above, so each nine has the same room. */
const tailAxis = {
  forward: (tail) => -Math.log10(tail),
  backward: (place) => 10 ** -place,
  ticks(low, high, wanted) {
    const label = (tail) => percentileText(tail).replace("p", "");
    const from = (tails) => tails
      .map((tail) => ({ at: -Math.log10(tail), label: label(tail) }))
      .filter(({ at }) => at >= low - 1e-9 && at <= high + 1e-9);
    const nines = [1, 0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6];
    const finer = [0.25, 0.05, 0.02, 5e-3, 2e-3, 5e-4, 2e-4, 5e-5, 2e-5];
    if (high - low > 2.2) return from(nines);
    const dense = from([...nines, ...finer].sort((a, b) => b - a));
    if (dense.length >= 4) return dense;
    const percents = linearTicks(100 * (1 - 10 ** -low), 100 * (1 - 10 ** -high), wanted, String);
    return percents
      .map(({ at, label }) => ({ at: -Math.log10(1 - at / 100), label }))
      .filter(({ at }) => Number.isFinite(at));
  },
};
