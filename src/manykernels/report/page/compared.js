// -- several models side by side ----------------------------------------------------------------------------
function tableSection() {
  const s = data.scores, several_ = data.table.filter((row) => row.p_adjusted !== null).length > 1, rows = data.table.map((row) => [row.method, row.mean, row.std, row.rank, row.difference, row.difference === null || row.low === null ? "" : `${signed(row.low)} to ${signed(row.high)}`, row.p_adjusted, row.kernels, row.seconds]);
  const titles = ["method", s.metric, "± over folds", "rank", `from ${data.against}`, "95 % interval", several_ ? "adjusted p" : "p", "kernels", "seconds"];
  return section("table", "All methods", `Each method is compared with ${data.against} by the corrected t-test of Nadeau and Bengio. ${several_ ? "The p-values are adjusted for the number of comparisons (Holm); each interval is for its comparison alone. " : ""}“Kernels” is how many have weight, on average over the folds. Seconds are those of all folds together.`,
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table: all methods" }, sortable(titles, rows, ["name", ...Array(8).fill("number")], (row, c) => row[c] === null ? null : c === 1 || c === 2 ? score(row[c]) : c === 4 ? signed(row[c]) : c === 6 ? shownP(row[c]) : c === 7 ? number(row[c], 3) : c === 8 ? number(row[c], 2) : null)),
    el("div", { class: "tools" }, el("button", { type: "button", class: "small", "aria-label": "Save the table as CSV: all methods", onclick: () => save(fileName("methods", ".csv"), "text/csv", csv({ titles, rows })) }, "CSV")));
}

const withQuality = (kind) => data.models.filter((one) => one.quality && one.quality.kind === kind);
// Tables of two classes stand side by side; wider ones would be cut.
const sideBySide = (tables, wide) => wide ? tables : panels(...tables);
function classesSection() {
  const known = withQuality("classes");
  if (!known.length) return null;
  return section("confusion", "Right and wrong classes", "Each held-out sample is counted by its true class (row) and by the class that the model predicted (column). Correct predictions are on the diagonal.", sideBySide(known.map((one) => [el("h4", {}, one.name), confusion(one.quality, `: ${one.name}`)]), known[0].quality.labels.length > 2));
}
function allCurvesSection() {
  const known = withQuality("classes").filter((one) => one.quality.curves.length === 1), curves = known.map((one) => ({ ...one.quality.curves[0], label: one.name }));
  if (!curves.length) return null;
  return section("curves", "ROC and precision–recall", `Each point is one threshold for assigning a sample to “${known[0].quality.curves[0].label}”, over all held-out samples. Dashed lines are guessing. The areas are means over the folds.`, rocPanels(curves),
    legendOf(curves.map((c) => `${c.label}: area under ROC ${plusMinus(c.auc.mean, c.auc.std)}, average precision ${plusMinus(c.ap.mean, c.ap.std)}`)));
}
function allCalibrationSection() {
  const known = withQuality("classes").filter((one) => one.quality.calibration);
  if (!known.length) return null;
  return section("calibration", "Are probabilities right?", "Held-out samples are grouped by the probability that the model predicted. Each point compares the mean predicted probability of a group with how often the class was the true one. On the dashed line both agree. Only models that give probabilities are shown.", calibrationPanel(known.map((one) => ({ label: one.name, told: one.quality.calibration }))),
    legendOf(known.map((one) => `${one.name}: off by ${number(one.quality.calibration.off, 2)} on average, Brier score ${number(one.quality.calibration.brier)}`)));
}
function allErrorsSection() {
  const known = withQuality("numbers");
  if (!known.length) return null;
  return section("errors", "Predicted and true", "Predictions of held-out samples. On the dashed line they are exact.", panels(...known.map((one) => truthPanel(one.quality, `${one.name}: off by ${number(one.quality.mean_error)} on average`, `Predicted and true: ${one.name}`))));
}
function allSurvivalSection() {
  const known = data.models.filter((one) => one.survival);
  if (!known.length) return null;
  return section("survival", "Survival by predicted risk", "Each model splits the samples into thirds by the risk that it predicted when they were held out. The farther apart the curves, the better it separates high from low risk.",
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
