"""The script that colours, sorts and searches the tables of `docs/papers`, on a page that is made up."""

import json
import shutil

import pytest

from tests.helpers.repository import ROOT, run

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")

PAGE = """
const element = (text = "") => {
  const attributes = {}, listeners = {}, classes = [];
  return {
    innerText: text, textContent: text, childNodes: [], append() {}, prepend() {},
    classes, classList: { add: name => { classes.push(name); } },
    getAttribute: name => attributes[name] ?? null,
    setAttribute: (name, value) => { attributes[name] = value; },
    removeAttribute: name => { delete attributes[name]; },
    addEventListener: (name, act) => { listeners[name] = act; },
    dispatch: (name, event) => listeners[name](event),
  };
};
const rows = ROWS.map(texts => ({ cells: texts.map(element), textContent: texts.join(" "), hidden: false }));
const body = { rows, append(...sorted) { this.rows = sorted; } }, head = { cells: [element("row"), element("x")] };
const buttons = [], field = element();
const found = {
  ".papers": [element()], ".papers table": [{ tBodies: [body], tHead: { rows: [head] } }], ".papers tbody tr": rows,
  ".papers td": rows.flatMap(row => row.cells),
};
const created = { button: () => buttons[buttons.push(element()) - 1], input: () => field, label: () => element() };
globalThis.document = {
  createElement: name => created[name](),
  querySelectorAll: selector => found[selector],
};
const click = column => {
  buttons[column].dispatch("click");
  return [head.cells[column].getAttribute("aria-sort"), ...body.rows.map(row => row.cells[0].innerText)];
};
const search = value => {
  field.value = value;
  field.dispatch("input");
  return rows.filter(row => !row.hidden).map(row => row.cells[0].innerText);
};
"""
ROWS = [["b 10", "1,000"], ["b 9", "−2.5 ± 1"], ["a", "–"], ["c", "30*"], ["d", "4 / 5"]]


def evaluate(expression, rows=ROWS):
    """Return the value of an expression after the script has run on a page with these rows."""
    script = (ROOT / "docs/assets/papers.js").read_text(encoding="utf-8")
    code = f"const ROWS = {json.dumps(rows)};{PAGE}{script}console.log(JSON.stringify({expression}))"
    return json.loads(run("node", "-e", code, check=True, timeout=60).stdout)


def test_clicks_sort_numbers_by_value_with_missing_ones_last():
    ascending, descending, original = evaluate("[click(1), click(1), click(1)]")
    assert ascending == ["ascending", "b 9", "d", "c", "b 10", "a"]
    assert descending == ["descending", "b 10", "c", "d", "b 9", "a"]
    assert original == [None, *(row[0] for row in ROWS)]


def test_clicks_sort_texts_by_alphabet_and_only_one_column_is_marked():
    _, names, mark = evaluate("[click(1), click(0), head.cells[1].getAttribute('aria-sort')]")
    assert (names, mark) == (["ascending", "a", "b 9", "b 10", "c", "d"], None)


def test_search_shows_rows_with_all_words():
    found = evaluate("[field.type, search('B 1'), search('b nothing'), search('')]")
    assert found == ["search", ["b 10", "b 9"], [], [row[0] for row in ROWS]]


def test_colours_of_distances():
    cells = ["58.4 ± 0.2 (+1.0)", "58.4 (−3.0)", "1,000 (+10 %)", "46.4 ± 2.1 (−11.0)", "paper 57.2", "–"]
    classes = evaluate("rows.map(row => row.cells[1].classes)", [["row", cell] for cell in cells])
    assert classes == [["close"], ["near"], ["off"], ["far"], [], []]
