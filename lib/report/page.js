// page.js -- a click on a heading sorts its table by this column, upwards, then downwards. Empty cells stay last.
"use strict";
{
  const key = (row, column) => {
    const cell = row.cells[column];
    if (cell.classList.contains("none")) return null;
    return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
  };
  // Numbers before texts, numbers by value, texts by their characters.
  const order = (a, b) =>
    typeof a !== typeof b ? (typeof a === "number" ? -1 : 1) : a < b ? -1 : a > b ? 1 : 0;

  const sort = (table, heading) => {
    const up = heading.getAttribute("aria-sort") !== "ascending";
    const body = table.tBodies[0], column = heading.cellIndex;
    const rows = Array.from(body.rows, row => ({ row, key: key(row, column) }));
    rows.sort((a, b) =>
      a.key === null || b.key === null ? (a.key === null) - (b.key === null)
                                       : up ? order(a.key, b.key) : order(b.key, a.key));
    body.append(...rows.map(r => r.row));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
  };

  for (const table of document.querySelectorAll("table"))
    for (const heading of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(table, heading));
      heading.append(button);
    }
}
