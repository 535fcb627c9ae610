from paraphrastic.sample.tree import Node, Token, adverbial, detokenize, linearize, misspellings, phrase


def test_tokens_of_a_tree():
    subject = phrase(("the", "dog"), "nsubj")
    verb = Node("slept", "VBD", "root", [subject], [adverbial(("on", "Monday")), Node(".", ".", "punct")])
    assert linearize(verb) == [
        Token("the", "DT", 2, "det"),
        Token("dog", "NN", 3, "nsubj"),
        Token("slept", "VBD", 0, "root"),
        Token("on", "IN", 5, "case"),
        Token("Monday", "NNP", 3, "obl"),
        Token(".", ".", 3, "punct"),
    ]


def test_relation_of_an_adverbial():
    phrases = [("in", "the", "park"), ("last", "week"), ("every", "day"), ("daily",)]
    assert [adverbial(words).relation for words in phrases] == ["obl", "obl:tmod", "obl:tmod", "advmod"]


def test_text_without_spaces_before_punctuation_and_clitics():
    forms = ["Yes", ",", "the", "man", "'s", "cat", "did", "n't", "sleep", "."]
    assert detokenize([Token(form, "", 0, "") for form in forms]) == "Yes, the man's cat didn't sleep."


def test_misspellings_with_both_ends_of_the_word():
    results = misspellings("letter")
    assert {"ltter", "leter", "lettter", "letetr"} <= set(results)
    assert len(results) == len(set(results))
    assert all(result != "letter" and result[0] == "l" and result[-1] == "r" for result in results)
