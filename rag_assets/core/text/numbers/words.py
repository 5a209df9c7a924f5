"""Number words of English, and what they are worth."""

UP_TO_NINETEEN = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
TENS = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
ONES = {word: value for word, value in UP_TO_NINETEEN.items() if 0 < value < 10}
POWERS_OF_TEN = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
"""Exponents."""
IN_WORDS = {str(value): word for word, value in (UP_TO_NINETEEN | TENS).items()} | {
    str(ten + one): word + its for word, ten in TENS.items() for its, one in ONES.items()
}
"""The numbers from 0 to 99 as one word, "twentyfive": as a text reads without hyphens."""
