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
    : t.task === "survival" ? `${d.samples} samples. The event was observed in ${events} of them (blue); the other ${d.samples - events} were observed for some time without it (grey; censored). `
      + (t.median === null ? "More than half have no event within the time of observation." : `Half of the samples have the event by ${number(t.median)}.`) + (t.followed === null ? "" : ` The median follow-up is ${number(t.followed)} (reverse Kaplan–Meier).`)
    : t.outputs > 1 ? `${d.samples} samples of ${t.outputs} targets.` + (t.scores ? ` R² on samples left out: median ${number(t.scores.median)}, from ${number(t.scores.low)} to ${number(t.scores.high)} in nine of ten targets.` : "")
    : `${d.samples} samples; the target has mean ${number(t.mean)} and standard deviation ${number(t.std)}.`;
  const together_ = !d.groups ? "" : ` Samples of one group (${d.groups.name ? d.groups.name + ", " : ""}${numberOf(d.groups.count, "group")}) stay in the same fold.`;
  return section("data", columnsTitle() === "The data" ? "The samples" : "The data", text + together_, t.outputs > 1 && !t.scores ? null : bars, gaps(d), table);
}

// Missing values, columns that nothing was learned from, and what was made of the others.
function gaps(d) {
  const list = (title, rows, id) => rows.length ? el("div", { id }, el("h4", {}, title), el("ul", { class: "plain" }, rows.slice(0, 40).map((text) => el("li", {}, text)), rows.length > 40 ? el("li", {}, `and ${rows.length - 40} more`) : null)) : null;
  return [list("Missing values", d.missing.map((one) => `${one.name}: ${one.missing} (${percent(one.share)})`), "missing"),
    list("Columns that were not used", d.dropped.map((one) => `${one.name}: ${one.why}`), "dropped"),
    list("How columns were prepared", d.prepared.map((text) => text[0].toUpperCase() + text.slice(1)), "prepared")];
}

// Which samples have which views: a row for each pattern, the commonest first.
function presence(p, samples) {
  const rows = p.patterns.map((one) => [...one.has.map((has) => has ? "●" : "–"), one.samples]);
  const table = sortable([...p.views.map((view, v) => `${short(view, 24)} (${p.counts[v]})`), "samples"], rows, [...p.views.map(() => ""), "number"]);
  return section("presence", "Which samples have which views", null, el("p", {}, `Some of the ${samples} samples lack a view (–), and are predicted from the others. The number behind each view counts the samples that have it.`,
    p.others ? ` ${numberOf(p.others, "sample")} more have rarer patterns.` : ""),
  el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table: which samples have which views" }, table), p.remarks.map((text) => el("p", { class: "remark" }, text)));
}
