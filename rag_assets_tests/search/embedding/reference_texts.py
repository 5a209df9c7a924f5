"""Texts whose vectors the tests know: short and long, plain and not so plain."""

QUESTION = "Does ferritin fall after treatment?"
UNTIDY = "Café-au-lait spots (n=12) in BMS-986158–treated mice: ΔG ≈ −3.4 kcal/mol; see Eq. (2)…"
PARAGRAPH = (
    "Serum ferritin was measured in 48 volunteers before and after twelve weeks of treatment. In the treated group it "
    "fell from 212 to 143 micrograms per litre, in the control group it did not change. The fall was larger in men "
    "than in women, and larger in those who had started with high values. Two volunteers left the study because of "
    "headaches, which went away within a week."
)
LONG = " ".join(
    f"Measurement {n} gave {n * 7 % 31}.{n % 10} units at site {chr(65 + n % 26)}."
    for n in range(40)
)
"""About twice what the model reads."""

TEXTS = (QUESTION, UNTIDY, PARAGRAPH, LONG)
