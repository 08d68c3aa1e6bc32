// -- scores -----------------------------------------------------------------------------------------------
function scoresSection() {
  const s = data.scores;
  if (!s) return null;
  const constant = s.chance && s.chance.mean !== null ? [{ name: "guessing (a constant)", ...s.chance }] : [];
  const rows = [...s.rows, ...constant].filter((row) => row.mean !== null), null_ = s.permutation ? s.permutation.null : [];
  const said = (name) => name === "learned" ? "the model" : name;
  const draw = (width) => {
    const left = Math.min(210, width * 0.42), ends = [...rows.flatMap((r) => [...r.folds, r.mean - r.std, r.mean + r.std]), ...null_];
    const low = Math.min(...ends), high = Math.max(...ends), pad = 0.06 * (high - low || 1), top = 18;
    const x = scale(low - pad, high + pad, left, width - 16), height = 30 * rows.length + 48 + top, names = fitAll(rows.map((row) => said(row.name)), left - 12);
    const guess = constant.length ? constant[0].mean : null, bottom = height - 42;
    const band = null_.length ? tip(svg("rect", { x: x(Math.min(...null_)), width: Math.max(2, x(Math.max(...null_)) - x(Math.min(...null_))), y: top, height: bottom - top, fill: "var(--muted)", "fill-opacity": 0.16, tabindex: 0 }),
      `the model on ${null_.length} permutations of the target: from ${number(Math.min(...null_))} to ${number(Math.max(...null_))}`) : null;
    const text = "guessing" + (s.permutation ? `, ${chances(s.permutation.p_value)}` : "");
    return canvas(width, height, x.ticks.map((t) => [line(x(t), top, x(t), bottom, { class: "grid" }),
      words(x(t), height - 26, number(t), { "text-anchor": "middle", class: "soft" })]), words((left + width - 16) / 2, height - 6, `${s.metric} on held-out samples`, { "text-anchor": "middle" }), band,
      guess === null ? null : [line(x(guess), top, x(guess), bottom, { stroke: "var(--other)", "stroke-dasharray": "5 4" }),
        words(Math.max(left + measure(text) / 2, Math.min(x(guess), width - measure(text) / 2 - 2)), 11, text, { "text-anchor": "middle", class: "soft" })],
      rows.map((row, i) => {
        const y = 30 * i + 20 + top, own = row === s.rows[0], fill = own ? "var(--accent)" : "var(--muted)";
        return [label(left - 10, y + 4, names[i], said(row.name), { "font-weight": own ? 600 : null }),
          line(x(row.mean - row.std), y, x(row.mean + row.std), y, { stroke: fill, "stroke-width": 2 }),
          row.folds.map((v) => svg("circle", { cx: x(v), cy: y, r: 2.5, fill, opacity: 0.45 })),
          tip(svg("circle", { cx: x(row.mean), cy: y, r: 5.5, fill, tabindex: 0 }), `${said(row.name)}\n${plusMinus(row.mean, row.std, 4)}`)];
      }));
  };
  const numbers = () => ({ titles: ["method", "mean", "standard deviation", ...rows[0].folds.map((_, k) => `fold ${k + 1}`)], rows: rows.map((row) => [said(row.name), row.mean, row.std, ...row.folds]) });
  const known = s.rows.slice(data.models ? 0 : 1).filter((row) => data.alternatives[row.name]).map((row) => `${row.name}: ${data.alternatives[row.name]}`);
  return section("scores", "Against guessing and alternatives", `${s.metric[0].toUpperCase()}${s.metric.slice(1)} on samples that the models did not learn from: mean (large dot), standard deviation (line) and each fold (small dots). `
    + (data.models ? "All methods have the same folds, and choose their options within them." : "All methods have the same folds, and the alternatives choose their options within them.") + (!data.selection ? "" : s.searched === "anew" ? " So does the model: its search is repeated in each fold."
      : " The options of the model itself were chosen on all samples, so that its score is a little too good.")
    + (null_.length ? ` The grey band spans the scores of the model on ${null_.length} permutations of the target.` : ""), rows.length ? chart(draw, "Scores", numbers) : null,
    s.verdict ? el("p", { id: "guessing" }, s.verdict.sentence) : null,
    s.rival ? el("p", { id: "rival" }, s.rival.sentence + " The interval and p come from a corrected t-test, because folds share training samples" + (s.rival.p_adjusted === null ? "." : "; p is adjusted for the number of alternatives (Holm), and the interval is for this comparison alone.")) : null,
    known.length ? el("p", { class: "hint" }, `The ${data.models ? "methods" : "alternatives"}: ${known.join("; ")}.`) : null,
    s.rows.filter((row) => row.mean === null).map((row) => el("p", { class: "failed" }, el("b", {}, said(row.name)), ` is not compared: ${row.error || "it has no score."}`)));
}

// -- classes ----------------------------------------------------------------------------------------------
const shaded = (value, most, text) => el("span", { class: "shade", style: `background:color-mix(in srgb, var(${value < 0 ? "--other" : "--accent"}) ${Math.round(45 * Math.abs(value) / most)}%, transparent)` }, text);
function confusion(q, name = "") {
  const most = 1, rows = q.labels.map((_, i) => q.counts[i].reduce((a, b) => a + b, 0));
  const table = el("table", { class: "confusion", "aria-label": `True and predicted classes${name}` },
    el("thead", {}, el("tr", { class: "over" }, el("td", {}), el("th", { scope: "colgroup", colspan: q.labels.length }, "predicted class"), el("td", {})),
      el("tr", {}, el("th", { scope: "col" }, "true class"), q.labels.map((text) => el("th", { scope: "col", class: "number" }, short(text, 24))), el("th", { scope: "col", class: "number" }, "recall"))),
    el("tbody", {}, q.labels.map((text, i) => el("tr", {}, el("th", { scope: "row" }, `${text} (${rows[i]})`),
      q.counts[i].map((count, j) => el("td", { class: "number" }, shaded((i === j ? 1 : -1) * (rows[i] ? count / rows[i] : 0), most, String(count)))), el("td", { class: "number" }, percent(q.recall[i])))),
    el("tr", {}, el("th", { scope: "row" }, "precision"), q.precision.map((value) => el("td", { class: "number" }, percent(value))), el("td", {}))));
  const picture = el("button", { type: "button", class: "small", "aria-label": `Save the table as SVG: true and predicted classes${name}`, onclick: () => {
    const box = document.body.appendChild(el("div", { class: "chart aside" }, confusionPicture(q, rows)));
    save(fileName("classes" + name, ".svg"), "image/svg+xml", standalone(box.firstChild));
    box.remove();
  } }, "SVG");
  const save_ = el("button", { type: "button", class: "small", "aria-label": `Save the table as CSV: true and predicted classes${name}`, onclick: () => save(fileName("classes" + name, ".csv"), "text/csv", csv({ titles: ["true class", ...q.labels], rows: q.labels.map((text, i) => [text, ...q.counts[i]]) })) }, "CSV");
  return [el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Table: true and predicted classes${name}` }, table), el("div", { class: "tools" }, picture, save_)];
}
// The same as a picture, for a paper.
function confusionPicture(q, totals) {
  const n = q.labels.length, rows = q.labels.map((text, i) => `${short(text, 30)} (${totals[i]})`), columns = q.labels.map((text) => short(text, 30));
  const left = 26 + Math.max(measure("true class"), ...rows.map(measure)), across = Math.max(64, ...columns.map((text) => measure(text) + 16)), high = 34, top = 46;
  const width = left + n * across + 8, height = top + n * high + 8, middle = (j) => left + (j + 0.5) * across;
  return canvas(width, height, words(left + n * across / 2, 16, "predicted class", { "text-anchor": "middle" }), words(8, 38, "true class"),
    columns.map((text, j) => words(middle(j), 38, text, { "text-anchor": "middle" })),
    rows.map((text, i) => [words(left - 10, top + i * high + 21, text, { "text-anchor": "end" }), q.counts[i].map((count, j) => [
      svg("rect", { x: left + j * across, y: top + i * high, width: across - 2, height: high - 2, fill: i === j ? "var(--accent)" : "var(--other)", "fill-opacity": (totals[i] ? 0.55 * count / totals[i] : 0).toFixed(3), stroke: "var(--line)" }),
      words(middle(j) - 1, top + i * high + 21, String(count), { "text-anchor": "middle" })])]));
}
function confusionSection() {
  const q = data.quality;
  if (!q || q.kind !== "classes") return null;
  return section("confusion", "Right and wrong classes", `Each of the ${q.samples} held-out samples is counted by its true class (row) and by the class that the model predicted (column). Correct predictions are on the diagonal. `
    + `Recall: of all samples of a class, the share that the model assigns to it. Precision: of all samples that the model assigns to a class, the share that belongs to it. The mean recall over the classes (balanced accuracy) is ${score(q.balanced)}.`, confusion(q));
}

// -- panels: small charts with a square look ----------------------------------------------------------------
const panels = (...charts) => el("div", { class: "panels" }, charts.map((one) => el("div", { class: "panel" }, one)));
function panel(title, label, axes, xs, ys, marks, numbers) {
  return [el("h4", {}, title), chart((width) => {
    const height = Math.min(300, Math.max(220, width * 0.75)), box = { left: roomFor(...ys), right: 12, bottom: 38 };
    const x = scale(...xs, box.left, width - box.right), y = scale(...ys, height - box.bottom, 24);
    return canvas(width, height, frame(width, height, x, y, box, axes), marks(x, y, width, box));
  }, label, numbers)];
}
const diagonal = (x, y, low, high) => line(x(low), y(low), x(high), y(high), { stroke: "var(--muted)", "stroke-dasharray": "4 4" });
// Curves of several classes, or of several models.
function rocPanels(curves, name = "") {
  const both = (kind, axes, chance, what, area) => panel(what, what + name, axes, [0, 1], [0, 1], (x, y) => [chance(x, y),
    curves.map((one, k) => polyline(one[kind].x.map((v, i) => [x(v), y(one[kind].y[i])]), { stroke: colour(k) }, `${one.label}: area ${plusMinus(one[area].mean, one[area].std)}`))],
  () => ({ titles: ["curve", axes[0], axes[1]], rows: curves.flatMap((one) => one[kind].x.map((v, i) => [one.label, v, one[kind].y[i]])) }));
  return panels(both("roc", ["false alarms (1 − specificity)", "recall (sensitivity)"], (x, y) => diagonal(x, y, 0, 1), "ROC curve", "auc"),
    both("pr", ["recall", "precision"], (x, y) => curves.map((one, k) => line(x(0), y(one.share), x(1), y(one.share), { stroke: colour(k), "stroke-dasharray": "4 4", opacity: 0.6 })), "Precision and recall", "ap"));
}
function curvesSection() {
  const q = data.quality;
  if (!q || !q.curves || !q.curves.length) return null;
  const one = q.curves.length === 1, areas = (c) => `area under ROC ${plusMinus(c.auc.mean, c.auc.std)}, average precision ${plusMinus(c.ap.mean, c.ap.std)}`;
  return section("curves", "ROC and precision–recall", `Each point is one threshold for assigning a sample to ${one ? `“${q.curves[0].label}”` : "a class"}, over all held-out samples. `
    + "Dashed lines are guessing. The areas are means over the folds.", rocPanels(q.curves), legendOf(q.curves.map((c) => `${c.label}: ${areas(c)}`)));
}
function calibrationPanel(calibrations, name = "") {
  return panels(panel("Predicted probability and observed share", "Calibration" + name, ["predicted probability", "observed share"], [0, 1], [0, 1], (x, y) => [diagonal(x, y, 0, 1), calibrations.map(({ told: c }, k) => [
    c.said.map((v, i) => line(x(v), y(c.low[i]), x(v), y(c.high[i]), { stroke: colour(k), "stroke-width": 2, opacity: 0.5 })),
    polyline(c.said.map((v, i) => [x(v), y(c.happened[i])]), { stroke: colour(k), opacity: 0.5 }, "calibration"),
    c.said.map((v, i) => tip(svg("circle", { cx: x(v), cy: y(c.happened[i]), r: 4.5, fill: colour(k), tabindex: 0 }), `predicted ${percent(v)}, observed in ${percent(c.happened[i])} of ${c.samples[i]} samples\n95 % interval ${percent(c.low[i])} to ${percent(c.high[i])}`))])],
  () => ({ titles: ["model", "predicted probability", "observed share", "from", "to", "samples"], rows: calibrations.flatMap(({ label: text, told: c }) => c.said.map((v, i) => [text, v, c.happened[i], c.low[i], c.high[i], c.samples[i]])) })));
}
function calibrationSection() {
  const q = data.quality, c = q && q.calibration;
  if (!q || q.kind !== "classes") return null;
  if (!c) return section("calibration", "Are probabilities right?", "This model gives decisions, not probabilities. For probabilities, fit with --method auto; in Python, use MKLClassifierCV or sklearn.calibration.CalibratedClassifierCV.");
  return section("calibration", "Are probabilities right?", (c.label === null ? "Held-out samples are grouped by the probability of the class that the model predicted. Each point compares it with the share of correct predictions in the group." : `Held-out samples are grouped by their predicted probability of “${c.label}”. Each point compares it with the share of the group that is “${c.label}”.`)
    + ` On the dashed line both agree; vertical lines are 95 % intervals. On average, the two differ by ${score(c.off)}. The Brier score is ${score(c.brier)} (0 is perfect; always predicting the shares of the classes scores ${score(c.brier_constant)}).`,
    calibrationPanel([{ label: "the model", told: c }]));
}

// -- numbers ----------------------------------------------------------------------------------------------
function truthPanel(q, title, label_ = title) {
  const all = [...q.truth, ...q.predicted], low = Math.min(...all), high = Math.max(...all), pad = 0.03 * (high - low || 1), name = short(data.data.target.name, 30);
  return panel(title, label_, [`predicted ${name}`, `true ${name}`], [low - pad, high + pad], [low - pad, high + pad], (x, y) => [diagonal(x, y, low, high),
    q.truth.map((t, i) => svg("circle", { cx: x(q.predicted[i]), cy: y(t), r: 3, fill: "var(--accent)", "fill-opacity": 0.5 }))],
  () => ({ titles: ["row", "predicted", "true", "error"], rows: q.truth.map((t, i) => [q.rows[i] + 1, q.predicted[i], t, t - q.predicted[i]]) }));
}
function residualPanel(q, title, label_ = title) {
  const errors = q.truth.map((t, i) => t - q.predicted[i]), low = Math.min(...q.predicted), high = Math.max(...q.predicted), pad = 0.03 * (high - low || 1);
  const far = largest(errors) * 1.05;
  return panel(title, label_, [`predicted ${short(data.data.target.name, 30)}`, "true − predicted"], [low - pad, high + pad], [-far, far], (x, y, width, box) => [line(box.left, y(0), width - box.right, y(0), { stroke: "var(--muted)", "stroke-dasharray": "4 4" }),
    errors.map((e, i) => svg("circle", { cx: x(q.predicted[i]), cy: y(e), r: 3, fill: "var(--accent)", "fill-opacity": 0.5 }))],
  () => ({ titles: ["row", "predicted", "error"], rows: errors.map((e, i) => [q.rows[i] + 1, q.predicted[i], e]) }));
}
function errorsSection() {
  const q = data.quality;
  if (!q || q.kind === "classes") return null;
  if (q.kind === "outputs") return section("errors", "Each output", `R² of each output over ${q.samples} held-out samples.`, el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table: R² of each output" }, sortable(["output", "R²"], q.R2.map((v, k) => [String(k), v]), ["name", "number"])));
  const thirds = q.spread.error.filter((v) => v !== null), uneven = thirds.length === 3 && Math.max(...thirds) > 1.5 * Math.min(...thirds);
  return section("errors", "Predicted and true", `Predictions of ${q.samples} held-out samples are off by ${number(q.mean_error)} on average; half of them are off by less than ${number(q.within[0])}, nine of ten by less than ${number(q.within[1])}. `
    + `The root of the mean squared error is ${number(q.rmse)}; always predicting the mean is off by ${number(q.constant_error)} on average. `
    + (uneven ? `The mean error depends on the prediction: ${q.spread.error.map(alike(q.spread.error)).join(", ")} for low, middle and high predictions. ` : "")
    + "On the dashed lines predictions are exact.", panels(truthPanel(q, "Predicted and true"), residualPanel(q, "Errors")));
}

// -- survival ---------------------------------------------------------------------------------------------
const stepsOf = (xs, ys, x, y) => xs.slice(1).reduce((path, t, i) => path + `H${x(t)}` + (i + 1 < ys.length ? `V${y(ys[i + 1])}` : ""), `M${x(xs[0])} ${y(ys[0])}`);
function bandOf(band, x, y) {
  const back = [];
  for (let i = band.low.length - 1; i >= 0; i--) back.push(`V${y(band.low[i])}H${x(band.x[i])}`);
  return stepsOf(band.x, band.high, x, y) + back.join("") + "Z";
}
const reached = (median) => median === null ? "median not reached" : `median ${number(median)}`;
function survivalChart(s, name) {
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
  const numbers = () => ({ titles: ["group", data.data.target.name, "share without the event"], rows: s.groups.flatMap((g) => g.x.map((t, i) => [g.name, t, g.y[i]])) });
  return chart(draw, name, numbers);
}
function survivalSection() {
  const s = data.survival;
  if (!s) return null;
  const predicted = s.predicted.curves, model = (width) => {
    const box = { left: 44, right: 16, bottom: 38 }, high = 240, end = Math.max(...predicted.map((one) => one.x.at(-1)));
    const x = scale(0, end, box.left, width - box.right), y = scale(0, 1, high - box.bottom, 24), every = Math.ceil(s.ticks.length * 46 / (width - box.left));
    x.ticks = s.ticks.filter((t, k) => k % every === 0 && t <= end);
    return canvas(width, high, frame(width, high, x, y, box, [fit(data.data.target.name, width - box.left - box.right), "predicted survival"]), line(box.left, y(0.5), width - box.right, y(0.5), { stroke: "var(--muted)", "stroke-dasharray": "2 4" }),
      predicted.map((one, k) => tip(svg("path", { d: stepsOf(one.x, one.y, x, y), fill: "none", stroke: colour(k), "stroke-width": 2, tabindex: 0 }), `${one.name}, risk ${number(one.risk)}\n${reached(one.median)}`)));
  };
  const says = (s.held_out ? "Each curve shows the share of a group that has had no event yet. Samples are split into thirds by the risk that was predicted for them when they were held out, within each fold."
    : "Each curve shows the share of a group that has had no event yet. Samples are split into thirds by the risk that the model predicts for its own training samples, so that the groups differ more than those of new samples would.")
    + " Bands are 95 % intervals at each time; small ticks mark samples whose observation ended then without the event."
    + (s.p_value === null ? "" : ` Log-rank test of whether the groups differ: ${chances(s.p_value)}` + (s.held_out ? " (approximate, since folds share training samples)." : ", which means little for samples that were learned from."));
  return section("survival", "Survival by predicted risk", says, survivalChart(s, "Survival by predicted risk"),
    legendOf(s.groups.map((g) => `${g.name}: ${numberOf(g.samples, "sample")}, ${numberOf(g.events, "event")}, ${reached(g.median)}`)),
    el("h4", {}, "What the model predicts"), el("p", {}, s.predicted.by === "risk" ? "Predicted survival of samples with a low risk (first decile of the training samples), a median risk and a high risk (last decile). A risk that is larger by 1 means e ≈ 2.7 times the hazard, at all times."
      : "Predicted survival at the median risk in each stratum. Each stratum has its own hazard. A risk that is larger by 1 means e ≈ 2.7 times the hazard, at all times."), chart(model, "Predicted survival", () => ({ titles: ["curve", data.data.target.name, "predicted survival"], rows: predicted.flatMap((one) => one.x.map((time, i) => [one.name, time, one.y[i]])) })),
    legendOf(predicted.map((one) => `${one.name}: ${reached(one.median)}`)));
}

