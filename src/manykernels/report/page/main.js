// -- all of it, in order ------------------------------------------------------------------------------------
// What a kernel is, and what is said in the names of those that are here.
function kernelWords() {
  const names = [...data.weights.names, ...(data.chance ? Object.values({ ...data.chance.tests.kernels }).flat() : [])].join(" ");
  return "A kernel measures how similar two samples are. The model is a weighted sum of kernels."
    + (/ × median/.test(names) ? " “2 × median” is the width of a kernel: twice the median distance between samples." : "")
    + (/normal scores/.test(names) ? " “Normal scores” stands for columns whose values are replaced by their ranks, on a bell-shaped scale." : "");
}
const columnsTitle = () => !data.importance || !data.importance.columns ? "The data" : data.data.features === null ? "Which kernels matter?" : "Which columns matter?";
function chapters() {
  const views = { Views: () => importanceOf("view"), Shares: sharesSection, Tests: () => chanceOf("view"), Presence: () => data.data.presence ? presence(data.data.presence, data.data.samples) : null };
  const kernels = { Weights: weightsSection, Regions: gatesSection, Interactions: interactionsSection, Widths: widthsSection, Similarity: similaritySection, Chance: () => chanceOf("kernel"), Selection: selectionSection, Path: pathSection };
  return [
    ["verdict", "In short", null, { Verdict: verdictSection, Summary: cards }],
    ["quality", "How good is it?", null, { Scores: scoresSection, Classes: confusionSection, Curves: curvesSection, Calibration: calibrationSection, Errors: errorsSection, Survival: survivalSection }],
    ["columns", columnsTitle(), null, { Importance: () => importanceOf("column"), Effects: effectsSection, Data: dataSection }],
    ["views", "Which views matter?", null, views],
    ["kernels", "Which kernels were learned?", kernelWords(), kernels],
    ["samples", "Single samples", null, { Samples: samplesSection }],
    ["checks", "Checks", null, { Checks: checksSection }],
    ["made", "How it was made", null, { Methods: methodsSection, Call: callSection, "What is left out": leftOutSection }],
    ["appendix", "Appendix: the fit", null, { Certificate: certificateSection, Convergence: convergenceSection }],
  ];
}
attempt("Header", header);
report.append(...(data.models ? compared() : chapters()).map((one) => chapter(...one)).filter(Boolean));
repaint();
new ResizeObserver(repaint).observe(report);
// On paper charts are drawn for its width. What is folded away is printed too, but for the tables beside charts and
// those that fill pages.
const LONG = 40;
addEventListener("beforeprint", () => {
  document.documentElement.classList.add("printing");
  document.querySelectorAll("details:not(.numbers)").forEach((d) => { d.open = d.open || d.querySelectorAll("tbody tr").length <= LONG; });
  repaint();
});
addEventListener("afterprint", () => { document.documentElement.classList.remove("printing"); repaint(); });
