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

/** What a chart shows, and what is chosen of several. */
function titleOf({ content: { title, about } }) {
  return about ? `${title}: ${about()}` : title;
}

/** What distinguishes the marks of a chart: the legend of the page. Names of rows are next to them. */
function keysOf({ content }) {
  const items = content.lines ? content.lines() : content.rows().flatMap((row) => row.items || []);
  const keys = items.flatMap((item) => {
    if (item.name) return [item];
    return item.row && content.figure && directions.length > 1 ? [{ name: item.row.direction, color: "var(--muted)", hatched: item.hatched }] : [];
  });
  if (items.some(({ mark = null }) => mark !== null)) keys.push({ name: "saturation point or knee", color: "var(--muted)", dash: "2 3" });
  return [...new Map(keys.map((key) => [key.name, key])).values()];
}

/** The legend from a height on; returns where it ends. */
function paintKeys(chart, host, from) {
  let [x, y] = [0, from];
  for (const { name, color, dash, thin, hatched } of keysOf(chart)) {
    const text = shortened(name, chart.width - 40);
    const room = text.length * 6.9 + 36;
    if (x > 0 && x + room > chart.width) [x, y] = [0, y + 18];
    const line = chart.content.lines;
    host.append(
      line ? svg("line", { x1: x, x2: x + 18, y1: y - 4, y2: y - 4, class: thin ? "line thin" : "line", "stroke-dasharray": dash, style: { stroke: color } })
        : svg("rect", { x, y: y - 10, width: 12, height: 12, style: { fill: hatched ? hatch(chart, color) : color } }),
      svg("text", { x: x + 24, y, class: "aside" }, text),
    );
    x += room;
  }
  return x > 0 ? y + 18 : from;
}

/** Words in lines that fit into the width of a chart; returns where they end. */
function paintWords(chart, host, from, text, look) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.length - 1;
    if (lines[last] && (lines[last].length + word.length) * 6.9 > chart.width) lines.push(word);
    else lines[last] = `${lines[last]} ${word}`.trim();
  }
  lines.forEach((line, k) => host.append(svg("text", { x: 0, y: from + 16 * k, class: look }, line)));
  return from + 16 * lines.length;
}

/** Mixed colours as every program reads them. */
function plainColor(value) {
  if (!/^(oklab|oklch|color)/.test(value)) return value;
  const pen = el("canvas", { width: 1, height: 1 }).getContext("2d");
  pen.fillStyle = value;
  pen.fillRect(0, 0, 1, 1);
  return `rgb(${[...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)].join(", ")})`;
}

/** The picture by itself: its styles in it, the page's colour behind it, title and legend above it,
 * how to read it and whose it is below it. */
function picture(chart) {
  const { picture: shown, width, box: { height }, content: { hint } } = chart;
  const [above, below] = [svg("g", {}), svg("g", {})];
  // Drawn within the page, for its styles.
  shown.append(above, below);
  const top = paintKeys(chart, above, paintWords(chart, above, 16, titleOf(chart), "row-label") + 6);
  above.setAttribute("transform", `translate(0 ${-top})`);
  const whole = top + paintWords(chart, below, height + 14, [hint, data.cite].filter(Boolean).join(" "), "title");
  const copy = shown.cloneNode(true);
  const [from, to] = [shown, copy].map((root) => [...root.querySelectorAll("*")]);
  from.forEach((node, k) => {
    const style = getComputedStyle(node);
    to[k].removeAttribute("class");
    to[k].removeAttribute("style");
    for (const name of STYLES) to[k].style.setProperty(name, plainColor(style.getPropertyValue(name)));
  });
  above.remove();
  below.remove();
  for (const name of ["tabindex", "role", "aria-roledescription", "class"]) copy.removeAttribute(name);
  for (const [name, value] of [["xmlns", SVG_SPACE], ["width", width], ["height", whole], ["viewBox", `0 ${-top} ${width} ${whole}`]]) copy.setAttribute(name, value);
  copy.prepend(svg("rect", { x: 0, y: -top, width, height: whole, style: { fill: getComputedStyle(document.body).getPropertyValue("--surface") } }));
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

/** Next to every chart; they show when it is pointed at or reached by key. */
function takingPictures(chart) {
  const { title } = chart.content;
  chart.frame.append(el("div", { class: "take no-print" },
    takeButton("SVG", `Save as SVG: ${title}`, () => saved(fileName(titleOf(chart), "svg"), "image/svg+xml", picture(chart))),
    takeButton("PNG", `Save as PNG: ${title}`, () => savePng(chart, fileName(titleOf(chart), "png")))));
}

// ---- tables

function cells(table) {
  return [...table.rows].map((row) => [...row.cells].map((cell) => cell.innerText.replace(/\s+/g, " ").trim()));
}

/** As `blocklab export` does: a spreadsheet runs what begins like a formula, unless a quote is before it. */
function noFormula(text) {
  return /^[=+\-@]/.test(text) && !/^[+-][\d.,]+ ?[\p{L}%/]*$/u.test(text) ? `'${text}` : text;
}

function csv(table) {
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  return cells(table).map((row) => row.map(noFormula).map(quoted).join(",")).join("\n").concat("\n");
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

/** Whether the browser let the page write the clipboard. */
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

/** Zoomed as the link says; the link changes with it. Charts that zoom together share a `view`. */
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
