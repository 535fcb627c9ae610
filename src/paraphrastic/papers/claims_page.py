"""The verdicts on the claims of the papers as text: of a page, of a terminal, and of README.md."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from paraphrastic.analysis.comparison.formats import markdown_table
from paraphrastic.papers.claims import Claim, Claims, Side
from paraphrastic.papers.comparing import number, signed
from paraphrastic.papers.experiments import PaperName
from paraphrastic.papers.pages import folded
from paraphrastic.papers.verdicts import ALPHA, FAILS, HOLDS, STANDARD, UNDECIDED, UNKNOWN, Decision

HEADER = ("claim", "says", "tested as", "protocol", "difference", "verdict")
_ON_PAGE = ("claim", "difference or value, 95 % interval, corrected p", "verdict")


def summary(decisions: Sequence[Decision]) -> str:
    """Return a sentence of how many claims hold, do not hold, and cannot be decided."""
    count = Counter(each.verdict for each in decisions)
    numbers = f"{count[HOLDS]} hold, {count[FAILS]} do not hold, and {count[UNDECIDED]} cannot be decided here"
    return f"Of {len(decisions)} claims of the papers, {numbers}."


def section(
    decisions: Sequence[Decision], claims: Claims, papers: Mapping[PaperName, str], tables: Mapping[str, str]
) -> str:
    """Return the claims as a part of a page, in Markdown.

    `papers` are titles by name, and `tables` links to tables by id of the experiment, in Markdown too.
    """
    parts = ["## Claims", summary(decisions), _items(claims.rules)]
    for paper, title in papers.items():
        rows = [_row(each, tables) for each in decisions if each.claim.paper == paper]
        if rows:
            table = markdown_table(_ON_PAGE, [each[:-1] for each in rows], texts=len(_ON_PAGE)).rstrip()
            tests = folded("What was tested, protocol and seeds", _items([each[-1] for each in rows if each[-1]]))
            parts += [f"### Claims of {paper}", title, table, tests]
        if deviations := claims.deviations.get(paper):
            parts += ["Deviations from the paper:", _items(deviations)]
    return "\n\n".join(parts) + "\n"


def _items(texts: Sequence[str]) -> str:
    return "\n".join(f"* {each}" for each in texts)


def _row(decision: Decision, tables: Mapping[str, str]) -> list[str]:
    """Return claim, difference and verdict, and then what was tested, if anything was, in Markdown."""
    name, says, *other = cells(decision)
    claim = decision.claim
    used = [claim.experiment, *(side.experiment for each in claim.comparisons() for side in each.sides)]
    links = ", ".join(dict.fromkeys(tables[each] for each in used if each in tables))
    first, *texts = [re.sub(r"[\\*_\[\]`|<]", r"\\\g<0>", each) for each in (f"{name}: {says}", *other)]
    tested, protocol, difference, verdict = texts
    test = ": ".join(filter(None, [name, links, f"{tested}; {protocol}"])) if claim.rows else ""
    return [first, difference, verdict, test]


def cells(decision: Decision) -> tuple[str, ...]:
    """Return the plain texts of `HEADER`."""
    claim = decision.claim
    seeds = "–".join(map(str, dict.fromkeys(decision.seeds[:1] + decision.seeds[-1:])))
    protocol = ["replica" if claim.rows else "", f"{seeds} seeds" if seeds else "", ", ".join(decision.over)]
    verdict = ": ".join(filter(None, [decision.verdict, decision.reason]))
    says, tested = f"{claim.says} ({claim.place})", _tested_as(claim)
    return claim.id, says, tested, "; ".join(filter(None, protocol)), _difference(decision), verdict


def _tested_as(claim: Claim) -> str:
    """Return the test in words, such as `avg above lstm; in mean`."""
    note = f" ({claim.note})" if claim.note else ""
    if claim.tested:
        return claim.tested + note
    lists = [list(map(_name, chain)) for chain in claim.rows]
    between, after = {
        "greater": (" above ", f" by more than {claim.bound:g}" if claim.bound else ""),
        "order": (" above ", f" by more than {claim.bound:g}" if claim.bound else ""),
        "level": (", ", f" within {claim.bound:g} of each other"),
        "reaches": (", ", f" at least {claim.bound:g}"),
    }.get(claim.kind, (", ", f" {claim.kind} {claim.bound:g}"))
    if claim.kind == "greater":
        lists = [[first, ", ".join(others)] for first, *others in lists]
    tests = [between.join(names) + after for names in lists]
    return "; ".join(tests) + (f"; in {', '.join(claim.keys)}" if tests and claim.keys else "") + note


def _name(side: Side) -> str:
    gain = f"gain of {side.row} over {side.minus}" if side.minus else side.row
    key = re.sub(r".*=|\].*", "", side.key)  # the cell that selects the row of an analysis
    return f"{gain} ({key})" if key else gain


def _difference(decision: Decision) -> str:
    """Return difference and margin, or value and bound of one row, interval and p.

    If the claim has several comparisons, the rows that decide follow.
    """
    test, compared = decision.test, decision.comparison
    if test is None or compared is None:
        return ""
    width = test.high - test.low
    decimals = 1 if width > 1 else 2 if width > 0.1 else 3
    low, high = sorted((compared.sign * test.low, compared.sign * test.high))
    if any(end and not round(end, decimals) for end in (low, high)):  # on which side of 0 it is
        decimals += 1
    alone = len(compared.sides) == 1
    if alone and not {UNKNOWN, STANDARD} & {*decision.over}:  # a share or a correlation × 100
        low, high = max(low, -100.0), min(high, 100.0)  # what is cut off cannot be the true value
    value = (number if alone else signed)(compared.sign * test.difference, decimals)
    margin = compared.bound and decision.claim.kind in ("greater", "order")
    bound = f" against {compared.sign * compared.bound:g}".replace("-", "−") if alone or margin else ""
    text = f"{value} [{number(low, decimals)}, {number(high, decimals)}]{bound}"
    p = "" if decision.p is None else ", p < 0.001" if decision.p < 0.001 else f", p = {decision.p:.3f}"
    if p == f", p = {ALPHA:.3f}":  # which side of the level it is on
        p = f", p = {decision.p:.4f}"
    count, sides = len(list(decision.claim.comparisons())), compared.sides
    names = " and ".join(dict.fromkeys(_name(side.model_copy(update={"key": ""})) for side in sides))
    which = f"; of {count} comparisons: {names} in {' and '.join(dict.fromkeys(side.key for side in sides))}"
    return text + p + (which if count > 1 else "")
