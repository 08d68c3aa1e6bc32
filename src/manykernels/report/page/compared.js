// -- several models side by side ----------------------------------------------------------------------------
function tableSection() {
  const s = data.scores, rows = data.table.map((row) => [row.method, row.mean, row.std, row.rank, row.difference, row.difference === null || row.low === null ? "" : `${signed(row.low)} to ${signed(row.high)}`, row.p_adjusted, row.kernels, row.seconds]);
  const titles = ["method", s.metric, "± over folds", "rank", `from ${data.against}`, "95 % interval", "p (Holm)", "kernels", "seconds"];
  return section("table", "All methods", "Differences are held against one method, by the corrected t-test of Nadeau and Bengio; p is for all of them together (Holm). Seconds are those of all folds.",
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table: all methods" }, sortable(titles, rows, ["name", ...Array(8).fill("number")])),
    el("div", { class: "tools" }, el("button", { type: "button", class: "small", "aria-label": "Save the table as CSV: all methods", onclick: () => save(fileName("methods", ".csv"), "text/csv", csv({ titles, rows })) }, "CSV")));
}

const withQuality = (kind) => data.models.filter((one) => one.quality && one.quality.kind === kind);
function classesSection() {
  const known = withQuality("classes");
  if (!known.length) return null;
  return section("confusion", "Right and wrong classes", "Held-out samples by their true class and by the class that was named; right ones are on the diagonal.", panels(...known.map((one) => [el("h4", {}, one.name), confusion(one.quality, `: ${one.name}`)])));
}
function allCurvesSection() {
  const known = withQuality("classes").filter((one) => one.quality.curves.length === 1), curves = known.map((one) => ({ ...one.quality.curves[0], label: one.name }));
  if (!curves.length) return null;
  return section("curves", "ROC and precision–recall", `How well samples are ranked, for “${known[0].quality.curves[0].label}”, over all held-out samples. Dashed lines are guessing; areas are means over the folds.`, rocPanels(curves),
    legendOf(curves.map((c) => `${c.label}: area under ROC ${plusMinus(c.auc.mean, c.auc.std)}, average precision ${plusMinus(c.ap.mean, c.ap.std)}`)));
}
function allCalibrationSection() {
  const known = withQuality("classes").filter((one) => one.quality.calibration);
  if (!known.length) return null;
  return section("calibration", "Are probabilities right?", "How often it happened what was said to be so probable, of the models that give probabilities. On the dashed line both agree.", calibrationPanel(known.map((one) => ({ label: one.name, told: one.quality.calibration }))),
    legendOf(known.map((one) => `${one.name}: off by ${number(one.quality.calibration.off, 2)} on average, Brier score ${number(one.quality.calibration.brier)}`)));
}
function allErrorsSection() {
  const known = withQuality("numbers");
  if (!known.length) return null;
  return section("errors", "Predicted and true", "Predictions of held-out samples; on the dashed line they are exact.", panels(...known.map((one) => truthPanel(one.quality, `${one.name}: off by ${number(one.quality.mean_error)} on average`, `Predicted and true: ${one.name}`))));
}
function allSurvivalSection() {
  const known = data.models.filter((one) => one.survival);
  if (!known.length) return null;
  return section("survival", "Survival by predicted risk", "Samples in thirds by the risk that was predicted when they were held out. The wider apart the curves, the better the model tells risks apart.",
    panels(...known.map((one) => [el("h4", {}, `${one.name}${one.survival.p_value === null ? "" : `: log-rank ${chances(one.survival.p_value)}`}`), survivalChart(one.survival, `Survival by predicted risk: ${one.name}`)])), legendOf(known[0].survival.groups.map((g) => g.name)));
}
function compared() {
  return [
    ["verdict", "In short", null, { Verdict: verdictSection }],
    ["quality", "How good are they?", null, { Scores: scoresSection, Table: tableSection }],
    ["models", "Side by side", null, { Classes: classesSection, Curves: allCurvesSection, Calibration: allCalibrationSection, Errors: allErrorsSection, Survival: allSurvivalSection }],
    ["made", "How it was made", null, { Methods: methodsSection, Call: callSection, "What is left out": leftOutSection }],
  ];
}
