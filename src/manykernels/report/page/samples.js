// -- single samples -----------------------------------------------------------------------------------------
function samplesSection() {
  const c = data.contributions;
  if (!c || !c.samples.length) return null;
  let chosen = 0;
  const task = data.data.target.task, labels = data.quality && data.quality.labels, called = (one) => one.name ?? "row " + (one.row + 1);
  const towards = task !== "classification" ? ["higher", "lower"] : labels && labels.length === 2 ? [`towards “${short(labels[1], 20)}”`, `towards “${short(labels[0], 20)}”`] : ["towards the predicted class", "away from it"];
  const outcome = task === "classification" ? "decision" : task === "survival" ? "risk" : "prediction";
  const both = c.samples.some((one) => one.parts), values = c.samples.some((one) => one.columns.length);
  // Bars to the left and to the right of a line, with what they say behind their ends.
  const bars = (rows, width) => {
    const left = Math.min(260, width * 0.46), written = alike(rows.map((row) => row.value), 2), says = rows.map((row) => plus(row.value, written)), room = (up) => 10 + Math.max(0, ...says.filter((_, i) => rows[i].value >= 0 === up).map(measure));
    const ends = [0, ...rows.map((row) => row.value)], x = scale(Math.min(...ends), Math.max(...ends), left + room(false), width - room(true)), high = 24, names = fitAll(rows.map((row) => row.name), left - 10);
    // On either side of the line, where there is room for what they say.
    const right = fit(`${towards[0]} ▸`, width - 8), left_ = fit(`◂ ${towards[1]}`, width - 8), from = Math.min(x(0) + 8, width - 4 - measure(right)), to = Math.max(x(0) - 8, 4 + measure(left_));
    const arrow = (says, up) => words(up ? from : to, high * rows.length + (up || to < from ? 18 : 34), says, { "text-anchor": up ? "start" : "end", class: "soft" });
    return canvas(width, high * rows.length + 42, line(x(0), 0, x(0), high * rows.length, { class: "axis" }), rows.map((row, i) => {
      const a = Math.min(x(0), x(row.value)), b = Math.max(x(0), x(row.value)), up = row.value >= 0;
      return [label(left - 8, i * high + 16, names[i], row.name), tip(svg("rect", { x: a, width: Math.max(1, b - a), y: i * high + 4, height: 15, fill: up ? "var(--accent)" : "var(--other)", tabindex: 0 }), `${row.name}: ${plus(row.value, number)}`),
        words(up ? b + 5 : a - 5, i * high + 16, says[i], { "text-anchor": up ? "start" : "end", class: "soft halo" })];
    }), rows.some((row) => row.value > 0) ? arrow(right, true) : null, rows.some((row) => row.value < 0) ? arrow(left_, false) : null);
  };
  const drawColumns = (width) => {
    const one = c.samples[chosen];
    if (!one.columns.length) return canvas(width, 30, words(2, 18, fit(`No column of this sample changes the ${outcome}.`, width - 4)));
    return bars(one.columns.map((part) => ({ name: part.value === "" ? part.name : `${part.name} = ${minus(part.value)}`, value: part.effect })), width);
  };
  const draw = (width) => {
    const one = c.samples[chosen];
    if (!one.parts) return canvas(width, 30, words(2, 18, fit("One kernel has all the weight for this sample.", width - 4)));
    const rank = order(one.parts).filter((m) => one.parts[m] !== 0), kept = rank.slice(0, 12), rest = rank.slice(12);
    const rows = kept.map((m) => [c.names[m], one.parts[m]]);
    if (rest.length) rows.push([`${rest.length} other${rest.length > 1 ? "s" : ""}`, rest.reduce((sum, m) => sum + one.parts[m], 0)]);
    rows.push(["intercept", one.intercept]);
    let end = 0;
    const steps = rows.map(([name, value]) => { const from = end; end += value; return { name, value, from, to: end }; });
    steps.push({ name: outcome, value: one.decision, from: 0, to: one.decision, total: true });
    const ends = [0, ...steps.flatMap((s) => [s.from, s.to])], left = Math.min(230, width * 0.42);
    const most = largest(steps.map((s) => s.value)), written = alike(steps.map((s) => s.value).filter((v) => Math.abs(v) > 1e-3 * most)), says = steps.map((s) => plus(s.value, written)), room = (up) => 10 + Math.max(0, ...says.filter((_, i) => steps[i].value >= 0 === up).map(measure));
    const x = scale(Math.min(...ends), Math.max(...ends), left + room(false), width - room(true)), high = 24, names = fitAll(steps.map((s) => s.name), left - 10);
    return canvas(width, high * steps.length + 10, line(x(0), 0, x(0), high * steps.length, { class: "axis" }), steps.map((s, i) => {
      const a = Math.min(x(s.from), x(s.to)), b = Math.max(x(s.from), x(s.to)), up = s.value >= 0;
      return [label(left - 8, i * high + 16, names[i], s.name, { "font-weight": s.total ? 600 : null }),
        tip(svg("rect", { x: a, width: Math.max(1, b - a), y: i * high + 4, height: 15, fill: s.total ? "var(--muted)" : up ? "var(--accent)" : "var(--other)", tabindex: 0 }), `${s.name}: ${number(s.value, 4)}`),
        words(up ? b + 5 : a - 5, i * high + 16, says[i], { "text-anchor": up ? "start" : "end", class: "soft halo" })];
    }));
  };
  const columns = values ? chart(drawColumns, "Columns behind a single prediction", () => ({ titles: ["sample", "kind", "true", "predicted", "column", "value", `change of the ${outcome}`], rows: c.samples.flatMap((one) => one.columns.map((part) => [called(one), one.why, one.truth, one.predicted, part.name, part.value, part.effect])) })) : null;
  const kernels = both ? chart(draw, "What each kernel adds", () => ({ titles: ["sample", "kernel", "adds"], rows: c.samples.filter((one) => one.parts).flatMap((one) => [...c.names.map((name, m) => [called(one), name, one.parts[m]]), [called(one), "intercept", one.intercept]]) })) : null;
  const pick = el("select", { id: "sample", "aria-label": "Sample", onchange: (e) => { chosen = Number(e.target.value); [columns, kernels].forEach((one) => one && one.paint()); } },
    c.samples.map((one, i) => el("option", { value: i }, `${called(one)} (${one.why}): ${minus(one.truth)}, predicted ${task === "survival" ? "risk " : ""}${minus(one.predicted)}`)));
  return section("contributions", "Explanations of single predictions", (c.held_out ? "Each sample was predicted by a model that did not learn from it" : "These are training samples, since the model was not cross-validated") + (c.samples[0].name ? ". " : "; rows are counted from 1. ")
    + (values ? `A bar shows how far the ${outcome} changes because the sample has its own value in a column instead of the values of other samples. One column is changed at a time, so that the bars need not add up.` : ""),
    el("div", { class: "controls" }, pick), columns, kernels ? el("details", { open: !values }, el("summary", {}, `The same ${outcome}, kernel by kernel`), el("p", { class: "hint" }, `What each kernel adds${c.held_out ? ", in the model that did not learn from this sample; it may have weights on other kernels than the final model" : ""}. The bars lead from zero to the ${outcome}.`), kernels) : null);
}
