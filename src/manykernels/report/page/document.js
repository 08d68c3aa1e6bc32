// -- the page ---------------------------------------------------------------------------------------------
const report = document.getElementById("report"), contents = document.getElementById("contents");
function section(id, title, hint, ...children) {
  const [first, ...rest] = children.flat(9).filter((child) => child !== null && child !== undefined), head = [el("h3", {}, title), hint ? el("p", { class: "hint" }, hint) : null];
  const figure = first instanceof Element && first.tagName === "FIGURE"; // which stays with its title on paper
  return el("section", { id }, figure ? el("div", { class: "lead" }, head, first) : [head, first], rest);
}
// A chapter is there if one of its sections is.
function chapter(id, title, hint, makers) {
  const made = Object.entries(makers).map(([what, make]) => attempt(what, make)).flat().filter(Boolean);
  if (!made.length) return null;
  contents.append(el("a", { href: "#" + id }, title));
  return el("section", { id, class: "chapter", "aria-labelledby": "title-" + id }, el("h2", { id: "title-" + id }, title), hint ? el("p", { class: "hint" }, hint) : null, made);
}
function toggles(options, chosen, pick) {
  const buttons = options.map(([value, text]) => el("button", {
    type: "button", "aria-pressed": String(value === chosen),
    onclick: () => {
      buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(options[i][0] === value)));
      pick(value);
    },
  }, text));
  return buttons;
}


function header() {
  const d = data.data, target = d.target;
  const size = d.features === null ? numberOf(d.kernels, "kernel") : numberOf(d.features, "column");
  const theme = el("button", {
    type: "button", id: "theme", onclick: () => {
      const root = document.documentElement;
      const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
    },
  }, "Light / dark");
  document.getElementById("head").append(el("div", {}, el("h1", {}, data.title),
    el("p", { class: "muted" }, (data.models ? `${data.models.length} models on` : `${data.estimator} on`) + ` ${d.samples} samples with ${size}; ${target.outputs > 1 ? `${target.outputs} targets` : `target “${target.name}”`}. `
      + `Made ${data.made} by manykernels ${data.version}.`)), theme);
}

// -- the verdict ------------------------------------------------------------------------------------------
const GROUPS = [["How good", ["quality", "guessing"]], ["Compared with alternatives", ["alternatives"]], ["What the predictions need", ["views", "columns"]], ["Be careful", ["care"]]];
const TONES = { good: ["✓", "Good: "], bad: ["✗", "Bad: "], care: ["!", "Caution: "], plain: ["", ""] };
// Codes of checks lead to what the page says of them.
const linked = (text) => text.split(/\b(MK\d{3})\b/).map((part) => (data.checks || []).some((one) => one.code === part) ? el("a", { href: "#" + part }, part) : part);
function verdictSection() {
  const told = (one) => el("li", { class: one.tone }, el("span", { class: "sign", "aria-hidden": "true" }, TONES[one.tone][0]), el("span", {}, el("span", { class: "sr" }, TONES[one.tone][1]), linked(one.text)));
  return GROUPS.map(([title, about]) => {
    const own = data.verdict.filter((one) => about.includes(one.about));
    return own.length ? el("div", { class: "answer" }, el("h3", {}, title), el("ul", {}, own.map(told))) : null;
  });
}

function cards() {
  const target = data.data.target, made = [], s = data.scores;
  const breakable = (text) => text.replace(/× /g, "×\u00a0").split(/(?=\()|(?<=[=,:·_/ ])/).flatMap((part, i) => i ? [el("wbr"), part] : [part]);
  const card = (big, small) => made.push(el("div", { class: "card" }, el("b", { class: big.length > 16 ? "long" : null }, breakable(big)), el("span", {}, small)));
  if (s) {
    const own = s.rows[0], rival = s.rival, constant = s.chance;
    if (own.mean !== null) card(plusMinus(own.mean, own.std), `${s.metric} on samples that the model did not learn from` + (data.selection && s.searched === "anew" ? ", the search repeated in each fold" : ""));
    if (constant && constant.mean !== null) card(Math.abs(constant.mean) < 5e-4 ? "0" : score(constant.mean), `${s.metric} of guessing` + (s.permutation ? `; ${chances(s.permutation.p_value)} for the model by ${s.permutation.null.length} permutations of the target` : ""));
    if (rival) card(signed(rival.mean), `difference from the best alternative, ${rival.name}: ${rival.p_value === null ? "from one fold only" : rival.shown}`);
  }
  if (target.scores) card(number(target.scores.median), `R² on samples left out, the median over ${target.outputs} targets`);
  const matters = leader();
  if (matters) card(short(matters.name, 34), `matters most: without it, ${theScore(data.importance.metric)} falls by ${score(matters.mean)}`);
  return made.length ? el("div", { class: "cards" }, made) : null;
}

// Bars of phones are hidden until one scrolls, so that it is said where there is more to see.
const boxes = [];
function tall(table) {
  const box = el("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": `Table: ${table.getAttribute("aria-label")}` }, table), more = el("p", { class: "more", hidden: true });
  box.look = () => {
    const rows = table.tBodies[0].rows.length;
    more.hidden = box.scrollHeight <= box.clientHeight + 1;
    more.textContent = `↕ ${rows} rows: scroll in the table to see all of them.`;
  };
  boxes.push(box);
  return [box, more];
}

function sortable(titles, rows, classes, cell, label = titles.filter(Boolean).join(", ")) {
  const body = el("tbody"), written = titles.map((_, c) => alike(rows.map((row) => row[c]), 4));
  const fill = (sorted) => body.replaceChildren(...sorted.map((row) => el("tr", {}, row.map((value, c) =>
    el("td", { class: classes[c] }, cell && cell(row, c) || (typeof value === "number" ? written[c](value) : value ?? "–"))))));
  const heads = titles.map((title, c) => {
    const head = el("th", { scope: "col", class: classes[c] === "number" ? "number" : null }, title === "" ? el("span", { class: "sr" }, "bar") : el("button", {
      type: "button", onclick: () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        heads.forEach((h) => h.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const sign = down ? -1 : 1;
        fill([...rows].sort((a, b) => sign * (typeof a[c] === "number" ? a[c] - b[c] : String(a[c] ?? "").localeCompare(String(b[c] ?? "")))));
      },
    }, title));
    return head;
  });
  fill(rows);
  const table = el("table", { "aria-label": label }, el("thead", {}, el("tr", {}, heads)), body);
  table.fill = (kept) => { rows = kept; fill(kept); boxes.forEach((box) => box.look()); };
  return table;
}

