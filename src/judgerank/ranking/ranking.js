// What a ranking's page has beyond every page: a rival to compare with, duels, the judgments behind a number, tabs.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const place = new Map(data.models.map((name, number) => [name, number]));
const made = (tag, text, attributes = {}) => {
  const element = Object.assign(document.createElement(tag), { textContent: text ?? "" });
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

// numbers by pair, whichever way round
const keyed = (table) => new Map((table.first ?? []).map((i, row) => [
  `${Math.min(i, table.second[row])} ${Math.max(i, table.second[row])}`, row]));
const [counted, testedRow] = [keyed(data.pairs), keyed(data.tested)];
const rowOf = (map, i, j) => map.get(`${Math.min(i, j)} ${Math.max(i, j)}`);

function chance(i, j) {
  if (i === j || data.components[i] !== data.components[j]) return null;
  const curve = data.curves.find((one) => one.component === data.components[i]);
  const lead = data.scores[i] - data.scores[j];
  const at = Math.min(1, Math.abs(lead) / curve.reach) * (curve.chance.length - 1);
  const low = Math.floor(at), high = Math.min(low + 1, curve.chance.length - 1);
  const better = curve.chance[low] + (at - low) * (curve.chance[high] - curve.chance[low]);
  return lead >= 0 ? better : 1 - better;
}
function record(i, j) {
  const row = rowOf(counted, i, j);
  if (row === undefined) return { count: 0, won: null };
  const won = data.pairs.won[row];
  return { count: data.pairs.count[row], won: data.pairs.first[row] === i ? won : 1 - won };
}

// a pair by judge: whose share of wins is farthest from that of the others shows at a glance who favours a model
const ofPair = new Map();
data.by_judge.first.forEach((i, row) => {
  const key = `${i} ${data.by_judge.second[row]}`;
  ofPair.set(key, [...(ofPair.get(key) ?? []), row]);
});
const percent = (share) => `${Math.round(100 * share)}%`;
function byJudge(i, j) {
  const { judge, count, won } = data.by_judge;
  const rows = ofPair.get(`${Math.min(i, j)} ${Math.max(i, j)}`) ?? [];
  return rows.map((row) => ({ judge: data.judges[judge[row]], count: count[row], won: i < j ? won[row] : 1 - won[row] }))
    .sort((a, b) => b.count - a.count);
}
const NAMED = 12; // judges of a pair that a sentence names
const LEAST = 5; // comparisons of a judge, and of the others
function farthest(i, j) {
  const all = byJudge(i, j), count = all.reduce((sum, part) => sum + part.count, 0);
  const won = all.reduce((sum, part) => sum + part.count * part.won, 0);
  let found = null;
  for (const part of all) {
    if (part.count < LEAST || count - part.count < LEAST) continue;
    const others = (won - part.count * part.won) / (count - part.count);
    if (found === null || Math.abs(part.won - others) > Math.abs(found.won - found.others)) found = { ...part, others };
  }
  return found;
}

// the judgments behind a pair or a judge: question, both answers and every judge's words where the texts are here
const behind = byId("behind"), PAGE = 100, READ = 20;
let listed = [], shownRows = 0, reading = null;
const COLUMNS = { question: data.has_scores ? "task" : "question", shown: data.ordered ? "shown first, second" : "models", judge: "judge", answer: data.has_scores ? "higher score" : "preferred", times: "times", reply: "reply" };
const preferred = (row) => ({ a: data.models[data.records.first[row]], b: data.models[data.records.second[row]] })[data.records.answer[row]] ?? data.records.answer[row];
function tabled(rows) {
  const r = data.records, body = behind.querySelector("tbody");
  for (const row of rows) {
    const line = body.insertRow();
    const cells = {
      question: r.question[row], shown: `${data.models[r.first[row]]}, ${data.models[r.second[row]]}`,
      judge: data.judges[r.judge[row]], answer: preferred(row), times: r.times[row],
    };
    for (const name of present()) {
      const cell = line.insertCell();
      if (name !== "reply") { cell.textContent = cells[name] ?? ""; continue; }
      if (r.reply[row] == null) continue;
      const reply = made("details");
      reply.append(made("summary", "read"), made("pre", r.reply[row]));
      cell.append(reply);
    }
  }
}
const textOf = (kind, key) => (Object.hasOwn(data.texts[kind], key) ? data.texts[kind][key] : undefined);
function beside([question, rows]) {
  const block = made("article"), pair = made("div", "", { class: "beside" }), said = made("dl");
  block.append(made("h3", textOf("questions", question) ?? question, { class: "question" }));
  for (const model of reading) {
    const side = made("div");
    side.append(made("h4", data.models[model]), made("pre", textOf("answers", question)?.[model] ?? "The text is not here."));
    pair.append(side);
  }
  for (const row of rows) {
    const r = data.records, first = data.ordered ? ` (${data.models[r.first[row]]} shown first)` : "";
    const answer = ["a", "b"].includes(r.answer[row]) ? `prefers ${preferred(row)}` : `says: ${preferred(row)}`;
    said.append(made("dt", `${data.judges[r.judge[row]]} ${answer}${first}`));
    if (r.reply[row]) said.append(made("dd", r.reply[row]));
  }
  block.append(pair, said);
  return block;
}
function more() {
  const next = listed.slice(shownRows, shownRows + (reading ? READ : PAGE));
  if (reading) byId("behind-read").append(...next.map(beside));
  else tabled(next);
  shownRows += next.length;
  byId("behind-more").hidden = shownRows >= listed.length;
}
const present = () => Object.keys(COLUMNS).filter((name) => (name === "judge" ? data.has_judges : ["shown", "answer"].includes(name) || data.records[name]?.length));
function open(head, told, rows, pair) {
  const byQuestion = new Map();
  for (const row of rows) byQuestion.set(data.records.question[row], [...(byQuestion.get(data.records.question[row]) ?? []), row]);
  reading = pair && [...byQuestion.keys()].some((question) => textOf("answers", question)) ? pair : null;
  listed = reading ? [...byQuestion] : rows;
  shownRows = 0;
  byId("behind-read").replaceChildren();
  behind.querySelector(".table").hidden = reading !== null;
  byId("behind-head").textContent = head;
  byId("behind-told").replaceChildren(...told.map((text) => made("p", text)));
  const heads = behind.querySelector("thead");
  heads.replaceChildren(made("tr"));
  heads.firstChild.append(...present().map((name) => made("th", COLUMNS[name], { scope: "col" })));
  behind.querySelector("tbody").replaceChildren();
  more();
  behind.showModal();
}
byId("behind-more").addEventListener("click", more);
function capped(rows, total) {
  const all = data.records.first.length === data.all;
  const there = `${rows.length} ${rows.length === 1 ? "record is" : "records are"} listed`;
  return all ? `${there}.` : `${there}. The page holds ${data.records.first.length} of all ${data.all} records, the first ones of every pair.` +
    (total ? ` These two models have ${total}.` : "");
}
function openPair(i, j) {
  const { count, won } = record(i, j), r = data.records;
  const told = [];
  const p = chance(i, j);
  const wins = data.has_scores ? ["scores higher on", " of tasks"] : ["is preferred in", ""];
  if (p !== null) told.push(`The model estimates that ${data.models[i]} ${wins[0]} ${(100 * p).toFixed(0)}%${wins[1]}.`);
  const row = rowOf(testedRow, i, j);
  if (row !== undefined) {
    const t = data.tested, sign = t.first[row] === i ? 1 : -1;
    const ends = [sign * t.low[row], sign * t.high[row]].sort((a, b) => a - b).map((x) => x.toFixed(3));
    told.push(`Difference of scores ${(sign * t.difference[row]).toFixed(3)}, confidence interval ${ends[0]} to ${ends[1]}; ` +
      `${t.separated[row] ? "a significant difference" : "no significant difference"} (p ${t.p_holm[row] < 0.001 ? "< 0.001" : `= ${t.p_holm[row]}`}, Holm).`);
  }
  told.push(count ? `${data.models[i]} won ${(100 * won).toFixed(1)}% of their ${count} comparisons (a tie counts half).` : "They were never compared.");
  const judges = byJudge(i, j);
  if (judges.length > 1) told.push(`By judge: ${judges.slice(0, NAMED).map((one) => `${one.judge} ${percent(one.won)} of ${one.count}`).join(", ")}` +
    `${judges.length > NAMED ? `, and ${judges.length - NAMED} more` : ""}.`);
  const rows = r.first.flatMap((first, n) => ((first === i && r.second[n] === j) || (first === j && r.second[n] === i) ? [n] : []));
  told.push(capped(rows, count));
  open(`${data.models[i]} against ${data.models[j]}`, told, rows, [i, j]);
}
function openJudge(name) {
  const k = data.judges.indexOf(name);
  const rows = data.records.judge.flatMap((judge, n) => (judge === k ? [n] : []));
  open(`Judgments by ${name}`, [capped(rows)], rows);
}

// duels
const AT_ONCE = 25;
const from = byId("duel-from"), kind = byId("duel-kind");
for (let start = 0; start < data.models.length; start += AT_ONCE) {
  from.append(new Option(`${start + 1} to ${Math.min(start + AT_ONCE, data.models.length)}`, start));
}
from.parentElement.hidden = data.models.length <= AT_ONCE;
function cellOf(i, j) {
  if (kind.value === "count") return { text: String(record(i, j).count), tint: null };
  if (kind.value === "judge") {
    const far = farthest(i, j);
    return { text: far ? `${far.judge} ${percent(far.won)}, others ${percent(far.others)}` : "", tint: far && 0.5 + (far.won - far.others) / 2 };
  }
  const value = kind.value === "chance" ? chance(i, j) : record(i, j).won;
  return { text: value === null ? "" : value.toFixed(2), tint: value };
}
function duel() {
  const start = Number(from.value), end = Math.min(start + AT_ONCE, data.models.length);
  const table = made("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  table.append(made("caption", `Head to head: ${kind.selectedOptions[0].textContent}`));
  head.append(made("td"));
  for (let j = start; j < end; j += 1) head.append(made("th", data.models[j], { scope: "col" }));
  for (let i = start; i < end; i += 1) {
    const line = body.insertRow();
    line.append(made("th", data.models[i], { scope: "row" }));
    for (let j = start; j < end; j += 1) {
      const cell = line.insertCell();
      if (i === j) continue;
      const { text, tint } = cellOf(i, j);
      const button = made("button", text || "-", { type: "button", "aria-label": `${data.models[i]} against ${data.models[j]}: ${text || "none"}` });
      if (tint !== null) {
        const colour = tint >= 0.5 ? "#0072B2" : "#D55E00";
        cell.style.background = `color-mix(in srgb, ${colour} ${Math.round(50 * Math.abs(2 * tint - 1))}%, var(--paper))`;
      }
      button.addEventListener("click", () => openPair(i, j));
      cell.append(button);
    }
  }
  byId("matrix").replaceChildren(table);
}
from.addEventListener("change", duel);
kind.addEventListener("change", duel);

// win probability against a rival
const rival = byId("rival");
for (const name of data.models) rival.append(new Option(name));
function against() {
  const table = tables.leaderboard, j = place.get(rival.value);
  const [names, versus] = ["model", "versus"].map((name) => table.column(`${name}:name`).nodes().toArray());
  versus.forEach((cell, row) => {
    const p = chance(place.get(names[row].textContent), j);
    cell.textContent = p === null ? "--" : p.toFixed(2);
    cell.dataset.order = p ?? -1;
  });
  table.cells(null, "versus:name").invalidate();
  table.draw(false);
}
rival.addEventListener("change", () => { against(); announce(`Win probabilities against ${rival.value}`); });

// names that open what is behind them
function link(cell, label, action) {
  const button = made("button", cell.textContent, { type: "button", class: "link", "aria-label": `${cell.textContent}: ${label}` });
  button.addEventListener("click", action);
  cell.replaceChildren(button);
}
function links() {
  const { judges, neighbours } = tables;
  const column = (table, name) => table.column(`${name}:name`).nodes().toArray();
  for (const cell of judges ? column(judges, "judge") : []) {
    const name = cell.textContent;
    link(cell, "its judgments", () => openJudge(name));
  }
  for (const cell of document.querySelectorAll("#verdicts tbody td:first-child")) link(cell, "its judgments", () => openJudge(cell.title));
  const [first, second] = ["first", "second"].map((name) => column(neighbours, name));
  first.forEach((cell, row) => {
    const [i, j] = [place.get(cell.textContent), place.get(second[row].textContent)];
    link(cell, `${data.has_scores ? "tasks" : "judgments"} against ${data.models[j]}`, () => openPair(i, j));
  });
}

// the models that share the lead are shaded
function shade() {
  const table = tables.leaderboard, best = table.column("rank_low:name").nodes().toArray();
  for (const cell of best) cell.parentElement.classList.toggle("shaded", cell.textContent === "1");
}

// tabs of categories
const tabs = [...document.querySelectorAll('[role="tab"]')];
function choose(chosen, focus) {
  for (const tab of tabs) {
    const is = tab === chosen;
    tab.setAttribute("aria-selected", String(is));
    tab.tabIndex = is ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !is;
  }
  if (focus) chosen.focus();
}
tabs.forEach((tab, number) => {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) choose(tabs[(number + step + tabs.length) % tabs.length], true);
  });
});
if (tabs.length) choose(tabs[0]);

duel();
await ready;
rival.selectedIndex = 0;
against();
links();
shade();
