// A person's votes: one item at a time, kept in the browser until they are saved as JSON Lines.
const root = document.documentElement;
root.classList.add("scripted");
root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
const at = (id) => document.getElementById(id);
const source = at("items");
const items = JSON.parse(source.textContent);
const kept = (() => { try { return localStorage; } catch { return null; } })();
const last = `judgerank-voter-${source.dataset.identity}`;
const place = (voter) => `judgerank-votes-${source.dataset.identity}-${voter}`; // people may share a browser
let state = { voter: kept?.getItem(last) ?? at("voter").value, votes: [], saved: 0 };
let since = 0;
let began = false;

function keep() {
  try {
    kept?.setItem(place(state.voter), JSON.stringify(state));
    kept?.setItem(last, state.voter);
  } catch { /* full, or not allowed */ }
}
const named = (text) => JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text), (one) => one.charCodeAt(0))));
function fill(box, turns) {
  box.replaceChildren(...turns.map((turn) => Object.assign(document.createElement("p"), { textContent: turn })));
}
function show() {
  const number = state.votes.length;
  const over = number >= items.length;
  at("start").hidden = true;
  at("bar").hidden = false;
  at("item").hidden = over;
  at("done").hidden = !over;
  for (const button of document.querySelectorAll("[data-vote], #skip")) button.disabled = over;
  at("undo").disabled = number === 0;
  const voted = state.votes.filter((one) => one.winner).length;
  at("progress").textContent = over ? `${voted} vote${voted === 1 ? "" : "s"}` : `Item ${number + 1} of ${items.length}`;
  if (over) { at("done").focus(); return; }
  fill(at("question"), items[number].question);
  fill(at("a"), items[number].first);
  fill(at("b"), items[number].second);
  scrollTo(0, 0);
  since = performance.now();
}
function vote(winner) {
  if (!began || state.votes.length >= items.length) return;
  const seconds = Math.round((performance.now() - since) / 100) / 10;
  state.votes.push({ winner, seconds, voted_at: new Date().toISOString().slice(0, 19) + "+00:00" });
  keep();
  show();
}
function undo() {
  if (!began || !state.votes.length) return;
  state.votes.pop();
  keep();
  show();
}
function save() {
  const lines = state.votes.flatMap((one, number) => {
    if (!one.winner) return [];
    const [question_id, model_a, model_b] = named(items[number].key);
    const { winner, seconds, voted_at } = one;
    return [JSON.stringify({ question_id, model_a, model_b, winner, judge: state.voter, human: true, seconds, voted_at })];
  });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "application/jsonl" }));
  link.download = `votes-${state.voter.replace(/[^\p{L}\p{N}]+/gu, "-")}.jsonl`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  state.saved = state.votes.length;
  keep();
}

at("voter").value = state.voter;
at("start").addEventListener("submit", (event) => {
  event.preventDefault();
  const voter = at("voter").value.trim();
  if (!voter) return;
  state = { voter, votes: [], saved: 0, ...JSON.parse(kept?.getItem(place(voter)) ?? "{}") };
  began = true;
  keep();
  show();
});
for (const button of document.querySelectorAll("[data-vote]")) button.addEventListener("click", () => vote(button.dataset.vote));
at("skip").addEventListener("click", () => vote(null));
at("undo").addEventListener("click", undo);
at("save").addEventListener("click", save);
const KEYS = { a: () => vote("a"), 1: () => vote("a"), ArrowLeft: () => vote("a"), b: () => vote("b"), 2: () => vote("b"),
  ArrowRight: () => vote("b"), t: () => vote("tie"), 0: () => vote("tie"), s: () => vote(null), u: undo };
addEventListener("keydown", (event) => {
  if (!began || event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.tagName === "INPUT") return;
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (act) { event.preventDefault(); act(); }
});
addEventListener("beforeunload", (event) => { if (state.votes.length > state.saved) event.preventDefault(); });
root.dataset.complete = "";
