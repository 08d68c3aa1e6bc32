"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const tipBox = document.getElementById("tip");
  const NS = "http://www.w3.org/2000/svg";

  // -- building: everything from users goes through text nodes and attributes, never through markup ----------
  function put(node, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value === true ? "" : value);
    }
    for (const child of children.flat(9)) {
      if (child !== null && child !== undefined) node.append(child instanceof Node ? child : String(child));
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
    return node;
  }

  // -- numbers and names ------------------------------------------------------------------------------------
  function numberOf(n, what) {
    return `${n} ${what}${n === 1 ? "" : "s"}`;
  }

  function number(value, digits = 3) {
    if (value === null || value === undefined) return "–";
    if (typeof value !== "number") return String(value);
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e5 || size < 1e-3) return value.toExponential(1).replace("e+", "e");
    return String(Number(value.toPrecision(digits)));
  }
  const signed = (value) => Math.abs(value) < 5e-4 ? "0" : (value > 0 ? "+" : "−") + number(Math.abs(value), 2);
  const chances = (p) => p < 0.001 ? "p < 0.001" : "p = " + number(p, 2);
  const plusMinus = (mean, std, digits = 3) => number(mean, digits) + (std === null || std === undefined ? "" : ` ±\u00a0${number(std, 2)}`);
  const percent = (value) => value === null ? "–" : (100 * value).toFixed(value < 0.1 ? 1 : 0) + " %";
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
  function chart(draw, label) {
    const box = el("div", { class: "chart", role: "img", "aria-label": label });
    const paint = () => {
      const width = Math.floor(box.clientWidth);
      if (width > 40) box.replaceChildren(attempt(label, () => draw(width)));
    };
    drawn.push({ box, paint, width: 0 });
    box.paint = paint;
    return box;
  }
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

  // -- the page ---------------------------------------------------------------------------------------------
  const report = document.getElementById("report");
  const contents = el("nav", { "aria-label": "Sections" });
  function section(id, title, hint, ...children) {
    contents.append(el("a", { href: "#" + id }, title));
    return el("section", { id }, el("h2", {}, title), hint ? el("p", { class: "hint" }, hint) : null, ...children);
  }
  function toggles(options, chosen, pick) {
    const buttons = options.map(([value, text]) => el("button", {
      type: "button", "aria-pressed": String(value === chosen),
      onclick: () => {
        buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(options[i][0] === value)));
        pick(value);
      },
    }, text));
    return buttons;
  }

  function header() {
    const d = data.data, target = d.target;
    const size = d.features === null ? numberOf(d.kernels, "kernel") : numberOf(d.features, "column");
    const theme = el("button", {
      type: "button", id: "theme", onclick: () => {
        const root = document.documentElement;
        const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
        root.dataset.theme = dark ? "light" : "dark";
      },
    }, "Light / dark");
    const judged = data.scores && data.scores.verdict, rival = data.scores && data.scores.rival;
    const ahead = rival && rival.mean < 0 && rival.p_value !== null && rival.p_value <= 0.05 ? rival : null;
    return el("header", {}, el("div", {},
      el("h1", {}, data.title),
      judged ? el("p", { id: "verdict", class: judged.better ? null : "failed" }, judged.sentence) : null,
      ahead ? el("p", { id: "ahead", class: "failed" }, ahead.sentence, " Where prediction is what counts, take that one.") : null,
      el("p", { class: "muted" }, `${data.estimator} on ${d.samples} samples with ${size}; ${target.outputs > 1 ? `${target.outputs} targets` : `target “${target.name}”`}. `
        + `Made ${data.made} by manykernels ${data.version}.`)), theme);
  }

  function cards() {
    const w = data.weights, target = data.data.target, made = [];
    const pieces = (text) => text.replace(/× /g, "×\u00a0").match(/[^(=,:·_/ ]*[(=,:·_/ ]?/g).flatMap((part, i) => i ? [el("wbr"), part] : [part]);
    const card = (big, small) => made.push(el("div", { class: "card" }, el("b", { class: big.length > 12 ? "long" : null }, pieces(big)), el("span", {}, small)));
    const judged = data.scores && data.scores.verdict, guesses = judged && !judged.better;
    if (data.scores) {
      const own = data.scores.rows[0], rival = data.scores.rival, constant = data.scores.chance;
      if (own.mean !== null) card(plusMinus(own.mean, own.std), `${data.scores.metric} on samples that were not learned from` + (data.selection && data.scores.searched === "anew" ? ", the search repeated in each fold" : "")
        + (constant && constant.mean !== null ? `; guessing has ${number(constant.mean)}` : ""));
      if (rival) card(signed(rival.mean), `from the best alternative, ${rival.name}: ${rival.p_value === null ? "one fold" : `95 % interval ${signed(rival.low)} to ${signed(rival.high)}, ${chances(rival.p_value)}`}`);
    }
    const R2 = target.scores;
    if (R2) card(number(R2.median), `R² on samples left out, the median over ${target.outputs} targets`);
    const used = w.names.filter((_, m) => w.values.some((row) => row[m] !== 0)).length;
    const matters = leader();
    if (matters) card(short(matters.name, 34), `matters most: without it, ${theScore(data.importance.metric)} falls by ${number(matters.mean, 2)}`);
    if (w.names.length === 1) card(short(w.names[0], 34), "is the only kernel");
    else if (w.listed) card(`${used} of ${w.names.length}`, "kernels have weight");
    else card(String(used), used === 1 ? "kernel was found" : "kernels were found");
    if (w.gap !== null) card(number(w.gap, 2), guesses ? "duality gap: the fit is optimal, and still predicts no better than guessing" : !w.converged ? "relative duality gap: not converged" : !w.certified ? "duality gap over the kernels looked at"
      : w.listed ? "duality gap, certified" : "duality gap, certified for the whole family");
    const sizes = w.names.map((_, m) => w.constant.includes(m) ? 0 : target.outputs > 1 ? mean(w.values.map((row) => row[m])) : Math.max(...w.values.map((row) => Math.abs(row[m])))), top = order(sizes)[0];
    if (sizes[top] > 0 && w.names.length > 1) card(short(w.names[top], 34), (target.outputs > 1 && (w.targets || w.rows) ? "has the largest weight, on average over the targets" : "has the largest weight") + (w.constant.length ? ", the constant aside" : ""));
    return el("div", { class: "cards" }, made);
  }

  // Names with bars of counts behind them.
  function counted(rows, values, what, width, most = 190) {
    const left = Math.min(most, width * 0.42), top = largest(values), names = fitAll(rows, left - 10), at = (i) => (width - left - 60) * values[i] / top;
    return canvas(width, 22 * rows.length + 6, rows.map((name, i) => [
      label(left - 8, 22 * i + 16, names[i], name),
      tip(svg("rect", { x: left, y: 22 * i + 4, height: 16, width: Math.max(1, at(i)), fill: "var(--accent)", tabindex: 0 }), `${name}: ${values[i]} ${what}`),
      words(left + at(i) + 6, 22 * i + 16, values[i], { class: "soft" }),
    ]));
  }

  // -- data -------------------------------------------------------------------------------------------------
  function dataSection() {
    const d = data.data, t = d.target;
    const bars = chart((width) => {
      if (t.task === "classification") return counted(t.labels.slice(0, 25), t.counts, "samples", width);
      const height = 150, box = { left: 44, right: 10, bottom: 34 }, { edges, counts } = t.scores || t, what = t.scores ? "target" : "sample";
      const x = scale(edges[0], edges.at(-1), box.left, width - box.right), y = scale(0, largest(counts), height - box.bottom, 22);
      return canvas(width, height, frame(width, height, x, y, box, [t.scores ? "R² of a target on samples left out" : short(t.name, 40), what + "s"]),
        counts.map((count, i) => {
          const bar = (n, fill) => svg("rect", { x: x(edges[i]) + 0.5, width: Math.max(1, x(edges[i + 1]) - x(edges[i]) - 1), y: y(n), height: height - box.bottom - y(n), fill, tabindex: 0 });
          const says = `${number(edges[i])} to ${number(edges[i + 1])}: ${numberOf(count, what)}`;
          return t.events ? [tip(bar(count, "var(--muted)"), `${says}, ${t.events[i]} with the event`), tip(bar(t.events[i], "var(--accent)"), `${says}, ${t.events[i]} with the event`)] : tip(bar(count, "var(--accent)"), says);
        }));
    }, "The target");
    const day = (days) => new Date(Math.round(days * 864e5)).toISOString().slice(0, 10);
    const rows = d.columns.map((c) => [c.name, c.kind, c.missing, c.kind === "left out" ? c.why : c.mean === undefined && !c.distinct ? "none" : c.kind === "date" ? `from ${day(c.low)} to ${day(c.high)}` : c.kind === "numbers"
      ? `${number(c.mean)} ± ${number(c.std)}, from ${number(c.low)} to ${number(c.high)}` : `${c.distinct} values, mostly “${c.common}”`]);
    const table = d.columns.length ? el("details", {}, el("summary", {}, d.features > d.columns.length ? `The first ${d.columns.length} of ${d.features} columns` : d.columns.length === 1 ? "The column" : `The ${d.columns.length} columns`),
      tall(sortable(["column", "kind", "missing", "values"], rows, ["name", "", "number", ""]))) : null;
    const events = t.events ? t.events.reduce((a, b) => a + b, 0) : 0;
    const text = t.task === "classification" ? `${d.samples} samples of ${t.labels.length} classes.`
      : t.task === "survival" ? `${d.samples} samples: the event was observed in ${events} (blue), ${d.samples - events} were observed until some time without it (grey; censored). `
        + (t.median === null ? "More than half had no event as long as samples were observed." : `Half have had it by ${number(t.median)}.`) + (t.followed === null ? "" : ` The median follow-up is ${number(t.followed)} (reverse Kaplan–Meier).`)
      : t.outputs > 1 ? `${d.samples} samples of ${t.outputs} targets.` + (t.scores ? ` R² on samples left out: median ${number(t.scores.median)}, from ${number(t.scores.low)} to ${number(t.scores.high)} in nine of ten targets.` : "")
      : `${d.samples} samples; the target has mean ${number(t.mean)} and standard deviation ${number(t.std)}.`;
    return section("data", "The data", text, t.outputs > 1 && !t.scores ? null : bars, d.presence ? presence(d.presence, d.samples) : null, table);
  }

  // Which samples have which views: a row for each pattern, the commonest first.
  function presence(p, samples) {
    const rows = p.patterns.map((one) => [...one.has.map((has) => has ? "●" : "–"), one.samples]);
    const table = sortable([...p.views.map((view, v) => `${short(view, 24)} (${p.counts[v]})`), "samples"], rows, [...p.views.map(() => ""), "number"]);
    return [el("h3", {}, "Who has which views"), el("p", {}, `Some of the ${samples} samples lack views (–): the others decide there. Behind each view is the number of samples that have it.`,
      p.others ? ` ${numberOf(p.others, "sample")} more have rarer patterns.` : ""),
    el("div", { class: "scroll", tabindex: 0, id: "presence" }, table), p.remarks.map((text) => el("p", { class: "remark" }, text))];
  }

  // Bars of phones are hidden until one scrolls, so that it is said where there is more to see.
  const boxes = [];
  function tall(table) {
    const box = el("div", { class: "scroll tall", tabindex: 0 }, table), more = el("p", { class: "more", hidden: true });
    box.look = () => {
      const rows = table.tBodies[0].rows.length;
      more.hidden = box.scrollHeight <= box.clientHeight + 1;
      more.textContent = `↕ ${rows} rows: scroll in the table to see all of them.`;
    };
    boxes.push(box);
    return [box, more];
  }

  function sortable(titles, rows, classes, cell) {
    const body = el("tbody");
    const fill = (sorted) => body.replaceChildren(...sorted.map((row) => el("tr", {}, row.map((value, c) =>
      el("td", { class: classes[c] }, cell && cell(row, c) || (typeof value === "number" ? number(value, 4) : value ?? "–"))))));
    const heads = titles.map((title, c) => {
      const head = el("th", { scope: "col", class: classes[c] === "number" ? "number" : null }, el("button", {
        type: "button", onclick: () => {
          const down = head.getAttribute("aria-sort") !== "descending";
          heads.forEach((h) => h.removeAttribute("aria-sort"));
          head.setAttribute("aria-sort", down ? "descending" : "ascending");
          const sign = down ? -1 : 1;
          fill([...rows].sort((a, b) => sign * (typeof a[c] === "number" ? a[c] - b[c] : String(a[c] ?? "").localeCompare(String(b[c] ?? "")))));
        },
      }, title));
      return head;
    });
    fill(rows);
    const table = el("table", {}, el("thead", {}, el("tr", {}, heads)), body);
    table.fill = (kept) => { rows = kept; fill(kept); boxes.forEach((box) => box.look()); };
    return table;
  }

  // -- scores -----------------------------------------------------------------------------------------------
  function scoresSection() {
    const s = data.scores;
    if (!s) return null;
    const constant = s.chance && s.chance.mean !== null ? [{ name: "guessing (a constant)", ...s.chance }] : [];
    const rows = [...s.rows, ...constant].filter((row) => row.mean !== null);
    const draw = (width) => {
      const left = Math.min(210, width * 0.42), ends = rows.flatMap((r) => [...r.folds, r.mean - r.std, r.mean + r.std]);
      const low = Math.min(...ends), high = Math.max(...ends), pad = 0.06 * (high - low || 1);
      const x = scale(low - pad, high + pad, left, width - 16), height = 30 * rows.length + 34, names = fitAll(rows.map((row) => row.name), left - 12);
      return canvas(width, height, x.ticks.map((t) => [line(x(t), 4, x(t), height - 28, { class: "grid" }),
        words(x(t), height - 12, number(t), { "text-anchor": "middle", class: "soft" })]),
        rows.map((row, i) => {
          const y = 30 * i + 20, own = row === s.rows[0], fill = own ? "var(--accent)" : "var(--muted)";
          return [label(left - 10, y + 4, names[i], row.name, { "font-weight": own ? 600 : null }),
            line(x(row.mean - row.std), y, x(row.mean + row.std), y, { stroke: fill, "stroke-width": 2 }),
            row.folds.map((v) => svg("circle", { cx: x(v), cy: y, r: 2.5, fill, opacity: 0.45 })),
            tip(svg("circle", { cx: x(row.mean), cy: y, r: 5.5, fill, tabindex: 0 }), `${row.name}\n${plusMinus(row.mean, row.std, 4)}`)];
        }));
    };
    return section("scores", "Is it worth it?", `${s.metric[0].toUpperCase()}${s.metric.slice(1)} on samples that were not learned from: mean, standard deviation and every fold. `
      + "The same folds for all; the alternatives choose within them." + (!data.selection ? "" : s.searched === "anew" ? " So does the model: its strategy, kernels, norm and C are searched anew in each of them."
        : " The model's own strategy, norm and C were chosen on all samples, which flatters it a little."), rows.length ? chart(draw, "Scores") : null,
      s.rival ? el("p", { id: "rival" }, s.rival.sentence, " The interval and p are those of a corrected t-test: folds share samples, so that the plain one would see too much.") : null,
      s.rows.filter((row) => row.mean === null).map((row) => el("p", { class: "failed" }, el("b", {}, row.name), ` is not compared: ${row.error || "it has no score."}`)));
  }

  // -- survival ---------------------------------------------------------------------------------------------
  const stepsOf = (xs, ys, x, y) => xs.slice(1).reduce((path, t, i) => path + `H${x(t)}` + (i + 1 < ys.length ? `V${y(ys[i + 1])}` : ""), `M${x(xs[0])} ${y(ys[0])}`);
  function bandOf(band, x, y) {
    const back = [];
    for (let i = band.low.length - 1; i >= 0; i--) back.push(`V${y(band.low[i])}H${x(band.x[i])}`);
    return stepsOf(band.x, band.high, x, y) + back.join("") + "Z";
  }
  function survivalSection() {
    const s = data.survival;
    if (!s) return null;
    const reached = (median) => median === null ? "median not reached" : `median ${number(median)}`;
    const draw = (width) => {
      const room = 30 + Math.max(measure("at risk"), ...s.groups.map((g) => measure(g.name))), box = { left: Math.max(44, room), right: 16, bottom: 38 }, high = 300, table = 20 * (s.groups.length + 1) + 6;
      const x = scale(0, s.end, box.left, width - box.right), y = scale(0, 1, high - box.bottom, 24);
      const every = Math.ceil(s.ticks.length * 46 / (width - box.left));
      x.ticks = s.ticks.filter((_, k) => k % every === 0);
      return canvas(width, high + table, frame(width, high, x, y, box, [fit(data.data.target.name, width - box.left - box.right), "share without the event"]),
        s.groups.map((g, k) => [svg("path", { d: bandOf(g.band, x, y), fill: colour(k), opacity: 0.13 }),
          g.censored.map((t) => { const at = g.y[g.x.filter((v) => v <= t).length - 1]; return line(x(t), y(at) - 4, x(t), y(at) + 4, { stroke: colour(k) }); }),
          tip(svg("path", { d: stepsOf(g.x, g.y, x, y), fill: "none", stroke: colour(k), "stroke-width": 2, tabindex: 0 }), `${g.name}: ${numberOf(g.samples, "sample")}, ${numberOf(g.events, "event")}\n${reached(g.median)}`)]),
        words(box.left - 22, high + 12, "at risk", { "text-anchor": "end", class: "soft" }),
        s.groups.map((g, k) => [words(box.left - 22, high + 32 + 20 * k, g.name, { "text-anchor": "end", style: `fill:${colour(k)}` }),
          x.ticks.map((t) => words(x(t), high + 32 + 20 * k, g.at_risk[s.ticks.indexOf(t)], { "text-anchor": "middle" }))]));
    };
    const predicted = s.predicted.curves, model = (width) => {
      const box = { left: 44, right: 16, bottom: 38 }, high = 240, end = Math.max(...predicted.map((one) => one.x.at(-1)));
      const x = scale(0, end, box.left, width - box.right), y = scale(0, 1, high - box.bottom, 24), every = Math.ceil(s.ticks.length * 46 / (width - box.left));
      x.ticks = s.ticks.filter((t, k) => k % every === 0 && t <= end);
      return canvas(width, high, frame(width, high, x, y, box, [fit(data.data.target.name, width - box.left - box.right), "predicted survival"]), line(box.left, y(0.5), width - box.right, y(0.5), { stroke: "var(--muted)", "stroke-dasharray": "2 4" }),
        predicted.map((one, k) => tip(svg("path", { d: stepsOf(one.x, one.y, x, y), fill: "none", stroke: colour(k), "stroke-width": 2, tabindex: 0 }), `${one.name}, risk ${number(one.risk)}\n${reached(one.median)}`)));
    };
    const says = (s.held_out ? "Samples are grouped by the risk that was predicted for them in cross-validation, when nothing had been learned from them: a third each, within each fold."
      : "Samples are grouped by the risk of the model that learned from them, so that the groups differ by more than those of new samples would.")
      + " Bands are 95 % intervals at each time; small ticks are samples that were observed until then without the event."
      + (s.p_value === null ? "" : ` Log-rank test of whether the groups differ: ${chances(s.p_value)}` + (s.held_out ? " (approximate, since folds share training samples)." : ", which means little for samples that were learned from."));
    return section("survival", "Survival by predicted risk", says, chart(draw, "Survival by predicted risk"),
      legendOf(s.groups.map((g) => `${g.name}: ${numberOf(g.samples, "sample")}, ${numberOf(g.events, "event")}, ${reached(g.median)}`)),
      el("h3", {}, "What the model predicts"), el("p", {}, s.predicted.by === "risk" ? "Survival at the first decile, the median and the last decile of the risks of the training samples. A risk that is larger by 1 means e ≈ 2.7 times the hazard, at all times."
        : "Survival at the median risk, in each stratum; strata have hazards of their own. A risk that is larger by 1 means e ≈ 2.7 times the hazard, at all times."), chart(model, "Predicted survival"),
      legendOf(predicted.map((one) => `${one.name}: ${reached(one.median)}`)));
  }

  // -- importance -------------------------------------------------------------------------------------------
  const theScore = (metric) => metric === "C index" ? "the C index" : metric;
  const sure = (rows, i) => rows.low[i] !== null && rows.low[i] > 0;
  function leader() {
    const m = data.importance, rows = m && [m.views, m.columns].find((one) => one && sure(one, 0));
    return rows ? { name: rows.names[0], mean: rows.mean[0] } : null;
  }
  const MOST = 20;
  function losses(rows, what) {
    const draw = (width) => {
      const shown = rows.names.slice(0, MOST), left = Math.min(210, width * 0.42), names = fitAll(shown, left - 12);
      const ends = [0, ...shown.flatMap((_, i) => [rows.mean[i], rows.low[i] ?? rows.mean[i], rows.high[i] ?? rows.mean[i]])];
      const x = scale(Math.min(...ends), Math.max(...ends), left + 8, width - 16), height = 22 * shown.length + 34;
      return canvas(width, height, x.ticks.map((t) => [line(x(t), 4, x(t), height - 28, { class: "grid" }),
        words(x(t), height - 12, number(t), { "text-anchor": "middle", class: "soft" })]),
        line(x(0), 2, x(0), height - 28, { class: "axis" }),
        shown.map((name, i) => {
          const y = 22 * i + 14, fill = sure(rows, i) ? "var(--accent)" : "var(--muted)", low = rows.low[i], high = rows.high[i];
          return [label(left - 10, y + 4, names[i], name, { "font-weight": sure(rows, i) ? 600 : null }),
            low === null ? null : line(x(low), y, x(high), y, { stroke: fill, "stroke-width": 2 }),
            tip(svg("circle", { cx: x(rows.mean[i]), cy: y, r: 5, fill, tabindex: 0 }),
              `${name}\nloses ${number(rows.mean[i])}` + (low === null ? "" : `\n${percent(data.importance.level)} interval from ${number(low)} to ${number(high)}`))];
        }));
    };
    const more = rows.names.length <= MOST ? null : el("details", {}, el("summary", {}, `All ${rows.names.length} ${what}s`),
      tall(sortable([what, "loss", "from", "to"], rows.names.map((name, i) => [name, rows.mean[i], rows.low[i], rows.high[i]]), ["name", "number", "number", "number"])));
    return [data.importance.views ? el("h3", {}, what[0].toUpperCase() + what.slice(1) + "s") : null, chart(draw, `Importance of ${what}s`), more];
  }

  function importanceSection() {
    const m = data.importance;
    if (!m || !(m.columns || m.views)) return null;
    const layers = data.data.features === null, what = layers ? "kernel" : "column", count = m.columns ? m.columns.names.length : 0;
    const none = ![m.columns, m.views].some((rows) => rows && rows.names.some((_, i) => sure(rows, i)));
    const hint = `What ${theScore(m.metric)} loses on held-out samples when the values of a ${what} are shuffled. Before, it is ${number(m.score)}`
      + (m.searched === "before" ? ": that of the model which the search chose on all samples, learned anew in each fold. The choice itself is not repeated here, so that this is not the score at the top. " : ". ")
      + (m.folds > 1 ? `Dots are means over ${m.folds} folds${m.repeats > 1 ? ` with ${m.repeats} shuffles each` : ""}, lines are ${percent(m.level)} intervals; blue ones lie above zero. ` : "")
      + (count && count < m.of ? `Of ${m.of} ${what}s, these are the ${count} that change predictions most. ` : "")
      + (none ? `No loss is clearly above zero. ` : "")
      + `A ${what} that others can stand in for loses little by itself` + (m.views ? ": see what its view loses." : ".");
    return section("importance", m.views ? "Which columns and views matter" : `Which ${what}s matter`, hint,
      m.views ? losses(m.views, "view") : null, m.columns ? losses(m.columns, what) : null);
  }

  // -- chance -----------------------------------------------------------------------------------------------
  const shownP = (p) => p < 0.001 ? "< 0.001" : number(p, 2);
  function testsOf(rows, what) {
    const made = rows.name.map((name, i) => [name, rows.p_value[i], rows.p_adjusted[i]]), few = made.filter((row) => row[2] <= 0.05).length;
    return [el("h3", {}, `Tests of each ${what}`), el("p", {}, `${few} of ${numberOf(made.length, what)} ${few === 1 ? "is" : "are"} related to the target (adjusted p at most 0.05).`),
      tall(sortable([what, "p", "p, adjusted"], made, ["name", "number", "number"], (row, c) => c && el("span", { style: c === 2 && row[2] <= 0.05 ? "font-weight:600" : null }, shownP(row[c]))))];
  }

  function stableOf(rows, what) {
    const made = rows.name.map((name, i) => [name, rows.frequency[i], rows.selected[i] ? "yes" : "no"]).filter((row) => row[1] > 0);
    return [el("h3", {}, `${what[0].toUpperCase()}${what.slice(1)}s that halves of the data select`), el("p", { class: "hint" }, `Of ${2 * rows.n_pairs} halves, how many give each ${what} ${rows.n_selected > 1 ? `one of the ${rows.n_selected} largest weights` : "the largest weight"}. `
      + `From ${percent(rows.threshold)} on it is selected. Of ${what}s that a half takes no more often than by guessing, at most ${number(rows.expected_false, 2)} ${rows.expected_false === 1 ? "is" : "are"} expected among the selected (stability selection, Shah and Samworth 2013). `
      + "This is about the model, not about the target: a narrow kernel can memorise the samples of every half, whatever its columns say." + (data.chance.tests[what + "s"] ? " Look at its p above." : "")
      + (data.selection ? " The search saw all samples when it found what the halves choose from, which this bound does not know of." : "")),
      tall(sortable([what, "selected in", "selected"], made, ["name", "number", ""], (row, c) => c === 1 && percent(row[1])))];
  }

  function chanceSection() {
    const c = data.chance;
    if (!c) return null;
    const tests = Object.entries(c.tests), stable = Object.entries(c.stable);
    const hint = tests.length ? "Each is tested by itself, whatever its weight: is it related to the target at all" + (c.covariates.length ? `, beyond ${c.covariates.join(", ")}` : "") + "? p is the probability of a relation at least as strong if it said nothing about the target; the adjusted p is for all tests of a table together (Holm). "
      + "A small p does not say that the model needs it: others may say the same." : "";
    return section("chance", "Is it more than chance?", hint, tests.flatMap(([what, rows]) => testsOf(rows, what.slice(0, -1))), stable.flatMap(([what, rows]) => stableOf(rows, what.slice(0, -1))));
  }

  // Scores of the folds that made a choice beside the score at the top, which may be lower or not.
  function honest(s) {
    const own = s.score[s.strategy.indexOf(s.chosen)], top = data.scores && data.scores.searched === "anew" ? data.scores.rows[0].mean : null;
    const made = "These folds made the choice, and the best of several scores tends to be too good";
    if (top === null) return made + (data.scores ? ": they flatter what was chosen." : ", so that new samples may be predicted a little worse.");
    if (s.by !== "error") return made + `. Go by the ${data.scores.metric} at the top, in whose folds the search was repeated on the other samples.`;
    return made + `. Go by the ${data.scores.metric} at the top, ${number(top)}, in whose folds the search was repeated on the other samples: ` + (own > top
      ? `the ${number(own)} of the chosen strategy here is higher for that reason, or by chance.` : `here it is no lower than the ${number(own)} of the chosen strategy, which is chance: other folds, other samples.`);
  }

  function selectionSection() {
    const s = data.selection;
    if (!s) return null;
    const byError = s.by === "error", all = largest(s.folds);
    const rows = s.strategy.map((name, i) => [name + (name === s.chosen ? " (chosen)" : ""), s.norm[i], s.C[i], s.error[i], s.score[i], s.std[i], s.folds[i], s.seconds[i]]);
    const hint = "Strategies at their best norm and C, in the same folds. " + (byError && data.data.target.task === "survival" ? "The smallest error is chosen: by the partial likelihood of the samples held out, where 1 is the same risk for all and less is better." : byError ? "The smallest squared error is chosen"
      + (data.data.target.task === "classification" ? " (of decisions clipped to ±1, which tells models apart that score alike)." : ".") : "The best score is chosen.")
      + (s.folds.some((f) => f < all) ? " What was far behind in the first fold was left there." : "")
      + " " + honest(s)
      + (s.end ? ` The C that was chosen is the ${s.end} that was tried: ${s.end === "largest" ? "larger" : "smaller"} ones may be better.` : "")
      + (s.strategy.length > 1 || s.chosen !== "finite" ? "" : " Only weights of the kernels were tried: widths for every feature and products of features are tried where a table comes without views and without kernels of its own.");
    const again = s.again, total = again ? again.counts.reduce((a, b) => a + b, 0) : 0;
    const repeated = !again ? [el("p", { class: "hint" }, "The choice was not repeated on other samples, so that nothing says how sure it is.")]
      : [el("h3", {}, "Chosen again"), el("p", { class: "hint" }, again.names.length > 1 ? `In how many of ${total} random halves of the data each of these models was best on the other half. They are those that the folds cannot tell from the best; the first is the choice of all samples.`
        : "These folds tell all other models from the chosen one, so that there was nothing to choose again."), again.names.length > 1 ? chart((width) => counted(again.names, again.counts, `of ${total} halves`, width, 290), "Choices") : null];
    return section("selection", "What was tried", hint, el("div", { class: "scroll" }, sortable(["strategy", "norm", "C", "error in the search", `${!byError ? "score" : ({ classification: "accuracy", survival: "C index" })[data.data.target.task] || "R²"} in the search`, "± over folds", "folds", "seconds"], rows,
      ["name", ...Array(7).fill("number")])), repeated);
  }

  // -- weights ----------------------------------------------------------------------------------------------
  function weightsSection() {
    const w = data.weights;
    if (w.names.length === 1) return section("weights", "Weights", `${w.names[0]} has all the weight: ${data.selection ? "the search found no combination that predicts better than this kernel alone" : "there is one kernel"}. `
      + "So there are no weights to compare, and no pictures of their path along C, of kernels that say the same, or of what each adds to a decision."
      + (w.stability && w.stability.frequency && data.selection && data.selection.again ? ` It has weight in ${percent(w.stability.frequency[0])} of the models that were chosen on halves of the data.` : "")
      + (data.importance ? " What it needs of the data is said above." : ""));
    const several = w.values.length > 1, s = w.stability || w.spread;
    const sizes = w.names.map((_, m) => Math.max(...w.values.map((row) => Math.abs(row[m]))));
    const top = largest(s ? [...sizes, ...s.high] : sizes);
    const index = order(sizes);
    const titles = ["kernel", ...(several ? w.rows : ["weight", ""]), ...(s && s.frequency ? ["selected in"] : [])];
    const make = (m) => [w.names[m], ...(several ? w.values.map((row) => row[m]) : [w.values[0][m], m]), ...(s && s.frequency ? [s.frequency[m]] : [])];
    const classes = ["name", ...(several ? w.rows.map(() => "number") : ["number", "bar"]), "number"];
    const cell = (row, c) => {
      const last = s && s.frequency && c === titles.length - 1;
      if (last) return percent(row[c]);
      if (several && c > 0) return shaded(row[c], top);
      if (!several && c === 2) return bar(row[2], top);
      return null;
    };
    function shaded(value, most) {
      return el("span", { style: `display:inline-block;padding:1px 7px;border-radius:4px;background:color-mix(in srgb, var(${value < 0 ? "--other" : "--accent"}) ${Math.round(55 * Math.abs(value) / most)}%, transparent)` },
        value === 0 ? "0" : number(value));
    }
    function bar(m, most) {
      const value = w.values[0][m], at = (v) => 100 * Math.max(0, Math.min(1, Math.abs(v) / most));
      const parts = [svg("rect", { x: 0, y: 3, height: 10, width: at(value) + "%", fill: value < 0 ? "var(--other)" : "var(--accent)" })];
      if (s && s.low[m] !== null) parts.push(line(at(s.low[m]) + "%", 8, at(s.high[m]) + "%", 8, { stroke: "var(--ink)", "stroke-width": 2 }));
      return tip(svg("svg", { width: "100%", height: 16, tabindex: 0 }, parts),
        `${w.names[m]}\nweight ${number(value, 4)}` + (s && s.low[m] !== null ? `\nbetween ${number(s.low[m])} and ${number(s.high[m])} ${w.spread ? "in nine of ten targets" : "over resamples"}` : ""));
    }
    const zeros = sizes.filter((v) => v === 0).length;
    let hidden = zeros > 12, words_ = "";
    const wanted = () => index.filter((m) => (!hidden || sizes[m] > 0) && w.names[m].toLowerCase().includes(words_));
    const table = sortable(titles, wanted().map(make), classes, cell);
    const refresh = () => table.fill(wanted().map(make));
    const filter = el("input", { type: "search", id: "filter", placeholder: "find a kernel", "aria-label": "Find a kernel", oninput: (e) => { words_ = e.target.value.toLowerCase(); refresh(); } });
    const offer = () => `${hidden ? "Show" : "Hide"} the ${zeros} of weight zero`;
    const zero = zeros ? el("button", { type: "button", id: "zeros", onclick: () => { hidden = !hidden; zero.textContent = offer(); refresh(); } }, offer()) : null;
    const guesses = data.scores && data.scores.verdict && !data.scores.verdict.better;
    const hint = (guesses ? "The model predicts no better than guessing, so that these weights describe noise; that they are optimal, or the same in every half of the data, does not change that. " : "")
      + data.certificate + anew() + (w.spread ? ` Each of ${w.targets} targets has weights of its own: bars are their means, and lines in the bars span nine of ten targets.` : s ? ` Lines in the bars: where ${percent(s.level ?? 0.95)} of the weights lie that are learned from random halves of the data. `
      + "Halves support less than all samples do, so that a line need not contain the weight of its kernel." + halves() : "");
    return section("weights", "Weights", hint, views(w), el("div", { class: "controls" }, filter, zero), tall(table));
  }

  // P and D as the report computed them, whatever the fit had said.
  const anew = () => { const c = data.recomputed; return !c ? "" : ` Computed anew from the model and its samples alone: its objective is ${number(c.primal, 6)}, and `
    + `${c.certified ? "none" : "none over the kernels looked at"} can be below ${number(c.dual, 6)}; the gap is ${number(c.gap, 2)}.`; };

  // What "selected in" is about, after a search.
  const halves = () => !data.selection ? "" : data.selection.again ? " In each half the search has chosen anew among the models that came near the best; a kernel that is not in the chosen one has no weight there."
    : " Only what the search chose was learned from the halves: the choice was not repeated, so that “selected in” says nothing of it.";

  function views(w) {
    if (!w.views) return null;
    const v = w.views, s = v.stability, top = largest([...v.values.flat(), ...(s ? s.high : [])]);
    return chart((width) => {
      const left = Math.min(180, width * 0.36), rows = v.names, per = v.values.length, high = 10 * per + 12, names = fitAll(rows, left - 10);
      return canvas(width, rows.length * high + 8, rows.map((name, i) => [
        label(left - 8, i * high + high / 2 + 4, names[i], name, { "font-weight": 600 }),
        v.values.map((row, k) => {
          const length = (width - left - 60) * Math.abs(row[i]) / top, y = i * high + 5 + 10 * k;
          return [tip(svg("rect", { x: left, y, height: per > 1 ? 9 : 12, width: Math.max(length, 0.5), fill: colour(per > 1 ? k : 0), tabindex: 0 }), `${name}${per > 1 ? ", " + w.rows[k] : ""}: ${percent(row[i])} of the weight` + (s ? `\nbetween ${percent(s.low[i])} and ${percent(s.high[i])} over resamples` : "")),
            s ? line(left + (width - left - 60) * s.low[i] / top, y + 6, left + (width - left - 60) * s.high[i] / top, y + 6, { stroke: "var(--ink)", "stroke-width": 2 }) : null,
            per > 1 ? null : words(left + Math.max(length, s ? (width - left - 60) * s.high[i] / top : 0) + 6, y + 10, percent(row[i]), { class: "soft" })];
        })]));
    }, "Shares of the views in the weight");
  }

  // -- similarity -------------------------------------------------------------------------------------------
  function similaritySection() {
    const s = data.similarity;
    if (!s) return null;
    const M = s.names.length;
    const draw = (width) => {
      const left = Math.min(14 + Math.max(...s.names.map(measure)), width * 0.5), size = Math.max(4, Math.min(30, (width - left - 8) / M));
      const names = fitAll(s.names, left - 12), step = size < 11 ? Math.ceil(11 / size) : 1, up = Math.max(0, 8 - size / 2);
      const cells = [];
      for (let i = 0; i < M; i++) {
        if (i % step === 0) cells.push(label(left - 6, up + i * size + size / 2 + 4, names[i], s.names[i]));
        for (let j = 0; j < M; j++) {
          const value = s.values[i][j];
          cells.push(tip(svg("rect", { x: left + j * size, y: up + i * size, width: size - 0.5, height: size - 0.5, fill: value < 0 ? "var(--other)" : "var(--accent)", "fill-opacity": Math.min(1, Math.abs(value)).toFixed(3) }),
            `${s.names[i]}\n${s.names[j]}\nalignment ${number(value)}`));
        }
      }
      return canvas(width, M * size + 2 * up + 4, cells);
    };
    return section("similarity", "Which kernels say the same", "Centred alignment between kernels, like beside like; full colour is 1. "
      + "Kernels in one block stand for each other: the total weight of a block means more than the single ones.", chart(draw, "Similarity of kernels"));
  }

  // -- lines ------------------------------------------------------------------------------------------------
  function polyline(points, attributes, text) {
    const path = points.map(([x, y], i) => (i ? "L" : "M") + x.toFixed(1) + " " + y.toFixed(1)).join("");
    return [svg("path", { d: path, fill: "none", "stroke-width": 2, ...attributes }),
      tip(svg("path", { d: path, fill: "none", stroke: "transparent", "stroke-width": 12 }), text)];
  }

  function convergenceSection() {
    const c = data.convergence;
    if (!c) return null;
    let against = "seconds";
    const quantity = c.lines[0].quantity, log = quantity === "gap";
    const title = { gap: "relative duality gap", objective: "objective", bound: "lower bound on the objective" }[quantity];
    const box = { left: 62, right: 14, bottom: 38 }, height = 250, reached = quantity === "bound" && c.objective !== null;
    const dashed = (width, y, text) => [line(box.left, y, width - box.right, y, { stroke: "var(--other)", "stroke-dasharray": "5 4" }), words(width - box.right, y - 5, text, { "text-anchor": "end", class: "soft halo" })];
    const says = { gap: "The gap bounds how far the objective is above the best that any weights and any machine reach; below the dashed line the fit was done.",
      bound: "What no weights and no machine can get below, as far as it is proven after each pass" + (reached ? "; dashed, the objective that the model reached. The fit is done where they meet: the distance, relative to the objective, is the gap." : "."),
      objective: "What is minimised, step by step: flat where the fit was done. No bound says how far below it another solution may be." }[quantity];
    const picture = chart((width) => {
      const points = c.lines.map((one) => one.values.map((v, i) => [against === "seconds" ? one.seconds[i] : i + 1, log && v !== null ? Math.max(v, 1e-16) : v, one.active[i]]).filter((p) => p[1] !== null));
      const xs = points.flat().map((p) => p[0]), ys = points.flat().map((p) => p[1]);
      if (log && c.tol) ys.push(c.tol);
      if (reached) ys.push(c.objective);
      const pad = log ? 1 : 0.05 * (Math.max(...ys) - Math.min(...ys) || 1);
      const x = scale(Math.min(0, ...xs), Math.max(...xs), box.left, width - box.right);
      const y = scale(log ? Math.min(...ys) / 1.5 : Math.min(...ys) - pad, log ? Math.max(...ys) * 1.5 : Math.max(...ys) + pad, height - box.bottom, 24, log);
      return canvas(width, height, frame(width, height, x, y, box, [against === "seconds" ? "seconds" : "step", title]),
        log && c.tol ? dashed(width, y(c.tol), "tol") : reached ? dashed(width, y(c.objective), "objective of the model") : null,
        points.map((line_, k) => [polyline(line_.map((p) => [x(p[0]), y(p[1])]), { stroke: colour(k) }, c.lines[k].label || title),
          line_.map((p) => tip(svg("circle", { cx: x(p[0]), cy: y(p[1]), r: 4, fill: colour(k), tabindex: 0 }),
            `${c.lines[k].label ? c.lines[k].label + "\n" : ""}${title} ${number(p[1])}\n${numberOf(p[2], "kernel")} with weight\n${number(p[0])} ${against === "seconds" ? "s" : "th step"}`))]));
    }, "Convergence");
    const buttons = toggles([["seconds", "against time"], ["steps", "against steps"]], "seconds", (value) => { against = value; picture.paint(); });
    const legend = c.lines.length > 1 ? legendOf(c.lines.map((one) => one.label)) : null;
    return section("convergence", "How the fit converged", says,
      el("div", { class: "controls" }, buttons), picture, legend);
  }
  const legendOf = (names, index) => el("div", { class: "legend" }, names.map((name, i) => el("span", {}, el("i", { style: `background:${colour(index ? index[i] : i)}` }), name)));

  // Charts with one weight for each kernel, of models with more.
  const several = () => data.weights.targets ? ", the largest over the targets" : !data.weights.rows ? "" : `, the largest over the ${data.gates ? "clusters" : "rows of the table"}`;

  function pathSection() {
    const p = data.path;
    if (!p) return null;
    const box = { left: 52, right: 14, bottom: 38 }, height = 270, shown = Math.min(9, p.names.length);
    const picture = !shown ? null : chart((width) => {
      const x = scale(p.C[0], p.C.at(-1), box.left, width - box.right, true), y = scale(Math.min(0, ...p.weights.flat()), largest(p.weights.flat()) * 1.03, height - box.bottom, 24);
      const marks = p.chosen ? [line(x(p.chosen), 20, x(p.chosen), height - box.bottom, { stroke: "var(--muted)", "stroke-dasharray": "3 4" }), words(Math.max(x(p.chosen), 12 + measure("weight") + measure("C = " + number(p.chosen)) / 2), 14, "C = " + number(p.chosen), { "text-anchor": "middle", class: "soft" })] : [];
      return canvas(width, height, frame(width, height, x, y, box, ["C: larger fits the data more closely", "weight"]), marks,
        p.weights.map((row, k) => polyline(row.map((v, i) => [x(p.C[i]), y(v)]), k < shown ? { stroke: colour(k) } : { stroke: "var(--muted)", "stroke-width": 1, opacity: 0.5 }, p.names[k])).reverse());
    }, "Path");
    const scores = p.score ? chart((width) => {
      const high = 130, x = scale(p.C[0], p.C.at(-1), box.left, width - box.right, true), ok = p.score.filter((v) => v !== null);
      const y = scale(Math.min(...ok), Math.max(...ok), high - box.bottom, 24);
      const known = p.score.flatMap((v, i) => v === null ? [] : [[x(p.C[i]), y(v)]]);
      return canvas(width, high, frame(width, high, x, y, box, ["C", "score"]), polyline(known, { stroke: "var(--accent)" }, "cross-validated score"));
    }, "Scores along C") : null;
    if (!shown) return section("path", "Score along C", "Cross-validated scores for other costs of errors; the one kernel has all the weight for each of them.", scores);
    return section("path", "Weights along C", "What the weights would be for other costs of errors" + several() + ". Weights that hold over a decade or more are worth more than those that come and go.",
      picture, legendOf(p.names.slice(0, shown)), scores);
  }

  // -- contributions ----------------------------------------------------------------------------------------
  function contributionsSection() {
    const c = data.contributions;
    if (!c || !c.samples.length) return null;
    let chosen = 0;
    const draw = (width) => {
      const one = c.samples[chosen], rank = order(one.parts).filter((m) => one.parts[m] !== 0), kept = rank.slice(0, 12), rest = rank.slice(12);
      const rows = kept.map((m) => [c.names[m], one.parts[m]]);
      if (rest.length) rows.push([`${rest.length} other${rest.length > 1 ? "s" : ""}`, rest.reduce((sum, m) => sum + one.parts[m], 0)]);
      rows.push(["intercept", one.intercept]);
      let end = 0;
      const steps = rows.map(([name, value]) => { const from = end; end += value; return { name, value, from, to: end }; });
      steps.push({ name: "decision", value: one.decision, from: 0, to: one.decision, total: true });
      const ends = [0, ...steps.flatMap((s) => [s.from, s.to])], left = Math.min(230, width * 0.42);
      const says = steps.map((s) => (s.value < 0 ? "−" : "+") + number(Math.abs(s.value))), room = (up) => 10 + Math.max(0, ...says.filter((_, i) => steps[i].value >= 0 === up).map(measure));
      const x = scale(Math.min(...ends), Math.max(...ends), left + room(false), width - room(true)), high = 24, names = fitAll(steps.map((s) => s.name), left - 10);
      return canvas(width, high * steps.length + 10, line(x(0), 0, x(0), high * steps.length, { class: "axis" }), steps.map((s, i) => {
        const a = Math.min(x(s.from), x(s.to)), b = Math.max(x(s.from), x(s.to)), up = s.value >= 0;
        return [label(left - 8, i * high + 16, names[i], s.name, { "font-weight": s.total ? 600 : null }),
          tip(svg("rect", { x: a, width: Math.max(1, b - a), y: i * high + 4, height: 15, fill: s.total ? "var(--muted)" : up ? "var(--accent)" : "var(--other)", tabindex: 0 }), `${s.name}: ${number(s.value, 4)}`),
          words(up ? b + 5 : a - 5, i * high + 16, says[i], { "text-anchor": up ? "start" : "end", class: "soft halo" })];
      }));
    };
    const picture = chart(draw, "Contributions");
    const pick = el("select", { id: "sample", "aria-label": "Sample", onchange: (e) => { chosen = Number(e.target.value); picture.paint(); } },
      c.samples.map((one, i) => el("option", { value: i }, `${one.name ?? "row " + (one.row + 1)} (${one.why}): ${one.truth}, predicted ${one.predicted}`)));
    return section("contributions", "Why single samples were decided so", "What each kernel adds to the decision; the bars lead from zero to it. Samples of the training data" + (c.samples[0].name ? "." : ", by their rows, counted from 1."), el("div", { class: "controls" }, pick), picture);
  }

  // -- interactions -----------------------------------------------------------------------------------------
  function interactionsSection() {
    const g = data.interactions;
    if (!g) return null;
    const nodes = [...g.nodes].sort((a, b) => b.weight - a.weight).slice(0, 40), place = new Map(nodes.map((n, i) => [n.name, i]));
    const edges = g.edges.filter((e) => e.between.every((name) => place.has(name)));
    const draw = (width) => {
      const size = Math.min(width, 560), margin = Math.min(86, size * 0.22), r = size / 2 - margin, cx = width / 2, cy = size / 2;
      const at = (i) => { const a = 2 * Math.PI * i / nodes.length - Math.PI / 2; return [cx + r * Math.cos(a), cy + r * Math.sin(a), a]; };
      const most = largest(edges.map((e) => e.weight)), big = largest(nodes.map((n) => n.weight));
      return canvas(width, size, edges.map((e) => {
        const [x1, y1] = at(place.get(e.between[0])), [x2, y2] = at(place.get(e.between[1]));
        const d = `M${x1} ${y1}Q${(x1 + x2) / 4 + cx / 2} ${(y1 + y2) / 4 + cy / 2} ${x2} ${y2}`;
        return [svg("path", { d, fill: "none", stroke: "var(--accent)", "stroke-opacity": 0.55, "stroke-width": 1 + 7 * e.weight / most }),
          tip(svg("path", { d, fill: "none", stroke: "transparent", "stroke-width": 12 }), `${e.between[0]} and ${e.between[1]}\nweight ${number(e.weight)}`)];
      }), nodes.map((n, i) => {
        const [x, y, a] = at(i), out = r + 18, right = Math.cos(a) >= -0.01, upright = Math.abs(Math.cos(a)) < 0.2;
        const room = upright ? 2 * margin : Math.max(30, width / 2 - out * Math.abs(Math.cos(a)) - 2);
        return [tip(svg("circle", { cx: x, cy: y, r: 4 + 9 * Math.sqrt(n.weight / big), fill: "var(--c1)", tabindex: 0 }), `${n.name}\nin products of total weight ${number(n.weight)}`),
          label(cx + out * Math.cos(a), cy + out * Math.sin(a) + 4, fit(n.name, room), n.name, { "text-anchor": upright ? "middle" : right ? "start" : "end" })];
      }));
    };
    const rows = g.products.map((p) => [p.name, p.features.length, p.weight]);
    return section("interactions", "Interactions", "Features joined by the products that were selected; thicker is heavier.", chart(draw, "Interactions"),
      el("details", {}, el("summary", {}, `All ${rows.length} products`), tall(sortable(["product", "features", "weight"], rows, ["name", "number", "number"]))));
  }

  // -- widths -----------------------------------------------------------------------------------------------
  function widthsSection() {
    const t = data.widths;
    if (!t) return null;
    const s = t.stability, all = [...t.values.flat(), ...(!s ? [] : t.features ? [...s.low, ...s.high].filter((v) => v !== null) : s.values.flat())];
    const low = Math.min(...all) / 1.6, high = Math.max(...all) * 1.6;
    const draw = (width) => {
      if (t.features) {
        const rows = order(t.features.map((_, f) => 1 / Math.min(...t.values.map((v) => v[f])))).slice(0, 40), left = Math.min(200, width * 0.4);
        const names = fitAll(rows.map((f) => t.features[f]), left - 10), axis = "width: small where the feature matters";
        const x = scale(low, high, left, width - 14, true), height = 22 * rows.length + 40, top = largest(t.weights);
        return canvas(width, height, x.ticks.map((k) => [line(x(k), 4, x(k), height - 36, { class: "grid" }), words(x(k), height - 20, number(k), { "text-anchor": "middle", class: "soft" })]),
          words(Math.min((left + width) / 2, width - measure(axis) / 2), height - 3, axis, { "text-anchor": "middle" }),
          rows.map((f, i) => [label(left - 8, 22 * i + 18, names[i], t.features[f]),
            s && s.low[f] !== null ? tip(line(x(s.low[f]), 22 * i + 14, x(s.high[f]), 22 * i + 14, { stroke: "var(--muted)", "stroke-width": 3 }), `${t.features[f]}\nbetween ${number(s.low[f])} and ${number(s.high[f])} over resamples`) : null,
            t.values.map((v, k) => t.weights[k] > 0 ? tip(svg("circle", { cx: x(v[f]), cy: 22 * i + 14, r: 3 + 6 * Math.sqrt(t.weights[k] / top), fill: colour(k), "fill-opacity": 0.75, tabindex: 0 }), `${t.features[f]}\nwidth ${number(v[f])} in a kernel of weight ${number(t.weights[k])}`) : null)]));
      }
      const height = 220, box = { left: 52, right: 14, bottom: 38 }, x = scale(low, high, box.left, width - box.right, true), y = scale(0, largest([...t.weights, ...(s ? s.weights : [])]) * 1.05, height - box.bottom, 24);
      const others = s ? s.values.map(([v], k) => line(x(v), y(0), x(v), y(s.weights[k]), { stroke: "var(--muted)", "stroke-opacity": 0.35 })) : null;
      return canvas(width, height, frame(width, height, x, y, box, [t.parameter, "weight"]), others, t.values.map(([v], k) => t.weights[k] > 0
        ? [line(x(v), y(0), x(v), y(t.weights[k]), { stroke: "var(--accent)", "stroke-width": 3 }), tip(svg("circle", { cx: x(v), cy: y(t.weights[k]), r: 5, fill: "var(--accent)", tabindex: 0 }), `${t.names[k]}\nweight ${number(t.weights[k])}`
          + (s ? `\nin ${percent(s.frequency[k])} of the halves` + (s.low[k] === null ? "" : `, between ${number(s.low[k])} and ${number(s.high[k])}`) : "")),
          s && s.low[k] !== null ? line(x(s.low[k]), y(t.weights[k]), x(s.high[k]), y(t.weights[k]), { stroke: "var(--ink)", "stroke-width": 2 }) : null]
        : tip(svg("circle", { cx: x(v), cy: y(0), r: 3.5, fill: "var(--card)", stroke: "var(--muted)" }), `${t.names[k]}\nweight zero`)));
    };
    const what = t.features
      ? `Kernels with a width for every feature: the smaller, the more the feature matters. A dot is the width in one kernel, larger where that has more weight${several()}.`
        + (!s ? "" : ` Grey lines: where the mean over the kernels, by weight, lies in ${percent(s.level ?? 0.95)} of ${s.resamples} random halves of the data; a dot need not lie on its line.`)
      : `Where on their axis the kernels lie. The height of a dot is its weight${several()}; hollow ones have none.`
        + (!s ? "" : ` Faint lines: kernels of ${s.resamples} random halves of the data. Black lines: where ${percent(s.level ?? 0.95)} of those widths lie that are nearest to the dot.`);
    const linear = t.features ? " A wide feature may still have a strong effect, one that is about linear over the data: what the model loses without a column is said under the columns that matter." : "";
    const units = linear + " Widths are in units of the columns as the kernels get them" + (t.prepared ? ", after preparation: of a column that was standardised, in its standard deviations." : ".");
    const used = t.names.map((_, k) => k).filter((k) => t.weights[k] > 0);
    return section("widths", "Widths", what + (t.parameter === "frequency" ? "" : units), chart(draw, "Widths"), t.features && used.length > 1 ? legendOf(used.map((k) => `${t.names[k]}, weight ${number(t.weights[k])}`), used) : null);
  }

  // -- gates ------------------------------------------------------------------------------------------------
  function gatesSection() {
    const g = data.gates;
    if (!g) return null;
    const draw = (width) => {
      const left = Math.min(150, width * 0.34), span = width - left - 8, names = fitAll(g.groups, left - 10);
      return canvas(width, 26 * g.groups.length + 4, g.groups.map((name, i) => {
        let x = left;
        return [label(left - 8, 26 * i + 17, names[i], name), g.shares[i].map((share, j) => {
          const part = tip(svg("rect", { x, y: 26 * i + 4, height: 18, width: Math.max(0, span * share - 1), fill: colour(j), tabindex: 0 }), `${name}\ncluster ${j}: ${percent(share)}`);
          x += span * share;
          return part;
        })];
      }));
    };
    const sure = g.sure.slice(9).reduce((a, b) => a + b, 0) / g.sure.reduce((a, b) => a + b, 0);
    return section("gates", "Regions", `Which share of the samples belongs to which cluster; ${percent(sure)} of them belong to one by more than 90 %. The weights of each cluster are in the table above.`,
      chart(draw, "Gates"), legendOf(Array.from({ length: g.clusters }, (_, j) => `cluster ${j}`)));
  }

  // -- call -------------------------------------------------------------------------------------------------
  function callSection() {
    const block = (text, id) => {
      const code = el("pre", { id }, text);
      const copy = el("button", {
        type: "button", onclick: async (e) => {
          try { await navigator.clipboard.writeText(text); e.target.textContent = "Copied"; } catch {
            getSelection().selectAllChildren(code); e.target.textContent = "Selected: press Ctrl-C";
          }
        },
      }, "Copy");
      return [code, el("div", { class: "controls" }, copy)];
    };
    return section("call", "How to make this again", null, data.call ? block(data.call, "command") : null, data.model.length > 500
      ? el("details", {}, el("summary", {}, "The model in Python"), block(data.model, "model")) : block(data.model, "model"));
  }

  // -- what is missing --------------------------------------------------------------------------------------
  function leftOutSection() {
    const rows = Object.entries(data.left_out || {});
    if (!rows.length) return null;
    return section("left-out", "What this report leaves out", null, el("dl", {}, rows.flatMap(([title, why]) => [el("dt", {}, title), el("dd", {}, why)])));
  }

  const parts = { Header: header, Summary: cards, Contents: () => contents, Data: dataSection, Scores: scoresSection, Survival: survivalSection, Importance: importanceSection, Chance: chanceSection, Selection: selectionSection, Weights: weightsSection,
    Regions: gatesSection, Similarity: similaritySection, Interactions: interactionsSection, Widths: widthsSection, Contributions: contributionsSection, Path: pathSection, Convergence: convergenceSection,
    "What is left out": leftOutSection, Call: callSection };
  report.append(...Object.entries(parts).map(([what, make]) => attempt(what, make)).filter(Boolean));
  repaint();
  new ResizeObserver(repaint).observe(report);
  addEventListener("beforeprint", () => { document.querySelectorAll("details").forEach((d) => { d.open = true; }); repaint(); });
})();
