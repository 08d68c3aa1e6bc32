const data = JSON.parse(document.getElementById("data").textContent);
const tipBox = document.getElementById("tip");
const NS = "http://www.w3.org/2000/svg";

// -- building: everything from users goes through text nodes and attributes, never through markup ----------
// A line must not end between a number and its sign, and a minus is one everywhere.
const together = (text) => text.replace(/(\d) %/g, "$1\u00a0%").replace(/ ± /g, " ±\u00a0").replace(/(\d)e-0?(\d)/g, "$1e−$2").replace(/\bp ([=<]) /g, "p\u00a0$1\u00a0");
// Options of the command line stay in one line too.
const pieces = (node, text) => !["P", "SPAN", "LI", "DD"].includes(node.tagName) ? [text] : text.split(/(?<=^|[ (])(--[a-z][a-z-]+(?: \d+| [A-Z]+\b| uniform\b)?)/).map((part, i) => i % 2 ? el("code", { class: "option" }, part) : part);
function put(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(9)) {
    if (child !== null && child !== undefined) node.append(...(child instanceof Node ? [child] : node.tagName === "PRE" ? [String(child)] : pieces(node, together(String(child)))));
  }
  return node;
}
const el = (tag, attributes, ...children) => put(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => put(document.createElementNS(NS, tag), attributes, children);

function tip(node, text) {
  const show = (x, y) => {
    tipBox.textContent = text;
    tipBox.hidden = false;
    const box = tipBox.getBoundingClientRect();
    tipBox.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 6)) + "px";
    tipBox.style.top = (y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 16) + "px";
  };
  const hide = () => { tipBox.hidden = true; };
  node.classList.add("hover");
  node.addEventListener("pointermove", (event) => show(event.clientX, event.clientY));
  node.addEventListener("pointerleave", hide);
  node.addEventListener("focus", () => { const b = node.getBoundingClientRect(); show(b.right, b.top); });
  node.addEventListener("blur", hide);
  node.setAttribute("aria-label", text.replace(/\n/g, ", "));
  node.setAttribute("role", "img");
  return node;
}

// -- numbers and names ------------------------------------------------------------------------------------
function numberOf(n, what) {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}

// Thousands are set apart from five digits on, so that years stay as they are.
const grouped = (text) => text.replace(/^(-?)(\d{5,})(?=\.|$)/, (_, sign, digits) => sign + digits.replace(/\B(?=(\d{3})+$)/g, ","));
function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e7 || size < 1e-4 ? value.toExponential(1).replace("e+", "e") : grouped(String(Number(value.toPrecision(digits))));
  return text.replace(/-/g, "−");
}
// Numbers that come as text.
const minus = (text) => String(text).replace(/(^|, )-(?=[\d.])/g, "$1−");
// Scores, differences of scores and losses all have three digits behind the point, so that they can be compared at a glance.
const score = (value) => value === null || value === undefined ? "–" : Math.abs(value) >= 1000 ? number(value) : value.toFixed(3).replace(/^-(0\.000)?/, (_, zero) => zero || "−");
const signed = (value) => value === null ? "–" : Math.abs(value) < 5e-4 ? "0" : (value > 0 ? "+" : "") + score(value);
// A way to write numbers that stand beside each other with the same number of digits behind the point.
function alike(values, digits = 3) {
  const sizes = values.filter((v) => typeof v === "number" && v !== 0).map(Math.abs), most = Math.max(...sizes), known = sizes.filter((v) => v > 1e-12 * most), least = Math.min(...known);
  if (!known.length || known.every(Number.isInteger) || most >= 1e7 || most < 1e-3 || most / least > 1e4) return (value) => number(value, digits);
  const places = digits - 1 - Math.floor(Math.log10(most)), decimals = Math.max(0, Math.min(6, places)), step = 10 ** Math.max(0, -places - 1);
  return (value) => typeof value !== "number" ? number(value) : Number(value.toFixed(decimals)) === 0 ? "0" : grouped(((step > 1 && Math.round(value / step) * step) || value).toFixed(decimals)).replace(/^-/, "−");
}
// A number with its sign, and zero without one.
const plus = (value, written) => ((text) => text === "0" ? text : (value < 0 ? "−" : "+") + text)(written(Math.abs(value)));
const chances = (p) => p < 0.001 ? "p < 0.001" : "p = " + number(p, 2);
const plusMinus = (mean, std) => score(mean) + (std === null || std === undefined ? "" : ` ±\u00a0${score(std)}`);
const percent = (value) => value === null ? "–" : (100 * value).toFixed(value < 0.1 && value > 0 ? 1 : 0).replace(/\.0$/, "") + "\u00a0%";
function short(name, longest) {
  const flat = name.replace(/\s+/g, " ");
  if (flat.length <= longest) return flat;
  const head = Math.max(1, Math.floor((longest - 1) * 0.6));
  return flat.slice(0, head) + "…" + flat.slice(flat.length - Math.max(1, longest - 1 - head));
}
// Room is measured, not guessed from the number of letters: names may be of any script.
const ruler = document.createElement("canvas").getContext("2d");
const measure = (text) => {
  ruler.font = `600 11.5px ${getComputedStyle(document.body).fontFamily}`;
  return ruler.measureText(text).width;
};
function fit(name, room, cut = short) {
  const flat = name.replace(/\s+/g, " ");
  if (measure(flat) <= room) return flat;
  let low = 3, high = flat.length;
  while (high - low > 1) {
    const half = (low + high) >> 1;
    if (measure(cut(flat, half)) <= room) low = half; else high = half;
  }
  return cut(flat, low);
}
// Names that would be cut to the same text show what follows the letters that they share instead.
function fitAll(names, room) {
  const shown = names.map((name) => fit(name, room)), groups = new Map();
  names.forEach((name, i) => groups.set(shown[i], [...(groups.get(shown[i]) || []), i]));
  for (const group of groups.values()) if (new Set(group.map((i) => names[i])).size > 1) tellApart(names, group, shown, room);
  return shown;
}
function tellApart(names, group, shown, room) {
  const same = group.map((i) => names[i].replace(/\s+/g, " "));
  let shared = 0;
  while (same.every((name) => shared < name.length && name[shared] === same[0][shared])) shared++;
  const start = Math.max(0, same[0].lastIndexOf(" ", shared - 1) + 1), parts = new Map();
  group.forEach((i, k) => {
    const from = shared - start > 12 ? shared - 4 : start;
    shown[i] = fit((from ? "…" : "") + same[k].slice(from), room, (text, longest) => text.slice(0, longest - 1) + "…");
    parts.set(shown[i], [...(parts.get(shown[i]) || []), i]);
  });
  for (const part of parts.values()) if (part.length > 1 && part.length < group.length) tellApart(names, part, shown, room);
}
const colour = (i) => `var(--c${i % 9})`;
const largest = (values) => values.reduce((a, b) => Math.max(a, Math.abs(b ?? 0)), 0) || 1;
const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
const order = (values) => values.map((_, i) => i).sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]));

// -- scales -----------------------------------------------------------------------------------------------
function scale(low, high, from, to, log) {
  if (log) { low = Math.log10(low); high = Math.log10(high); }
  if (high - low < 1e-12) { low -= 0.5; high += 0.5; }
  const at = (value) => from + (to - from) * ((log ? Math.log10(value) : value) - low) / (high - low);
  at.ticks = log ? logTicks(low, high) : plainTicks(low, high);
  return at;
}
// Room at the left for what the ticks of a scale say.
const roomFor = (low, high) => Math.max(50, 10 + Math.max(...scale(low, high, 0, 1).ticks.map((t) => measure(number(t)))));
function plainTicks(low, high) {
  const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough);
  const ticks = [];
  for (let t = Math.ceil(low / step) * step; t <= high + 1e-9 * step; t += step) ticks.push(Number(t.toPrecision(12)));
  return ticks;
}
function logTicks(low, high) {
  const every = Math.max(1, Math.ceil((high - low) / 6)), ticks = [];
  for (let k = Math.ceil(low - 1e-9); k <= high + 1e-9; k += every) ticks.push(10 ** k);
  if (ticks.length > 2) return ticks;
  const more = [];
  for (let k = Math.floor(low); k <= high; k++) for (const m of [1, 2, 5]) {
    const t = Math.log10(m) + k;
    if (t >= low - 1e-9 && t <= high + 1e-9) more.push(m * 10 ** k);
  }
  return more.length > 2 ? more : plainTicks(10 ** low, 10 ** high).filter((t) => t > 0);
}

// -- charts: drawn at the width that there is, and again when that changes ----------------------------------
const drawn = [];
// What cannot be drawn says so in its place, and takes nothing else of the page with it.
function attempt(what, draw) {
  try { return draw(); } catch (error) {
    console.error(error);
    return el("p", { class: "failed" }, `${what} could not be drawn: ${error.message}`);
  }
}
// `numbers` gives the titles and rows of a table that says the same; without it, the table has what marks say.
function chart(draw, label, numbers) {
  const box = el("div", { class: "chart", role: "group", "aria-label": `Chart: ${label}`, onkeydown: walk });
  const figure = el("figure", { "aria-label": label }, box, tools(label, box, numbers));
  figure.paint = () => {
    const width = Math.floor(box.clientWidth);
    if (width > 40) { box.replaceChildren(attempt(label, () => draw(width))); oneStop(box); }
  };
  drawn.push({ box, paint: figure.paint, width: 0 });
  return figure;
}
// A chart is one stop of the Tab key; arrows lead from mark to mark.
const marksOf = (box) => [...box.querySelectorAll("[tabindex]")];
const oneStop = (box) => marksOf(box).forEach((mark, i) => mark.setAttribute("tabindex", i ? -1 : 0));
function walk(event) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key], marks = marksOf(event.currentTarget);
  const at = marks.indexOf(document.activeElement);
  if (!step || at < 0 || !marks[at + step]) return;
  marks.forEach((mark, i) => mark.setAttribute("tabindex", i === at + step ? 0 : -1));
  marks[at + step].focus();
  event.preventDefault();
}
addEventListener("keydown", (event) => { if (event.key === "Escape") tipBox.hidden = true; });

// -- files: pictures and their numbers, made here and now, since a page without a network has no other place --
function save(name, kind, text) {
  const url = URL.createObjectURL(new Blob([text], { type: kind })), link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
const fileName = (label, ending) => `${data.title} ${label}`.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 80).replace(/^-|-$/g, "") + ending;
// A cell that a spreadsheet would take for a formula is quoted by an apostrophe.
function csv({ titles, rows }) {
  const cell = (value) => {
    if (value === null || value === undefined) return "";
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? "'" + value : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return [titles, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}
const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin", "opacity", "font-size", "font-weight", "font-family", "text-anchor", "paint-order"];
// With all styles inside, in light colours, as other programs know neither our sheet nor our theme.
function standalone(picture) {
  const root = document.documentElement, theme = root.dataset.theme;
  root.dataset.theme = "light";
  const copy = picture.cloneNode(true), from = [picture, ...picture.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    to[i].removeAttribute("class");
    to[i].removeAttribute("tabindex");
    to[i].removeAttribute("style");
    for (const name of STYLES) if (style.getPropertyValue(name)) to[i].setAttribute(name, style.getPropertyValue(name));
  });
  if (theme === undefined) delete root.dataset.theme; else root.dataset.theme = theme;
  copy.setAttribute("xmlns", NS);
  copy.prepend(svg("rect", { width: "100%", height: "100%", fill: "#ffffff" }));
  return new XMLSerializer().serializeToString(copy);
}
function tools(label, box, numbers) {
  const said = () => numbers ? numbers() : { titles: ["what the chart shows"], rows: [...box.querySelectorAll("[role=img]")].map((mark) => [mark.getAttribute("aria-label")]) };
  const table = el("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": `Numbers of the chart: ${label}` });
  const more = el("details", { class: "numbers", ontoggle: () => {
    const found = said();
    table.replaceChildren(more.open ? plainTable(found.titles, found.rows, label) : "");
  } }, el("summary", {}, "Numbers"), table);
  return el("figcaption", { class: "tools" }, more,
    el("button", { type: "button", class: "small", "aria-label": `Save the chart as SVG: ${label}`, onclick: () => { const picture = box.querySelector("svg"); if (picture) save(fileName(label, ".svg"), "image/svg+xml", standalone(picture)); } }, "SVG"),
    el("button", { type: "button", class: "small", "aria-label": `Save the numbers as CSV: ${label}`, onclick: () => save(fileName(label, ".csv"), "text/csv", csv(said())) }, "CSV"));
}
const plainTable = (titles, rows, label, written = titles.map((_, c) => alike(rows.map((row) => row[c]), 4))) => el("table", { "aria-label": label }, el("thead", {}, el("tr", {}, titles.map((title) => el("th", { scope: "col" }, title)))),
  el("tbody", {}, rows.map((row) => el("tr", {}, row.map((value, c) => el("td", { class: typeof value === "number" ? "number" : null }, typeof value === "number" ? written[c](value) : value ?? "–"))))));
const repaint = () => {
  drawn.forEach((one) => {
    const width = Math.floor(one.box.clientWidth);
    if (width > 40 && width !== one.width) { one.width = width; one.paint(); }
  });
  boxes.forEach((box) => box.look());
};
const canvas = (width, height, ...children) =>
  svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height }, ...children);
const line = (x1, y1, x2, y2, attributes) => svg("line", { x1, y1, x2, y2, ...attributes });
const words = (x, y, text, attributes) => svg("text", { x, y, ...attributes }, text);
// A name that is cut shows all of itself when pointed at.
const label = (x, y, text, whole, attributes) => words(x, y, [text, text === whole ? null : svg("title", {}, whole)], { "text-anchor": "end", ...attributes });

function frame(width, height, x, y, box, titles) {
  const parts = [];
  for (const t of y.ticks) {
    parts.push(line(box.left, y(t), width - box.right, y(t), { class: "grid" }));
    parts.push(words(box.left - 6, y(t) + 4, number(t), { "text-anchor": "end", class: "soft" }));
  }
  for (const t of x.ticks) parts.push(words(Math.min(x(t), width - measure(number(t)) / 2), height - box.bottom + 16, number(t), { "text-anchor": "middle", class: "soft" }));
  parts.push(line(box.left, height - box.bottom, width - box.right, height - box.bottom, { class: "axis" }));
  parts.push(words((box.left + width - box.right) / 2, height - 4, titles[0], { "text-anchor": "middle" }));
  parts.push(words(box.left - 6, 12, titles[1], { "text-anchor": "start", x: 2 }));
  return parts;
}

