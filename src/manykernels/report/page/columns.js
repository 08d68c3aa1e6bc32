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
    const x = scale(Math.min(...ends), Math.max(...ends), left + 8, width - 16), height = 22 * shown.length + 48, axis = fit(`${theScore(data.importance.metric).replace("the ", "")} lost without the ${what}`, width - left);
    return canvas(width, height, x.ticks.map((t) => [line(x(t), 4, x(t), height - 42, { class: "grid" }),
      words(x(t), height - 26, number(t), { "text-anchor": "middle", class: "soft" })]),
      line(x(0), 2, x(0), height - 42, { class: "axis" }), words((left + width - 8) / 2, height - 6, axis, { "text-anchor": "middle" }),
      shown.map((name, i) => {
        const y = 22 * i + 14, fill = sure(rows, i) ? "var(--accent)" : "var(--muted)", low = rows.low[i], high = rows.high[i];
        return [label(left - 10, y + 4, names[i], name, { "font-weight": sure(rows, i) ? 600 : null }),
          low === null ? null : line(x(low), y, x(high), y, { stroke: fill, "stroke-width": 2 }),
          tip(svg("circle", { cx: x(rows.mean[i]), cy: y, r: 5, fill, tabindex: 0 }),
            `${name}\nloss ${score(rows.mean[i])}` + (low === null ? "" : `\n${percent(data.importance.level)} interval from ${score(low)} to ${score(high)}`))];
      }));
  };
  const more = rows.names.length <= MOST ? null : el("details", {}, el("summary", {}, `All ${rows.names.length} ${what}s`),
    tall(sortable([what, "loss", "from", "to"], rows.names.map((name, i) => [name, rows.mean[i], rows.low[i], rows.high[i]]), ["name", "number", "number", "number"], (row, c) => c ? score(row[c]) : null)));
  const numbers = () => ({ titles: [what, "loss", "from", "to"], rows: rows.names.map((name, i) => [name, rows.mean[i], rows.low[i], rows.high[i]]) });
  return [chart(draw, `Importance of ${what}s`, numbers), more];
}

function importanceOf(what) {
  const m = data.importance, rows = m && m[what + "s"];
  if (!rows) return null;
  const layers = data.data.features === null && what === "column", thing = layers ? "kernel" : what, count = rows.names.length;
  const none = !rows.names.some((_, i) => sure(rows, i));
  const hint = `How much ${theScore(m.metric)} falls on held-out samples when the values of a ${thing} are shuffled. Without shuffling it is ${score(m.score)}`
    + (m.searched === "before" ? ". Here each fold learns the model that the search chose on all samples, so that this score differs a little from the one above. " : ". ")
    + (m.folds > 1 ? `Dots are means over ${m.folds} folds${m.repeats > 1 ? ` with ${m.repeats} shuffles each` : ""}, lines are ${percent(m.level)} intervals. Intervals above zero are blue. ` : "")
    + (what === "column" && count < m.of ? `Of ${m.of} ${thing}s, these are the ${count} that change predictions most. ` : "")
    + (none ? "No loss is clearly above zero. " : "")
    + (what === "view" ? "All columns of a view are shuffled together." : `Where columns carry the same information, shuffling one of them costs little` + (m.views ? ": see what is lost without their view." : "."));
  return section("importance" + (what === "view" ? "-views" : ""), `What is lost without each ${thing}`, hint, losses(rows, thing));
}

// -- effects ----------------------------------------------------------------------------------------------
function effectsSection() {
  const found = data.importance && data.importance.effects;
  if (!found || !found.length) return null;
  const task = data.data.target.task, all = found.flatMap((one) => [...one.low.flat(), ...one.high.flat()]), pad = 0.04 * (Math.max(...all) - Math.min(...all) || 1);
  const ys = task === "classification" ? [0, 1] : [Math.min(...all) - pad, Math.max(...all) + pad], first = found[0].outputs;
  const axis = task === "classification" ? (first.length === 1 ? `share predicted “${short(first[0], 18)}”` : "share predicted") : task === "survival" ? "mean risk" : "mean prediction";
  const numbers = (one) => () => ({ titles: [one.name, ...(one.outputs.length > 1 ? ["output", "mean"] : [axis]), "lowest fold", "highest fold"], rows: one.outputs.flatMap((output, k) => one.values.map((v, i) => [v, ...(one.outputs.length > 1 ? [output] : []), one.mean[k][i], one.low[k][i], one.high[k][i]])) });
  const draw = (one) => {
    const words_ = typeof one.values[0] === "string" || one.values.length < 4, texts = one.values.map((v) => typeof v === "number" ? number(v) : v), title = fit(one.name, 300);
    const xs = words_ ? [-0.5, one.values.length - 0.5] : [one.values[0], one.values.at(-1)], at = (i) => words_ ? i : one.values[i];
    return [el("h4", {}, title), chart((width) => {
      const height = 210, box = { left: roomFor(...ys), right: 12, bottom: 38 }, x = scale(...xs, box.left, width - box.right), y = scale(...ys, height - box.bottom, 24);
      if (words_) x.ticks = [];
      const step = (width - box.left - box.right) / one.values.length;
      return canvas(width, height, frame(width, height, x, y, box, [words_ ? "" : title, axis]),
        words_ ? texts.map((v, i) => label(x(i), height - 20, fit(v, step - 4), v, { "text-anchor": "middle", class: "soft" })) : null,
        one.outputs.map((output, k) => [
          words_ ? one.values.map((_, i) => line(x(i), y(one.low[k][i]), x(i), y(one.high[k][i]), { stroke: colour(k), "stroke-width": 3, opacity: 0.4 }))
            : [svg("path", { d: `M${one.values.map((v, i) => `${x(v)} ${y(one.high[k][i])}`).join("L")}L${[...one.values].reverse().map((v, i) => `${x(v)} ${y(one.low[k].at(-1 - i))}`).join("L")}Z`, fill: colour(k), opacity: 0.14 }),
              svg("path", { d: `M${one.values.map((v, i) => `${x(v)} ${y(one.mean[k][i])}`).join("L")}`, fill: "none", stroke: colour(k), "stroke-width": 2 })],
          one.values.map((v, i) => tip(svg("circle", { cx: x(at(i)), cy: y(one.mean[k][i]), r: words_ ? 5 : 3, fill: colour(k), tabindex: 0 }), `${one.name} = ${typeof v === "number" ? number(v) : v}${output ? `: “${output}”` : ""}\n${axis} ${number(one.mean[k][i])}, from ${number(one.low[k][i])} to ${number(one.high[k][i])} over folds`))]));
    }, `Effect of ${one.name}`, numbers(one))];
  };
  const ranked = data.importance.columns ? data.importance.columns.names : [], shown = found.map((one) => one.name);
  const without = ranked.slice(0, Math.max(...shown.map((name) => ranked.indexOf(name)))).filter((name) => !shown.includes(name));
  return section("effects", "How predictions depend on the leading columns", `The mean prediction when all held-out samples get the same value in one column and keep their own values in the others. Bands and lines span the folds. `
    + "Where columns are correlated, some of these combinations never occur. The curves describe the model, not causes." + (without.length ? ` Curves are drawn for columns of numbers and of few categories, so there is none for ${without.join(", ")}.` : ""), panels(...found.map(draw)), first.length > 1 ? legendOf(first) : null);
}
