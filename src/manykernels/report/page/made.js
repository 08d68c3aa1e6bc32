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
  const dashed = (width, y, text) => [line(box.left, y, width - box.right, y, { stroke: "var(--other)", "stroke-dasharray": "5 4" }), words(box.left + 4, y - 5, text, { "text-anchor": "start", class: "soft halo" })];
  const says = { gap: "The relative duality gap bounds how far the objective is above its optimum. Below the dashed line the fit is done.",
    bound: "No objective can be below this bound, as far as each pass has proven" + (reached ? ". The dashed line is the objective of the model. The distance between both, relative to the objective, is the gap." : "."),
    objective: "The objective that is minimised. It is flat where the fit is done. No bound says how far below it another solution may be." }[quantity];
  const picture = chart((width) => {
    const points = c.lines.map((one) => one.values.map((v, i) => [against === "seconds" ? one.seconds[i] : i + 1, log && v !== null ? Math.max(v, 1e-16) : v, one.active[i]]).filter((p) => p[1] !== null));
    const xs = points.flat().map((p) => p[0]), ys = points.flat().map((p) => p[1]);
    if (log && c.tol) ys.push(c.tol);
    if (reached) ys.push(c.objective);
    const pad = log ? 1 : 0.05 * (Math.max(...ys) - Math.min(...ys) || 1);
    const x = scale(Math.min(...xs), Math.max(...xs), box.left, width - box.right);
    const y = scale(log ? Math.min(...ys) / 1.5 : Math.min(...ys) - pad, log ? Math.max(...ys) * 1.5 : Math.max(...ys) + pad, height - box.bottom, 24, log);
    return canvas(width, height, frame(width, height, x, y, box, [against === "seconds" ? "seconds" : "step", title]),
      points.map((line_, k) => [polyline(line_.map((p) => [x(p[0]), y(p[1])]), { stroke: colour(k) }, c.lines[k].label || title),
        line_.map((p) => tip(svg("circle", { cx: x(p[0]), cy: y(p[1]), r: 4, fill: colour(k), tabindex: 0 }),
          `${c.lines[k].label ? c.lines[k].label + "\n" : ""}${title} ${number(p[1])}\n${numberOf(p[2], "kernel")} with weight\n${number(p[0])} ${against === "seconds" ? "s" : "th step"}`))]),
      log && c.tol ? dashed(width, y(c.tol), "tolerance") : reached ? dashed(width, y(c.objective), "objective of the model") : null);
  }, "Convergence", () => ({ titles: [...(c.lines.length > 1 ? ["fit"] : []), "step", "seconds", title, "kernels with weight"], rows: c.lines.flatMap((one) => one.values.map((v, i) => [...(c.lines.length > 1 ? [one.label] : []), i + 1, one.seconds[i], v, one.active[i]])) }));
  const buttons = toggles([["seconds", "against time"], ["steps", "against steps"]], "seconds", (value) => { against = value; picture.paint(); });
  const legend = c.lines.length > 1 ? legendOf(c.lines.map((one) => one.label)) : null;
  return section("convergence", "How the fit converged", says,
    el("div", { class: "controls" }, buttons), picture, legend);
}
const legendOf = (names, index) => el("div", { class: "legend" }, names.map((name, i) => el("span", {}, el("i", { style: `background:${colour(index ? index[i] : i)}` }), name)));

// Charts with one weight for each kernel, of models with more.
const several = () => data.weights.targets ? ", the largest over the targets" : !data.weights.rows ? "" : `, the largest over the ${data.gates ? "clusters" : "rows of the table"}`;
// -- call -------------------------------------------------------------------------------------------------
const block = (text, id) => {
  const code = el("pre", { id }, id !== "command" ? text : text.split(/ (?=--)/).flatMap((part, i) => [i ? " " : null, el("span", { class: "word" }, document.createTextNode(part))]));
  const copy = el("button", {
    type: "button", onclick: async (e) => {
      try { await navigator.clipboard.writeText(text); e.target.textContent = "Copied"; } catch {
        getSelection().selectAllChildren(code); e.target.textContent = "Selected: press Ctrl-C";
      }
    },
  }, "Copy");
  return [code, el("div", { class: "controls" }, copy)];
};
function callSection() {
  return section("call", "Make this again", null, data.call ? block(data.call, "command") : null, !data.model ? null : data.model.length > 500
    ? el("details", {}, el("summary", {}, "The model in Python"), block(data.model, "model")) : block(data.model, "model"));
}

// -- what is missing --------------------------------------------------------------------------------------
function leftOutSection() {
  const rows = Object.entries(data.left_out || {});
  if (!rows.length) return null;
  return section("left-out", "What this report leaves out", null, el("dl", {}, rows.flatMap(([title, why]) => [el("dt", {}, title), el("dd", {}, why)])));
}

// -- methods ----------------------------------------------------------------------------------------------
function methodsSection() {
  const m = data.methods;
  if (!m) return null;
  const text = `${m.text}\n\nReferences\n${m.references.map((one) => `- ${one}`).join("\n")}`;
  return section("methods", "A paragraph for your paper", "It says what was done, with options and versions. Check it before you paste it.", block(text, "paragraph"));
}

// -- checks -----------------------------------------------------------------------------------------------
function checksSection() {
  if (!data.checks) return null;
  if (!data.checks.length) return el("p", {}, "All checks passed.");
  return el("ul", { class: "checks" }, data.checks.map((one) => el("li", { id: one.code }, el("b", {}, `${one.code} ${one.title}`), el("p", {}, one.message),
    one.advice ? el("p", {}, el("i", {}, "What to do. "), one.advice) : null)));
}

// -- the certificate --------------------------------------------------------------------------------------
// P and D as the report computed them, whatever the fit had said.
const anew = (c) => `The report computed this again from the model and its samples: the objective is ${number(c.primal, 6)}, no objective ${c.certified ? "" : "over the kernels that were looked at "}can be below ${number(c.dual, 6)}, and the gap is ${number(c.gap, 2)}.`;
function certificateSection() {
  const w = data.weights, c = data.recomputed;
  if (w.gap === null && !c) return null;
  const guesses = data.scores && data.scores.verdict && !data.scores.verdict.better;
  return section("certificate", "The certificate", "The duality gap bounds how far the objective on the training data is from its optimum. It does not say how well the model predicts" + (guesses ? ": this one is no better than guessing." : "."),
    el("p", {}, data.certificate), c ? el("p", {}, anew(c)) : null);
}
