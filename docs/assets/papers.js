// Sorting and searching of the tables in `.papers`. Without JavaScript they are complete, in the order of the papers.
(() => {
  "use strict";
  const NUMBER = /^[+-]?\d+(\.\d+)?/;
  const text = cell => cell.innerText.trim();
  const isMissing = cell => ["", "–"].includes(text(cell));
  const number = cell => NUMBER.exec(text(cell).replaceAll(",", "").replace("−", "-"))?.[0];

  // Return a comparison of rows by a column: numbers by value, other texts by alphabet, missing ones last.
  function order(rows, column, sign) {
    const known = rows.map(row => row.cells[column]).filter(cell => !isMissing(cell));
    const numeric = column > 0 && known.every(cell => number(cell) !== undefined);
    return (left, right) => {
      const [a, b] = [left.cells[column], right.cells[column]];
      if (isMissing(a) || isMissing(b)) return isMissing(a) - isMissing(b);
      return sign * (numeric ? number(a) - number(b) : text(a).localeCompare(text(b), "en", { numeric: true }));
    };
  }

  function makeSortable(table) {
    const body = table.tBodies[0], original = [...body.rows], headers = [...table.tHead.rows[0].cells];
    headers.forEach((cell, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...cell.childNodes);
      cell.append(button);
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: undefined }, now = cell.getAttribute("aria-sort");
        const chosen = now === null ? "ascending" : next[now];
        for (const other of headers) other.removeAttribute("aria-sort");
        if (chosen) cell.setAttribute("aria-sort", chosen);
        const sign = chosen === "descending" ? -1 : 1;
        body.append(...(chosen ? original.toSorted(order(original, column, sign)) : original));
      });
    });
  }

  // Show the rows that contain all words of a query.
  function filter(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of document.querySelectorAll(".papers tbody tr"))
      row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
  }

  document.querySelectorAll(".papers table").forEach(makeSortable);
  for (const label of document.querySelectorAll(".papers .search")) {
    label.hidden = false;
    label.querySelector("input").addEventListener("input", event => filter(event.target.value));
  }
})();
