// To take away: a chart as SVG or PNG, a table as CSV or Markdown, the view in the link.

/** What a picture looks like outside of the page. */
const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "opacity", "font-family", "font-size", "font-weight", "text-anchor"];

function saved(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = el("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** A name that is safe as a file name everywhere. */
function fileName(words, ending) {
  const stem = words.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60);
  return `blocklab-${data.records[0].id}-${stem}.${ending}`;
}

/** What a chart shows, without its kind and its keys. */
function titleOf(chart) {
  return chart.content.label.replace(/^[^:]*: /, "").replace(/\. .*$|\.$/, "");
}

/** Mixed colours as every program reads them. */
function plainColor(value) {
  if (!/^(oklab|oklch|color)/.test(value)) return value;
  const pen = el("canvas", { width: 1, height: 1 }).getContext("2d");
  pen.fillStyle = value;
  pen.fillRect(0, 0, 1, 1);
  return `rgb(${[...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)].join(", ")})`;
}

/** The picture by itself: its styles in it, the page's colour behind it, its words above it. */
function picture(chart) {
  const { picture: shown, width, box: { height } } = chart;
  const copy = shown.cloneNode(true);
  const [from, to] = [shown, copy].map((root) => [...root.querySelectorAll("*")]);
  from.forEach((node, k) => {
    const style = getComputedStyle(node);
    to[k].removeAttribute("class");
    to[k].removeAttribute("style");
    for (const name of STYLES) to[k].style.setProperty(name, plainColor(style.getPropertyValue(name)));
  });
  const page = getComputedStyle(document.body);
  const whole = height + 46;
  for (const name of ["tabindex", "role", "aria-roledescription", "class"]) copy.removeAttribute(name);
  for (const [name, value] of [["xmlns", SVG_SPACE], ["width", width], ["height", whole], ["viewBox", `0 -32 ${width} ${whole}`]]) copy.setAttribute(name, value);
  const color = (name) => page.getPropertyValue(name);
  const words = (text, y, size) => svg("text", { x: 0, y, style: { fill: color("--muted"), "font-family": page.fontFamily, "font-size": size } }, text);
  copy.prepend(svg("rect", { x: 0, y: -32, width, height: whole, style: { fill: color("--surface") } }));
  copy.append(words(titleOf(chart), -16, "13px"), words(data.cite, height + 10, "10px"));
  return new XMLSerializer().serializeToString(copy);
}

function savePng(chart, name) {
  const image = new Image();
  const scale = 2;
  image.addEventListener("load", () => {
    const canvas = el("canvas", { width: image.width * scale, height: image.height * scale });
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.drawImage(image, 0, 0);
    canvas.toBlob((blob) => saved(name, "image/png", blob));
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture(chart))}`;
}

function takeButton(name, label, act) {
  const button = el("button", { type: "button", "aria-label": label, title: label }, name);
  button.addEventListener("click", act);
  return button;
}

/** Beside every chart; they show when it is pointed at or reached by key. */
function takingPictures(chart) {
  const words = titleOf(chart);
  chart.frame.append(el("div", { class: "take no-print" },
    takeButton("SVG", `Save as SVG: ${words}`, () => saved(fileName(words, "svg"), "image/svg+xml", picture(chart))),
    takeButton("PNG", `Save as PNG: ${words}`, () => savePng(chart, fileName(words, "png")))));
}

// ---- tables

function cells(table) {
  return [...table.rows].map((row) => [...row.cells].map((cell) => cell.innerText.replace(/\s+/g, " ").trim()));
}

function csv(table) {
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  return cells(table).map((row) => row.map(quoted).join(",")).join("\n").concat("\n");
}

function markdown(table) {
  const rows = cells(table).map((row) => `| ${row.map((text) => text.replace(/\|/g, "\\|")).join(" | ")} |`);
  const rule = [...table.rows[0].cells].map((cell) => (cell.classList.contains("number") ? "--:" : "---"));
  return [rows[0], `| ${rule.join(" | ")} |`, ...rows.slice(1)].join("\n").concat("\n");
}

function takingTables(region) {
  const table = region.querySelector("table");
  const label = region.getAttribute("aria-label");
  const bar = el("div", { class: "take no-print" },
    takeButton("CSV", `Save as CSV: ${label}`, () => saved(fileName(label, "csv"), "text/csv", csv(table))),
    takeButton("MD", `MD, copy as Markdown: ${label}`, async (event) => {
      const { target } = event;
      const done = await written(markdown(table));
      if (!done) saved(fileName(label, "md"), "text/markdown", markdown(table));
      target.textContent = done ? "Copied" : "Saved";
      setTimeout(() => { target.textContent = "MD"; }, 2000);
    }));
  region.before(bar);
  region.parentElement.classList.add("taken");
}

async function written(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (refused) {
    return false;
  }
}

// ---- the view in the link: #section~chart=from:to~case=name

const VIEW = new Map((location.hash.split("~").slice(1)).map((part) => part.split("=").map(decodeURIComponent)));

function remember(name, value) {
  if (value === null) VIEW.delete(name);
  else VIEW.set(name, value);
  const section = location.hash.split("~")[0] || "#summary";
  const parts = [...VIEW].map((part) => part.map(encodeURIComponent).join("="));
  history.replaceState(null, "", [section, ...parts].join("~"));
}

/** A chosen one among names that the link may carry. */
function remembered(name, options) {
  return Math.max(0, options.indexOf(VIEW.get(name)));
}

/** Zoomed as the link says; it is told again when that changes. Charts that zoom together share a `view`. */
function remembering(chart) {
  const name = chart.content.view || chart.content.name;
  const [low, high] = (VIEW.get(name) || "").split(":").map(Number);
  if (low < high) chart.zoom(low, high);
  chart.zoomed = () => remember(name, chart.view ? chart.view.map((place) => Number(place.toPrecision(6))).join(":") : null);
}

/** The section of a link that also carries a view. */
function toSection() {
  const [section, ...view] = location.hash.split("~");
  const place = view.length && document.getElementById(section.slice(1));
  if (place) place.scrollIntoView();
}
