// What every page has: a theme, tables that sort, search and filter. Without scripts the tables stay readable.
const root = document.documentElement;
root.classList.add("scripted");
const announced = document.getElementById("announced");
const announce = (text) => { announced.textContent = text; };

// theme
const THEMES = ["as the system", "light", "dark"];
const wanted = matchMedia("(prefers-color-scheme: dark)");
const remembered = (() => { try { return localStorage; } catch { return null; } })();
const toggle = document.getElementById("theme");
let theme = Math.max(0, THEMES.indexOf(remembered?.getItem("judgerank-theme")));
function paint() {
  const dark = theme === 2 || (theme === 0 && wanted.matches);
  root.dataset.theme = dark ? "dark" : "light";
  root.classList.toggle("dark", dark);
  toggle.textContent = `Theme: ${THEMES[theme]}`;
}
toggle.addEventListener("click", () => {
  theme = (theme + 1) % THEMES.length;
  remembered?.setItem("judgerank-theme", THEMES[theme]);
  paint();
});
wanted.addEventListener("change", paint);

// tables
async function librarian() {
  const packed = Uint8Array.from(atob(document.getElementById("table-library").textContent), (one) => one.charCodeAt(0));
  const source = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).blob();
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const library = await import(address);
  URL.revokeObjectURL(address);
  return library.default;
}
function filtersOf(table, element) {
  const bar = document.createElement("div");
  bar.className = "controls";
  for (const head of element.querySelectorAll("thead th[data-filter]")) {
    const column = table.column(`${head.dataset.name}:name`);
    const [box, label, select] = ["div", "label", "select"].map((tag) => document.createElement(tag));
    select.id = `${element.id}-${head.dataset.name}`;
    label.htmlFor = select.id;
    label.textContent = head.textContent.trim();
    box.append(label, select);
    select.append(new Option("all", ""));
    for (const text of [...new Set(column.nodes().toArray().map((cell) => cell.textContent))].sort()) {
      select.append(new Option(text || "(none)", text));
    }
    select.addEventListener("change", () => column.search(select.value, { exact: select.value !== "" }).draw());
    bar.append(box);
  }
  if (bar.children.length) element.closest(".dt-container").before(bar);
}
const tables = {};
async function enliven() {
  const DataTable = await librarian();
  for (const element of document.querySelectorAll("table.interactive")) {
    const heads = [...element.querySelectorAll("thead th")];
    const rows = element.tBodies[0].rows.length;
    const name = element.caption?.textContent ?? element.id;
    const table = new DataTable(element, {
      columns: heads.map((head) => ({ name: head.dataset.name ?? head.textContent, visible: !head.dataset.hidden })),
      order: [], autoWidth: false, deferRender: true, paging: rows > 60, pageLength: 50,
      lengthMenu: [25, 50, 100, 250, { label: "all", value: -1 }],
      layout: {
        topStart: { buttons: [{ extend: "colvis", text: "Columns", attr: { "aria-label": `Columns of: ${name}` } }] },
        topEnd: { search: { placeholder: "search" } },
        bottomStart: rows > 60 ? ["pageLength", "info"] : "info", bottomEnd: rows > 60 ? "paging" : null,
      },
      language: { search: "Search", info: "_TOTAL_ of _MAX_ rows", infoFiltered: "", infoEmpty: "no rows" },
    });
    tables[element.id] = table;
    element.closest(".dt-container").querySelector("nav")?.setAttribute("aria-label", `Pages of: ${name}`);
    filtersOf(table, element);
  }
}
const ready = enliven().then(paint);
ready.then(() => { root.dataset.ready = "true"; });
