/* Print dark pages with the light theme: ink is dark, paper is not. */
(() => {
  const page = document.documentElement;
  let before = null;
  addEventListener("beforeprint", () => {
    before = page.dataset.theme;
    page.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    if (before !== null) page.dataset.theme = before;
    before = null;
  });
})();
