// -- all of it, in order ------------------------------------------------------------------------------------
function chapters() {
  const views = { Views: () => importanceOf("view"), Shares: sharesSection, Tests: () => chanceOf("view"), Presence: () => data.data.presence ? presence(data.data.presence, data.data.samples) : null };
  const kernels = { Weights: weightsSection, Regions: gatesSection, Interactions: interactionsSection, Widths: widthsSection, Similarity: similaritySection, Chance: () => chanceOf("kernel"), Selection: selectionSection, Path: pathSection };
  return [
    ["verdict", "In short", null, { Verdict: verdictSection, Summary: cards }],
    ["quality", "How good is it?", null, { Scores: scoresSection, Classes: confusionSection, Curves: curvesSection, Calibration: calibrationSection, Errors: errorsSection, Survival: survivalSection }],
    ["columns", "Which columns matter?", null, { Importance: () => importanceOf("column"), Effects: effectsSection, Data: dataSection }],
    ["views", "Which views matter?", null, views],
    ["kernels", "Which kernels were learned?", "A kernel measures how similar two samples are. The model is a weighted sum of kernels.", kernels],
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
// On paper charts are drawn for its width, with all that is folded away but the tables beside charts.
addEventListener("beforeprint", () => {
  document.documentElement.classList.add("printing");
  document.querySelectorAll("details:not(.numbers)").forEach((d) => { d.open = true; });
  repaint();
});
addEventListener("afterprint", () => { document.documentElement.classList.remove("printing"); repaint(); });
