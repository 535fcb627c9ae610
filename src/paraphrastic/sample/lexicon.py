"""The words of the sample: their meanings, and which of them can be combined.

A *concept* is a set of synonyms and has the name of the most common one. A *family* is a set of concepts with similar
meanings. Its name is `DOMAIN.CLASS`, and families of one domain are related. A *general* concept names its whole
family: every `dog` is an `animal`.

The tables of this module have one family per line. Concepts are separated by spaces and stand in order of decreasing
frequency. Within a concept `=` separates synonyms, `_` stands for a space, `^` marks a general concept and `~` a mass
noun.
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

_NOUNS = """
person: ^person=individual
person.adult: man=guy=gentleman woman=lady friend=buddy neighbor tourist=traveler thief=burglar ^adult=grown-up
person.child: boy=lad girl=lass student=pupil baby=infant ^child=kid
person.worker: teacher=instructor doctor=physician farmer lawyer=attorney driver nurse guard=watchman ^worker=employee
person.artist: singer=vocalist actor painter writer=author dancer ^artist
animal: ^animal=creature
animal.pet: dog=hound cat rabbit=bunny parrot ^pet
animal.farm: horse goat cow sheep donkey pig=hog
animal.wild: wolf fox bear monkey lion tiger
thing.vehicle: car=automobile truck=lorry bicycle=bike boat bus wagon=cart train ^vehicle
thing.toy: ball doll kite drum puzzle ^toy=plaything
thing.furniture: table chair=seat sofa=couch lamp shelf bed
thing.vessel: box=carton cup=mug bottle=flask bag=sack pot basket ^container
thing.text: letter=note book story=tale newspaper=paper report=account map poem
thing.clothes: coat=jacket hat=cap shirt dress=gown shoe scarf
thing.device: phone=telephone computer camera clock radio engine=motor ^machine
thing.part: door window=pane roof key wall
food.meal: soup~=broth sandwich cake pie=tart salad stew~ ^meal
food.fruit: apple orange lemon grape banana ^fruit~
food.vegetable: potato carrot onion tomato bean ^vegetable
food.drink: tea~ coffee~ milk~ juice~ water~ ^drink=beverage
place.nature: park garden=yard forest=woods field=meadow valley
place.shore: river=stream lake=pond beach=shore bridge road=street
place.building: school market station hospital farm=ranch library office=workplace
place.room: kitchen bedroom basement=cellar hall=corridor attic=loft garage
subject.study: history~ music~ art~ science~ opera~
subject.fear: ghost war~ storm dragon
subject.season: winter~ rain~ weather~
"""

# family | agents | patients | recipients: verbs
_VERBS = """
pursuit.chase | person animal | person animal: chase=pursue follow=trail catch=capture watch=observe
contact.scare | person animal | person animal: scare=frighten surprise=startle attack=assault bother=annoy push=shove
contact.meet | person | person: meet=encounter visit greet=welcome call=phone
speech.praise | person | person: praise=compliment thank criticize=scold mock=tease interview=question
support.help | person | person: help=assist hire=employ protect=defend invite
mind.love | person | person animal: love=adore admire=respect hate=detest remember=recall
support.feed | person | animal.pet animal.farm: feed rescue=save brush=groom tame=train sketch=draw
work.make | person | thing.vehicle thing.furniture thing.device thing.part: \
repair=fix break=damage=wreck build=construct
work.clean | person | thing.furniture thing.vessel thing.clothes thing.vehicle thing.part: \
clean=wash=scrub cover inspect=check
kitchen.eat | person | food.meal food.fruit food.vegetable: eat=consume cook=prepare taste=try burn=scorch
kitchen.drink | person | food.drink: sip=drink spill pour order=request
study.read | person | thing.text: read write=compose study=examine copy=duplicate rip_up=shred
carry.take | person | thing.toy thing.vessel thing.clothes thing.device thing.text: carry=haul find=discover=locate \
lose=misplace pick_up=lift hide=conceal drop
give.give | person | thing.toy thing.text thing.clothes thing.vessel thing.device food.meal food.fruit | person: \
give=hand sell lend=loan send=mail show
motion.run | person animal: run=sprint walk=stroll jump=leap swim escape=flee
rest.sleep | person animal: sleep=doze=nap wait=linger relax=rest
voice.laugh | person: laugh=giggle=chuckle cry=weep=sob shout=yell=scream dance
"""

# The converses of give, sell and lend: if X sells Y to Z, Z buys Y from X.
_CONVERSE_VERBS = """
trade.get: receive=get buy=purchase borrow
"""

# family | nouns that the adjectives describe: adjectives
_ADJECTIVES = """
quality.age | person: old=elderly young=youthful
quality.mood | person animal: happy=cheerful angry=furious tired=weary hungry sad=unhappy
quality.nature | person animal: clever=smart friendly=kind shy=timid brave=fearless lazy
quality.size | animal thing: big=large small=little=tiny huge=enormous
quality.color | thing.vehicle thing.toy thing.furniture thing.vessel thing.clothes: red=crimson blue green yellow \
brown white
quality.value | thing: new=modern beautiful=pretty=lovely cheap=inexpensive expensive=costly dirty=filthy broken
quality.taste | food: hot cold=chilled fresh delicious=tasty sweet=sugary
"""

_ADVERBS = """
manner.speed: quickly=rapidly=swiftly slowly suddenly=abruptly
manner.noise: quietly=silently loudly=noisily
manner.care: carefully=cautiously nervously=anxiously carelessly
"""

_TIMES = """
time.past: yesterday last_night last_week this_morning
time.hour: at_noon=at_midday at_dawn=at_sunrise at_dusk=at_sunset in_the_evening
time.weekday: on_Monday on_Friday on_Sunday
time.habit: every_day=daily every_morning=each_morning every_week=weekly
"""

# noun, phrase that paraphrases the compound (* is the modifier, *s its plural): modifiers; + marks a modifier that can
# also be joined to the noun as one word
_COMPOUND_NOUNS = """
juice from *s: apple orange carrot grape
soup with *s: onion tomato potato bean
pie with *s: apple lemon banana
pot for *: tea+ coffee+
cup for *: tea+ coffee
shelf for *s: book+ newspaper
box for *s: toy hat letter
story about a *: ghost dragon horse wolf
teacher of *: history music art science
driver of the *: bus truck train
singer of *: opera
table for the *: kitchen garden library
lamp for the *: bedroom kitchen hall
door of the *: kitchen car bedroom garage
roof of the *: school hospital car
key for the *: car office garage
engine of the *: car boat truck
coat for the *: rain+ winter
map of the *: park river farm
report about the *: weather market war
"""


@dataclass(frozen=True)
class Concept:
    """A set of synonyms.

    Attributes:
        name: the most common synonym.
        words: the synonyms, the most common one first.
        family: `DOMAIN.CLASS`, or only the domain for the general concept of a whole domain.
        rank: number of more frequent concepts in the family.
        general: whether the concept names its family (`animal`) instead of a member of it (`dog`).
        mass: whether the noun has no plural and does not take the article `a`.
    """

    name: str
    words: tuple[str, ...]
    family: str
    rank: int
    general: bool = False
    mass: bool = False

    @property
    def domain(self) -> str:
        """The part of the family's name before the dot."""
        return self.family.partition(".")[0]


class Frame(NamedTuple):
    """The families or domains that can fill each role of a family of verbs; empty for a role that the verbs lack."""

    agents: tuple[str, ...]
    patients: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()


class Compound(NamedTuple):
    """The modifiers that form compounds with a noun.

    Attributes:
        pattern: a phrase with the meaning of the compound; `*` stands for the modifier, `*s` for its plural.
        kinds: the modifiers.
        joined: the modifiers that can also be joined to the noun as one word.
    """

    pattern: str
    kinds: tuple[str, ...]
    joined: tuple[str, ...]


def _split_lines(table: str) -> list[tuple[str, str]]:
    """Split each line at its first colon."""
    sides = (line.partition(":") for line in table.splitlines())
    return [(left.strip(), right.strip()) for left, _, right in sides if right]


def _parse_concept(family: str, rank: int, entry: str) -> Concept:
    words = tuple(word.strip("^~") for word in entry.split("="))
    return Concept(words[0], words, family, rank, entry.startswith("^"), "~" in entry)


def _parse_concepts(table: str) -> dict[str, Concept]:
    rows = [(left.split(" | ")[0], right.split()) for left, right in _split_lines(table)]
    concepts = [_parse_concept(family, rank, entry) for family, entries in rows for rank, entry in enumerate(entries)]
    return {concept.name: concept for concept in concepts}


def _parse_arguments(table: str) -> dict[str, list[tuple[str, ...]]]:
    """Return the families that each family of a table combines with, one tuple per column."""
    rows = [left.split(" | ") for left, _ in _split_lines(table)]
    return {family: [tuple(column.split()) for column in columns] for family, *columns in rows}


def _parse_compound(pattern: str, entries: list[str]) -> Compound:
    joined = tuple(entry.strip("+") for entry in entries if "+" in entry)
    return Compound(pattern, tuple(entry.strip("+") for entry in entries), joined)


def _parse_compounds(table: str) -> dict[str, Compound]:
    compounds = {}
    for left, right in _split_lines(table):
        noun, _, pattern = left.partition(" ")
        compounds[noun] = _parse_compound(pattern, right.split())
    return compounds


CONVERSES = {"give": "receive", "sell": "buy", "lend": "borrow"}
PREPOSITIONS = {"place.nature": "in", "place.shore": "by", "place.building": "at", "place.room": "in"}
STATIVE = "mind"  # domain of the verbs without progressive forms and adverbs of manner

CONCEPTS = _parse_concepts(_NOUNS + _VERBS + _CONVERSE_VERBS + _ADJECTIVES + _ADVERBS + _TIMES)
FRAMES = {family: Frame(*columns) for family, columns in _parse_arguments(_VERBS).items()}
DESCRIBED_NOUNS = {family: nouns for family, (nouns,) in _parse_arguments(_ADJECTIVES).items()}
COMPOUNDS = _parse_compounds(_COMPOUND_NOUNS)


@cache
def belongs_to(concept: str, families: tuple[str, ...]) -> bool:
    """Return whether a concept belongs to one of these families or domains."""
    family, domain = CONCEPTS[concept].family, CONCEPTS[concept].domain
    return family in families or domain in families


def is_a(narrow: str, broad: str) -> bool:
    """Return whether `broad` equals `narrow` or is its hypernym: the general concept of its family or domain."""
    return narrow == broad or (CONCEPTS[broad].general and belongs_to(narrow, (CONCEPTS[broad].family,)))


def concept_similarity(left: str | None, right: str | None) -> float:
    """Return how similar two concepts are in meaning, 0 to 1; None stands for a concept that is not expressed."""
    if left is None or right is None:
        return float(left is right)
    if left == right:
        return 1.0
    if is_a(left, right) or is_a(right, left):
        return 0.7
    a, b = CONCEPTS[left], CONCEPTS[right]
    if a.family == b.family:
        return 0.4
    return 0.15 if a.domain == b.domain else 0.0
