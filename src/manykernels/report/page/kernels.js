// -- chance -----------------------------------------------------------------------------------------------
const shownP = (p) => p < 0.001 ? "< 0.001" : number(p, 2);
function testsOf(rows, what) {
  const made = rows.name.map((name, i) => [name, rows.p_value[i], rows.p_adjusted[i]]), few = made.filter((row) => row[2] <= 0.05).length;
  return [el("h4", {}, `Tests of each ${what}`), el("p", {}, `${few} of ${numberOf(made.length, what)} ${few === 1 ? "is" : "are"} related to the target (adjusted p at most 0.05).`),
    tall(sortable([what, "p", "adjusted p"], made, ["name", "number", "number"], (row, c) => c && el("span", { style: c === 2 && row[2] <= 0.05 ? "font-weight:600" : null }, shownP(row[c]))))];
}

function stableOf(rows, what) {
  const made = rows.name.map((name, i) => [name, rows.frequency[i], rows.selected[i] ? "yes" : "no"]).filter((row) => row[1] > 0);
  return [data.chance.tests[what + "s"] ? el("h4", {}, `How often each ${what} is selected`) : null, el("p", { class: "hint" }, `The model was learned on ${2 * rows.n_pairs} random halves of the samples. A half selects ${rows.n_selected > 1 ? `the ${rows.n_selected} ${what}s with the largest weights` : `the ${what} with the largest weight`}. `
    + `A ${what} is called stable if at least ${percent(rows.threshold)} of the halves select it. On average, at most ${number(rows.expected_false, 2)} of the stable ${what}s ${rows.expected_false === 1 ? "is" : "are"} there by chance: a half selects them no more often than a random choice would (stability selection, Shah and Samworth 2013). `
    + `A stable ${what} is one that the model returns to. It need not be related to the target: a narrow kernel can memorise the samples of every half.` + (data.chance.tests[what + "s"] ? " The p-values above test that relation." : "")
    + (data.selection ? " The search chose the candidates on all samples, which this bound does not account for." : "")),
    tall(sortable([what, rows.n_selected > 1 ? `among the ${rows.n_selected} largest in` : "largest in", "stable"], made, ["name", "number", ""], (row, c) => c === 1 && percent(row[1])))];
}

function chanceOf(what) {
  const c = data.chance, tests = c && c.tests[what + "s"], stable = c && c.stable[what + "s"];
  if (!tests && !stable) return null;
  const hint = tests ? `Each ${what} is tested by itself, whatever its weight: is it related to the target at all` + (c.covariates.length ? `, beyond ${c.covariates.join(", ")}` : "") + `? p is the probability of a relation at least as strong by chance alone. The adjusted p accounts for the number of tests in the table (Holm). `
    + `A small p does not mean that the model needs the ${what}: others may carry the same information.` : "";
  return section("chance" + (what === "view" ? "-views" : ""), tests ? `Which ${what}s are related to the target?` : `How often each ${what} is selected`, hint, tests ? testsOf(tests, what) : null, stable ? stableOf(stable, what) : null);
}

// Scores of the folds that made a choice beside the score at the top, which may be lower or not.
function honest(s) {
  const own = s.score[s.strategy.indexOf(s.chosen)], top = data.scores && data.scores.searched === "anew" ? data.scores.rows[0].mean : null;
  const made = "These folds made the choice, and the best of several scores tends to be too good";
  if (top === null) return made + (data.scores ? ", so that the scores of the chosen strategy are a little too good." : ", so that new samples may be predicted a little worse.");
  if (s.by !== "error") return made + `. Rely on the ${data.scores.metric} at the top instead: there the search was repeated in each fold, without the held-out samples.`;
  return made + `. Rely on the ${data.scores.metric} at the top, ${score(top)}, instead: there the search was repeated in each fold, without the held-out samples. ` + (own > top
    ? `The ${score(own)} of the chosen strategy here is higher for this reason, or by chance.` : `It is no lower than the ${score(own)} of the chosen strategy here. That happens by chance: the folds are not the same.`);
}

function selectionSection() {
  const s = data.selection;
  if (!s) return null;
  const byError = s.by === "error", all = largest(s.folds);
  const rows = s.strategy.map((name, i) => [name + (name === s.chosen ? " (chosen)" : ""), s.norm[i], s.C[i], s.error[i], s.score[i], s.std[i], s.folds[i], s.seconds[i]]);
  const hint = "Each strategy is shown at its best norm and C, in the same folds. " + (byError && data.data.target.task === "survival" ? "The strategy with the smallest error is chosen. The error comes from the partial likelihood of held-out samples: predicting the same risk for all samples gives 1, and smaller is better." : byError ? "The strategy with the smallest squared error is chosen"
    + (data.data.target.task === "classification" ? " (of decisions clipped to ±1; it can differ between models with the same score)." : ".") : "The strategy with the best score is chosen.")
    + (s.folds.some((f) => f < all) ? " Strategies that were far behind in the first fold were not tried in the others." : "")
    + " " + honest(s)
    + (s.end ? ` The C that was chosen is the ${s.end} that was tried: ${s.end === "largest" ? "larger" : "smaller"} ones may be better.` : "")
    + (s.strategy.length > 1 || s.chosen !== "finite" ? "" : " Only the weights of the kernels were tried. Widths for every feature and products of features are tried for tables without views, if no kernels are given.");
  const again = s.again, total = again ? again.counts.reduce((a, b) => a + b, 0) : 0;
  const repeated = !again ? [el("p", { class: "hint" }, "The choice was not repeated on other samples, so that it is not known how certain it is.")]
    : [el("h4", {}, "How certain is the choice?"), el("p", { class: "hint" }, again.names.length > 1 ? `The models below score about as well as the best one in the folds; the first was chosen on all samples. They were learned on ${total} random halves of the data. Each bar counts how often a model was the best on the other half.`
      : "All other models were clearly worse in the folds, so that there was nothing to choose again."), again.names.length > 1 ? chart((width) => counted(again.names, again.counts, `of ${total} halves`, width, 290), "Choices") : null];
  return section("selection", "What was tried", hint, el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table: strategies" }, sortable(["strategy", "norm", "C", "error in the search", `${!byError ? "score" : ({ classification: "accuracy", survival: "C index" })[data.data.target.task] || "R²"} in the search`, "± over folds", "folds", "seconds"], rows,
    ["name", ...Array(7).fill("number")], (row, c) => c === 2 ? number(row[c]) : c === 4 || c === 5 ? score(row[c]) : c === 7 ? number(row[c], 2) : null)), repeated);
}

// -- weights ----------------------------------------------------------------------------------------------
function weightsSection() {
  const w = data.weights;
  if (w.names.length === 1) return section("weights", "Weights", `${w.names[0]} has all the weight: ${data.selection ? "the search found no combination that predicts better than this kernel alone" : "there is one kernel"}. `
    + "So there are no weights to compare."
    + (w.stability && w.stability.frequency && data.selection && data.selection.again ? ` It has weight in ${percent(w.stability.frequency[0])} of the models that were chosen on halves of the data.` : "")
    + (data.importance ? " The importance of columns above shows what it uses." : ""));
  const several = w.values.length > 1, s = w.stability || w.spread;
  const sizes = w.names.map((_, m) => Math.max(...w.values.map((row) => Math.abs(row[m]))));
  const top = largest(s ? [...sizes, ...s.high] : sizes);
  const index = order(sizes);
  const titles = ["kernel", ...(several ? w.rows : ["weight", ""]), ...(s && s.frequency ? ["nonzero in"] : [])];
  const make = (m) => [w.names[m], ...(several ? w.values.map((row) => row[m]) : [w.values[0][m], m]), ...(s && s.frequency ? [s.frequency[m]] : [])];
  const classes = ["name", ...(several ? w.rows.map(() => "number") : ["number", "bar"]), "number"];
  const cell = (row, c) => {
    const last = s && s.frequency && c === titles.length - 1;
    if (last) return percent(row[c]);
    if (several && c > 0) return shaded(row[c], top, row[c] === 0 ? "0" : number(row[c]));
    if (!several && c === 2) return bar(row[2], top);
    return null;
  };
  function bar(m, most) {
    const value = w.values[0][m], at = (v) => 100 * Math.max(0, Math.min(1, Math.abs(v) / most));
    const parts = [svg("rect", { x: 0, y: 3, height: 10, width: at(value) + "%", fill: value < 0 ? "var(--other)" : "var(--accent)" })];
    if (value !== 0 && s && s.low[m] !== null) parts.push(line(at(s.low[m]) + "%", 8, at(s.high[m]) + "%", 8, { stroke: "var(--ink)", "stroke-width": 2 }));
    return tip(svg("svg", { width: "100%", height: 16, tabindex: 0 }, parts),
      `${w.names[m]}\nweight ${number(value, 4)}` + (s && s.low[m] !== null ? `\nbetween ${number(s.low[m])} and ${number(s.high[m])} ${w.spread ? "in nine of ten targets" : "over resamples"}` : ""));
  }
  const zeros = sizes.filter((v) => v === 0).length;
  let hidden = zeros > 12, words_ = "";
  const wanted = () => index.filter((m) => (!hidden || sizes[m] > 0) && w.names[m].toLowerCase().includes(words_));
  const table = sortable(titles, wanted().map(make), classes, cell);
  const refresh = () => table.fill(wanted().map(make));
  const filter = el("input", { type: "search", id: "filter", placeholder: "find a kernel", "aria-label": "Find a kernel", oninput: (e) => { words_ = e.target.value.toLowerCase(); refresh(); } });
  const offer = () => `${hidden ? "Show" : "Hide"} the ${zeros} kernels of weight zero`;
  const zero = zeros ? el("button", { type: "button", id: "zeros", onclick: () => { hidden = !hidden; zero.textContent = offer(); refresh(); } }, offer()) : null;
  const guesses = data.scores && data.scores.verdict && !data.scores.verdict.better;
  const hint = (guesses ? "The model predicts no better than guessing, so that these weights describe noise, even where they are optimal or stable. " : "")
    + data.certificate + (w.spread ? ` Each of the ${w.targets} targets has its own weights: a bar shows their mean, and the line over it spans nine of ten targets.` : s ? ` The line over each bar spans ${percent(s.level ?? 0.95)} of the weights learned on random halves of the data. `
    + "A half has fewer samples, so that the line need not contain the weight learned on all of them." + (s.frequency ? " “Nonzero in” is the share of these halves in which the kernel has any weight." : "") + halves() : "");
  return section("weights", "Weights", hint, el("div", { class: "controls" }, filter, zero), tall(table));
}

// What "nonzero in" is about, after a search.
const halves = () => !data.selection ? "" : data.selection.again ? " In each half the search chose again among the models that came near the best; a kernel that is not in the chosen model has no weight there."
  : " The choice of the search was not repeated in the halves.";

function sharesSection() {
  const w = data.weights;
  if (!w.views) return null;
  const v = w.views, s = v.stability, known = data.importance && data.importance.views, without = known ? known.names.filter((name) => !v.names.includes(name)) : [];
  const top = largest([...v.values.flat(), ...(s ? s.high : [])]);
  const picture = chart((width) => {
    const left = Math.min(180, width * 0.36), rows = v.names, per = v.values.length, high = 10 * per + 12, names = fitAll(rows, left - 10);
    return canvas(width, rows.length * high + 8, rows.map((name, i) => [
      label(left - 8, i * high + high / 2 + 4, names[i], name, { "font-weight": 600 }),
      v.values.map((row, k) => {
        const length = (width - left - 60) * Math.abs(row[i]) / top, y = i * high + 5 + 10 * k;
        return [tip(svg("rect", { x: left, y, height: per > 1 ? 9 : 12, width: Math.max(length, 0.5), fill: colour(per > 1 ? k : 0), tabindex: 0 }), `${name}${per > 1 ? ", " + w.rows[k] : ""}: ${percent(row[i])} of the weight` + (s ? `\nbetween ${percent(s.low[i])} and ${percent(s.high[i])} over resamples` : "")),
          s ? line(left + (width - left - 60) * s.low[i] / top, y + 6, left + (width - left - 60) * s.high[i] / top, y + 6, { stroke: "var(--ink)", "stroke-width": 2 }) : null,
          per > 1 ? null : words(left + Math.max(length, s ? (width - left - 60) * s.high[i] / top : 0) + 6, y + 10, percent(row[i]), { class: "soft" })];
      })]));
  }, "Share of the weight of each view", () => ({ titles: ["view", ...(v.values.length > 1 ? w.rows : ["share"]), ...(s ? ["from", "to"] : [])], rows: v.names.map((name, i) => [name, ...v.values.map((row) => row[i]), ...(s ? [s.low[i], s.high[i]] : [])]) }));
  return section("shares", "Share of the weight of each view", "The weights of the kernels of each view, added up." + (s ? " The line over each bar spans the shares learned on random halves of the data." : "") + " A view with much weight need not be important for the predictions: see what is lost without it." + (without.length ? ` The model has no kernel of the view${without.length > 1 ? "s" : ""} “${without.join("”, “")}”.` : ""), picture, v.values.length > 1 ? legendOf(w.rows) : null);
}

// -- similarity -------------------------------------------------------------------------------------------
function similaritySection() {
  const s = data.similarity;
  if (!s) return null;
  const M = s.names.length, signs = s.values.some((row) => row.some((v) => v < -0.005));
  const draw = (width) => {
    const room = measure("60") + 12, left = Math.min(18 + room + Math.max(...s.names.map(measure)), width * 0.5), across = Math.max(3, Math.min(30, (width - left - 8) / M)), high = Math.max(14, Math.min(30, across));
    const names = fitAll(s.names, left - 12 - room), every = Math.ceil(measure("60 ") / across), top = 16, cells = [];
    for (let i = 0; i < M; i++) {
      cells.push(label(left - 6 - room, top + i * high + high / 2 + 4, names[i], s.names[i]), words(left - 6, top + i * high + high / 2 + 4, String(i + 1), { "text-anchor": "end", class: "soft" }));
      if (i % every === 0 && left + (i + 0.5) * across + measure(String(i + 1)) / 2 <= width) cells.push(words(left + (i + 0.5) * across, 11, String(i + 1), { "text-anchor": "middle", class: "soft" }));
      for (let j = 0; j < M; j++) {
        const value = s.values[i][j];
        cells.push(tip(svg("rect", { x: left + j * across, y: top + i * high, width: Math.max(across - 0.5, 1), height: high - 0.5, fill: value < 0 ? "var(--other)" : "var(--accent)", "fill-opacity": Math.min(1, Math.abs(value)).toFixed(3) }),
          `${s.names[i]}\n${s.names[j]}\nalignment ${number(value)}`));
      }
    }
    // the colours, from the least to the most
    const start = Math.max(left, measure("alignment") + 8), y = top + M * high + 14, steps = signs ? 20 : 10, low = signs ? -1 : 0, span = Math.min(200, width - start - 20), each = span / steps;
    for (let k = 0; k < steps; k++) {
      const value = low + (k + 0.5) * (1 - low) / steps;
      cells.push(svg("rect", { x: start + k * each, y, width: each + 0.3, height: 11, fill: value < 0 ? "var(--other)" : "var(--accent)", "fill-opacity": Math.abs(value).toFixed(3) }));
    }
    cells.push(svg("rect", { x: start, y, width: span, height: 11, fill: "none", stroke: "var(--line)" }), label(start - 6, y + 10, "alignment", "alignment"),
      (signs ? [-1, 0, 1] : [0, 0.5, 1]).map((v) => words(start + span * (v - low) / (1 - low), y + 25, number(v), { "text-anchor": "middle", class: "soft" })));
    return canvas(width, y + 30, cells);
  };
  return section("similarity", "Which kernels are alike", "Centred alignment between kernels: 1 where two kernels see the same similarities between samples. Columns are numbered like the rows, and similar kernels are side by side. "
    + "Kernels in one block can replace each other, so that the total weight of a block means more than the single weights.", chart(draw, "Similarity of kernels", () => ({ titles: ["kernel", ...s.names], rows: s.names.map((name, i) => [name, ...s.values[i]]) })));
}

// -- along C ----------------------------------------------------------------------------------------------
function pathSection() {
  const p = data.path;
  if (!p) return null;
  const box = { left: 52, right: 14, bottom: 38 }, height = 270, shown = Math.min(9, p.names.length), chosenC = "C = " + number(p.chosen);
  const picture = !shown ? null : chart((width) => {
    const x = scale(p.C[0], p.C.at(-1), box.left, width - box.right, true), y = scale(Math.min(0, ...p.weights.flat()), largest(p.weights.flat()) * 1.03, height - box.bottom, 24);
    const marks = p.chosen ? [line(x(p.chosen), 20, x(p.chosen), height - box.bottom, { stroke: "var(--muted)", "stroke-dasharray": "3 4" }), words(Math.max(x(p.chosen), 12 + measure("weight") + measure("C = " + number(p.chosen)) / 2), 14, "C = " + number(p.chosen), { "text-anchor": "middle", class: "soft" })] : [];
    return canvas(width, height, frame(width, height, x, y, box, ["C: larger fits the data more closely", "weight"]), marks,
      p.weights.map((row, k) => polyline(row.map((v, i) => [x(p.C[i]), y(v)]), k < shown ? { stroke: colour(k) } : { stroke: "var(--muted)", "stroke-width": 1, opacity: 0.5 }, p.names[k])).reverse());
  }, "Path", () => ({ titles: ["C", ...p.names], rows: p.C.map((C, i) => [C, ...p.weights.map((row) => row[i])]) }));
  const scores = p.score ? chart((width) => {
    const high = 130, x = scale(p.C[0], p.C.at(-1), box.left, width - box.right, true), ok = p.score.filter((v) => v !== null);
    const y = scale(Math.min(...ok), Math.max(...ok), high - box.bottom, 24);
    const known = p.score.flatMap((v, i) => v === null ? [] : [[x(p.C[i]), y(v)]]);
    return canvas(width, high, frame(width, high, x, y, box, ["C", "cross-validated score"]), p.chosen ? line(x(p.chosen), 20, x(p.chosen), high - box.bottom, { stroke: "var(--muted)", "stroke-dasharray": "3 4" }) : null, p.chosen && !shown ? words(Math.max(x(p.chosen), 24 + measure("cross-validated score") + measure(chosenC) / 2), 14, chosenC, { "text-anchor": "middle", class: "soft" }) : null, polyline(known, { stroke: "var(--accent)" }, "cross-validated score"));
  }, "Scores along C", () => ({ titles: ["C", "cross-validated score"], rows: p.C.map((C, i) => [C, p.score[i]]) })) : null;
  if (!shown) return section("path", "Score along C", "Cross-validated scores for other values of C, the cost of errors. One kernel has all the weight at each of them." + (data.selection && data.selection.by === "error" ? " The search chose C by the smallest error in the table above, which need not be where this score is highest." : ""), scores);
  return section("path", "Weights along C", "The weights for other values of C, the cost of errors" + several() + ". Weights that stay the same over a wide range of C are more reliable than those that come and go.",
    picture, legendOf(p.names.slice(0, shown)), scores);
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
    // Names keep a line's distance from those below and above: they are moved up and down, away from the middle.
    const out = r + 18, names = nodes.map((_, i) => { const a = at(i)[2]; return { x: out * Math.cos(a), y: out * Math.sin(a), upright: Math.abs(Math.cos(a)) < 1e-6 }; });
    for (const side of [-1, 1]) for (const half of [-1, 1]) {
      let least = -Infinity;
      for (const one of names.filter((n) => (n.upright || n.x * side > 0) && n.y * half > -1e-6).sort((a, b) => (a.y - b.y) * half)) {
        one.y = half * Math.max(half * one.y, least);
        least = half * one.y + 14;
      }
    }
    return canvas(width, size, edges.map((e) => {
      const [x1, y1] = at(place.get(e.between[0])), [x2, y2] = at(place.get(e.between[1]));
      const d = `M${x1} ${y1}Q${(x1 + x2) / 4 + cx / 2} ${(y1 + y2) / 4 + cy / 2} ${x2} ${y2}`;
      return [svg("path", { d, fill: "none", stroke: "var(--accent)", "stroke-opacity": 0.55, "stroke-width": 1 + 7 * e.weight / most }),
        tip(svg("path", { d, fill: "none", stroke: "transparent", "stroke-width": 12 }), `${e.between[0]} and ${e.between[1]}\nweight ${number(e.weight)}`)];
    }), nodes.map((n, i) => {
      const [x, y] = at(i), name = names[i], room = name.upright ? 2 * margin : Math.max(30, width / 2 - Math.abs(name.x) - 2);
      return [tip(svg("circle", { cx: x, cy: y, r: 4 + 9 * Math.sqrt(n.weight / big), fill: "var(--c1)", tabindex: 0 }), `${n.name}\nin products of total weight ${number(n.weight)}`),
        label(cx + name.x, cy + name.y + 4, fit(n.name, room), n.name, { "text-anchor": name.upright ? "middle" : name.x > 0 ? "start" : "end" })];
    }));
  };
  const rows = g.products.map((p) => [p.name, p.features.length, p.weight]);
  return section("interactions", "Interactions", "A line joins two features whose product has weight; the thicker the line, the larger the weight. The larger a dot, the more weight have the products with this feature.", chart(draw, "Interactions"),
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
      + (!s ? "" : ` A grey line spans the weighted mean width in ${percent(s.level ?? 0.95)} of ${s.resamples} random halves of the data; a dot need not lie on its line.`)
    : `Each dot is a kernel at its ${t.parameter}. The height of a dot is its weight${several()}; hollow dots have none.`
      + (!s ? "" : ` Faint lines are kernels learned on ${s.resamples} random halves of the data. A black line spans ${percent(s.level ?? 0.95)} of those that are nearest to its dot.`);
  const linear = t.features ? " A feature with a large width may still have a strong, nearly linear effect: see what is lost without each column." : "";
  const units = linear + " Widths are in units of the columns as the kernels get them" + (t.prepared ? ", after preparation: for a standardised column, the unit is its standard deviation." : ".");
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
  return section("gates", "Regions", `The share of the samples in each cluster. ${percent(sure)} of the samples belong to one cluster by more than 90 %. The table above has the weights of each cluster.`,
    chart(draw, "Gates"), legendOf(Array.from({ length: g.clusters }, (_, j) => `cluster ${j}`)));
}

