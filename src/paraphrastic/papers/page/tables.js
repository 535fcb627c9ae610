// Sorting and searching of the tables in `.papers`. Without JavaScript they are complete, in the order of the papers.
(() => {
  "use strict";
  const NUMBER = /^[+-]?\d+(\.\d+)?/;
  const text = cell => cell.innerText.trim();
  const isMissing = cell => ["", "–"].includes(text(cell));
  const number = cell => NUMBER.exec(text(cell).replaceAll(",", "").replace("−", "-"))?.[0];

  // Return the header cells that have one column, as [cell, column].
  function headers(head) {
    const taken = [...head.rows].map(() => []), found = [];
    [...head.rows].forEach((row, top) => {
      let column = 0;
      for (const cell of row.cells) {
        while (taken[top][column]) column += 1;
        for (let down = 0; down < cell.rowSpan; down += 1)
          for (let right = 0; right < cell.colSpan; right += 1) taken[top + down][column + right] = true;
        if (cell.colSpan === 1 && top + cell.rowSpan === head.rows.length) found.push([cell, column]);
        column += cell.colSpan;
      }
    });
    return found;
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
    const body = table.tBodies[0], original = [...body.rows], columns = headers(table.tHead);
    for (const [cell, column] of columns) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...cell.childNodes);
      cell.append(button);
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: undefined }, now = cell.getAttribute("aria-sort");
        const chosen = now === null ? "ascending" : next[now];
        for (const [other] of columns) other.removeAttribute("aria-sort");
        if (chosen) cell.setAttribute("aria-sort", chosen);
        const sign = chosen === "descending" ? -1 : 1;
        body.append(...(chosen ? original.toSorted(order(original, column, sign)) : original));
      });
    }
  }

  // Show the rows of a table that contain all words, and return how many these are.
  function filterTable(table, has, all) {
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) row.hidden = !all && !has(row.textContent);
    return rows.filter(row => !row.hidden).length;
  }

  // Filter all tables; a section whose heading contains the words keeps its rows, one without such rows is hidden.
  function filter(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const has = content => words.every(word => content.toLowerCase().includes(word));
    let found = 0;
    for (const table of document.querySelectorAll(".papers table"))
      if (table.closest("section") === null) found += filterTable(table, has, false);
    for (const section of document.querySelectorAll(".papers section")) {
      const all = has(`${section.id} ${section.querySelector("h3").textContent}`);
      const counts = [...section.querySelectorAll("table")].map(table => filterTable(table, has, all));
      const shown = counts.reduce((sum, count) => sum + count, 0);
      section.hidden = !all && shown === 0;
      found += shown;
    }
    for (const output of document.querySelectorAll(".papers .found"))
      output.textContent = words.length ? `${found} rows` : "";
  }

  document.querySelectorAll(".papers table").forEach(makeSortable);
  for (const label of document.querySelectorAll(".papers .search")) {
    label.hidden = false;
    label.querySelector("input").addEventListener("input", event => filter(event.target.value));
  }
})();
