// Colours of distances, sorting and searching in the tables of `.papers`. Without JavaScript they are complete.
(() => {
  "use strict";
  const NUMBER = /^[+-]?\d+(\.\d+)?/;
  const DISTANCE = /\(([+-]?[\d.]+)( %)?\)$/;
  const CLASSES = [[1, "close"], [3, "near"], [10, "off"], [Infinity, "far"]];
  const text = cell => cell.innerText.trim();
  const isMissing = cell => ["", "–"].includes(text(cell));
  const number = cell => NUMBER.exec(text(cell).replaceAll(",", "").replace("−", "-"))?.[0];

  function colour(cell) {
    const distance = DISTANCE.exec(text(cell).replaceAll(",", "").replaceAll("−", "-"));
    if (distance) cell.classList.add(CLASSES.find(([bound]) => Math.abs(distance[1]) <= bound)[1]);
  }

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

  function addSearch(section) {
    const input = Object.assign(document.createElement("input"), { type: "search", autocomplete: "off" });
    const label = document.createElement("label");
    label.append("Search rows ", input);
    section.prepend(label);
    input.addEventListener("input", () => filter(input.value));
  }

  document.querySelectorAll(".papers td").forEach(colour);
  document.querySelectorAll(".papers table").forEach(makeSortable);
  document.querySelectorAll(".papers").forEach(addSearch);
})();
