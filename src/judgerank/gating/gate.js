// Judgments: search, filter, order, and steps from one to the next.
const judgments = document.getElementById("judgments"), every = [...judgments.children];
const texts = new Map(every.map((one) => [one, one.textContent.toLowerCase()]));
const controls = Object.fromEntries(["search", "group", "outcome", "order"].map((id) => [id, document.getElementById(id)]));
function update() {
  const words = controls.search.value.toLowerCase().split(/\s+/).filter(Boolean), sign = Number(controls.order.value);
  const group = controls.group?.value ?? "", outcome = controls.outcome.value;
  for (const one of every) {
    const fits = words.every((word) => texts.get(one).includes(word)) && (!outcome || one.dataset.outcome === outcome)
      && (!group || one.dataset.groups.split("\n").includes(group));
    one.hidden = !fits;
  }
  judgments.append(...every.toSorted((a, b) => sign * (a.dataset.score - b.dataset.score)));
  const text = `${every.filter((one) => !one.hidden).length} of ${every.length} questions`;
  document.getElementById("shown").textContent = text;
  announce(text);
}
for (const control of Object.values(controls)) control?.addEventListener("input", update);
judgments.addEventListener("click", (event) => {
  const step = Number(event.target.closest("[data-step]")?.dataset.step);
  if (!step) return;
  const shown = [...judgments.children].filter((one) => !one.hidden);
  const next = shown[shown.indexOf(event.target.closest(".judgment")) + step];
  if (!next) return;
  next.open = true;
  next.querySelector("summary").focus();
});
judgments.addEventListener("toggle", (event) => {
  if (event.target.open) event.target.scrollIntoView({ block: matchMedia("(max-width: 40em)").matches ? "start" : "nearest" });
}, true);
update();
await ready;
root.dataset.complete = "true";
