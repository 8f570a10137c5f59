"use strict";
// Every head of a sortable table becomes a button that sorts the rows by its column; empty cells are always last.
const status = document.getElementById("status");
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(table, heads, column));
  });
}

function sort(table, heads, column) {
  const way = heads[column].getAttribute("aria-sort") === "ascending" ? -1 : 1;
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
  const key = (row) => row.cells[column].dataset.key;
  const rows = [...table.tBodies[0].rows].sort((a, b) => compared(key(a), key(b), way));
  table.tBodies[0].append(...rows);
  status.textContent = `sorted by ${heads[column].textContent}, ${way > 0 ? "ascending" : "descending"}`;
}

function compared(a, b, way) {
  if (a === "" || b === "") return (a === "") - (b === "");
  const [x, y] = [number(a), number(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return way * a.localeCompare(b, "en", { numeric: true });
  return x === y ? 0 : way * (x < y ? -1 : 1);
}

function number(text) {
  return text === "inf" ? Infinity : text === "-inf" ? -Infinity : Number(text);
}
