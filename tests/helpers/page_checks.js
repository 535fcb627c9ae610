// Checks of a page in a browser, whose findings are sent to the page around it.
// This part runs before all others of the page and collects errors and requests.
const findings = [];
window.addEventListener("error", event => findings.push(`script error: ${event.message}`));
window.addEventListener("unhandledrejection", event => findings.push(`script error: ${event.reason}`));
window.addEventListener("securitypolicyviolation", event => findings.push(`request: ${event.blockedURI || event.violatedDirective}`));
console.error = (...parts) => findings.push(`console: ${parts.join(" ")}`);

function checkPage() {
  const SLACK = 1.5; // pixels that rounding may add
  const note = (kind, element) => findings.push(`${kind}: ${element.tagName} '${element.textContent.trim().slice(0, 50)}'`);
  const visible = element => element.checkVisibility();

  function checkLinks() {
    for (const link of document.querySelectorAll("a")) {
      const target = link.getAttribute("href");
      if (target.startsWith("#") ? !document.getElementById(target.slice(1)) : !target.startsWith("https://")) note("broken link", link);
    }
    const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
    for (const id of new Set(ids.filter((each, place) => ids.indexOf(each) !== place))) findings.push(`repeated id: ${id}`);
  }

  function checkRequests() {
    for (const entry of performance.getEntriesByType("resource")) findings.push(`request: ${entry.name}`);
  }

  // Return the text nodes that are shown, with their rectangles.
  function texts() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
    while (walker.nextNode()) {
      const node = walker.currentNode, parent = node.parentElement;
      if (!node.data.trim() || parent.closest("script, style, svg") || !visible(parent)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      found.push([parent, [...range.getClientRects()].filter(rectangle => rectangle.width > 0)]);
    }
    return found;
  }

  // Return the nearest block, whose box the text has to stay in.
  function box(element) {
    while (getComputedStyle(element).display.startsWith("inline")) element = element.parentElement;
    return element;
  }

  function checkText() {
    for (const [parent, rectangles] of texts()) {
      const edge = box(parent).getBoundingClientRect();
      const inside = ({ left, right }) => left >= edge.left - SLACK && right <= edge.right + SLACK;
      if (!rectangles.every(inside)) note("text outside its box", parent);
      const scroller = parent.closest(".scroll");
      if (scroller === null && rectangles.some(({ right }) => right > innerWidth + SLACK)) note("text outside the page", parent);
    }
    for (const element of document.querySelectorAll("body *:not(svg *)")) {
      const scrolls = ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
      if (visible(element) && !scrolls && element.clientWidth && element.scrollWidth > element.clientWidth + SLACK) note("content outside its box", element);
    }
    if (document.documentElement.scrollWidth > innerWidth) findings.push("the page is wider than the window");
  }

  function checkFigures() {
    for (const figure of document.querySelectorAll("svg")) {
      const { x, y, width, height } = figure.viewBox.baseVal;
      const labels = [...figure.querySelectorAll("text")].map(element => [element, element.getBBox()]);
      for (const [element, inner] of labels)
        if (inner.x < x || inner.y < y || inner.x + inner.width > x + width || inner.y + inner.height > y + height) note("label outside its figure", element);
      labels.forEach(([element, a], place) => {
        for (const [, b] of labels.slice(place + 1))
          if (a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height - SLACK && b.y < a.y + a.height - SLACK) note("labels overlap", element);
      });
      const named = (figure.getAttribute("aria-labelledby") ?? "").split(" ").every(id => document.getElementById(id)?.textContent);
      if (figure.getAttribute("role") !== "img" || !named) note("figure without alternative text", figure);
    }
  }

  function luminance(colour) {
    const linear = colour.match(/[\d.]+/g).slice(0, 3).map(value => (value / 255 <= 0.04045 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  }

  function background(element) {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (!/, 0\)$|transparent/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  }

  function checkContrast() {
    for (const [parent] of texts()) {
      const [dark, light] = [getComputedStyle(parent).color, background(parent)].map(luminance).sort((a, b) => a - b);
      if ((light + 0.05) / (dark + 0.05) < 4.5) note("contrast below 4.5", parent);
    }
  }

  // Return the texts of the column below a header cell.
  function column(table, cell) {
    const left = cell.getBoundingClientRect().left, [first] = table.tBodies[0].rows;
    const place = [...(first?.cells ?? [])].findIndex(each => Math.abs(each.getBoundingClientRect().left - left) < 2);
    return [...table.tBodies[0].rows].map(row => row.cells[place].innerText.trim());
  }

  // Check that texts are in order: missing ones last, and numbers, if all others are numbers, by value.
  function checkOrder(cell, texts, sign) {
    const isMissing = text => text === "" || text === "–";
    const known = texts.filter(text => !isMissing(text));
    if (texts.slice(0, known.length).some(isMissing)) note("missing values are not last", cell);
    const numbers = known.map(text => Number.parseFloat(text.replaceAll(",", "").replace("−", "-")));
    if (cell.scope === "col" && numbers.every(Number.isFinite) && numbers.some((value, place) => place && sign * (value - numbers[place - 1]) < 0))
      note("numbers are not in order", cell);
  }

  // Sort each table by each column, upwards, downwards, and back.
  function checkSorting() {
    for (const table of document.querySelectorAll("table")) {
      const before = table.tBodies[0].innerText;
      for (const button of table.querySelectorAll("th button")) {
        const cell = button.closest("th"), isLabel = cell.getBoundingClientRect().left === table.getBoundingClientRect().left;
        for (const [expected, sign] of [["ascending", 1], ["descending", -1], [null, 0]]) {
          button.click();
          if (cell.getAttribute("aria-sort") !== expected) note(`aria-sort is not ${expected}`, cell);
          if (sign && !isLabel) checkOrder(cell, column(table, cell), sign);
        }
      }
      if (table.tBodies[0].innerText !== before) note("a third click does not restore the order", table.tHead);
      if (!table.querySelector("th button")) note("table that cannot be sorted", table);
    }
  }

  function checkSearch() {
    const input = document.querySelector("input[type=search]"), rows = [...document.querySelectorAll("tbody tr")];
    const sections = [...document.querySelectorAll("section")];
    const search = text => {
      input.value = text;
      input.dispatchEvent(new Event("input"));
    };
    if (!visible(input)) note("no search field", input.parentElement);
    search("no row has these words");
    if (rows.some(visible)) note("search shows a row without the words", rows.find(visible));
    if (sections.some(visible)) note("search shows a section without the words", sections.find(visible));
    for (const row of rows.slice(-1)) {
      search(row.cells[0].textContent);
      if (!visible(row)) note("search hides a row with the words", row);
    }
    for (const section of sections.slice(0, 1)) {
      search(section.id);
      if (![...section.querySelectorAll("tbody tr")].every(visible)) note("search for an experiment hides its rows", section);
    }
    search("");
    if (!rows.every(visible) || !sections.every(visible)) findings.push("an empty search hides rows");
  }

  checkLinks();
  checkText();
  checkFigures();
  checkContrast();
  if (document.querySelector("table")) checkSorting();
  if (document.querySelector("input[type=search]")) checkSearch();
  for (const toggle of document.querySelectorAll("input.differences")) {
    toggle.click();
    checkText();
    checkContrast();
    toggle.click();
  }
  checkRequests();
}

function reportPage() {
  try {
    checkPage();
  } catch (error) {
    findings.push(`script error: ${error}`);
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  parent.postMessage(JSON.stringify({ width: innerWidth, dark, findings: [...new Set(findings)] }), "*");
}

window.addEventListener("load", () => setTimeout(reportPage, 100)); // after rejected promises have been reported
