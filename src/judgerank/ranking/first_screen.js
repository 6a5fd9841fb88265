// The first screen: another ranking of the same judgments in the same rows, and rows filtered by facts on the models.
const picture = byId("picture"), viewChosen = byId("view"), viewTold = byId("view-told");
const filters = [...document.querySelectorAll("select[data-fact]")];
const allRows = picture.parentElement.querySelectorAll("tbody tr:not(.head)");
const rowByModel = new Map([...allRows].map((row) => [place.get(row.querySelector("td.name").title), row]));
const asFitted = [...picture.parentElement.querySelectorAll("table")].map((table) => [table, [...table.tBodies]]);
const inRow = (row) => ({
  ranks: row.querySelector(".ranks"), svg: row.querySelector("svg"), even: row.querySelector(".even"),
  interval: row.querySelector(".interval"), estimate: row.querySelector(".estimate"), rate: row.querySelector("td.number"),
});
const numbersOf = (row) => {
  const at = inRow(row);
  return [at.ranks.textContent, at.interval?.getAttribute("x"), at.interval?.getAttribute("width"), at.estimate.getAttribute("x"),
    at.rate.textContent, at.svg.getAttribute("aria-label"), at.even.getAttribute("x1")];
};
const fitted = new Map([...allRows].map((row) => [row, numbersOf(row)]));
function put(row, [ranks, x, width, estimate, rate, told, even]) {
  const at = inRow(row);
  at.ranks.textContent = ranks;
  at.interval?.setAttribute("x", x ?? 0);
  at.interval?.setAttribute("width", x == null ? 0 : width);
  at.estimate.setAttribute("x", estimate);
  at.rate.textContent = rate;
  at.svg.setAttribute("aria-label", told);
  for (const end of ["x1", "x2"]) at.even.setAttribute(end, even);
}
function drawView(view) {
  const bodies = view.groups.map((group) => {
    const body = made("tbody");
    if (group.head) {
      const line = body.insertRow();
      line.className = "head";
      line.append(made("th", group.head, { scope: "rowgroup", colspan: 4 }));
    }
    for (const [model, ranks, low, at, high, rate, told] of group.rows) {
      const row = rowByModel.get(model);
      put(row, [ranks, low, low === null ? 0 : (high - low).toFixed(2), (at - 0.4).toFixed(2), rate, told, view.even]);
      body.append(row);
    }
    return body;
  });
  picture.append(...bodies);
}
function show() {
  for (const [table, bodies] of asFitted) {
    for (const body of [...table.tBodies]) body.remove();
    table.append(...bodies);
  }
  for (const { bodies, rows } of inOrder) bodies.append(...rows);
  for (const [row, numbers] of fitted) put(row, numbers);
  const view = viewChosen?.value ? data.views[viewChosen.value] : null;
  const folded = picture.parentElement.querySelector("details");
  if (view) {
    for (const [, bodies] of asFitted) for (const body of bodies) body.remove();
    drawView(view);
  }
  if (folded) folded.hidden = view !== null;
  if (viewTold) {
    viewTold.hidden = view === null;
    viewTold.textContent = view?.told ?? "";
  }
  filter();
}
const inOrder = asFitted.flatMap(([, all]) => all.map((bodies) => ({ bodies, rows: [...bodies.rows] })));
function filter() {
  for (const row of allRows) {
    row.hidden = filters.some((one) => one.value && row.getAttribute(`data-${one.dataset.fact}`) !== one.value);
  }
  for (const body of picture.parentElement.querySelectorAll("tbody")) {
    body.hidden = [...body.rows].every((row) => row.hidden || row.classList.contains("head"));
  }
}
viewChosen?.addEventListener("change", show);
for (const one of filters) one.addEventListener("change", () => {
  filter();
  announce(`${[...allRows].filter((row) => !row.hidden && row.isConnected).length} models shown`);
});
root.dataset.complete = "true";
