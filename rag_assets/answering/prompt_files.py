"""The prompts: files in `prompts/`, each with the places that the code fills."""

from dataclasses import dataclass
from importlib.resources import files
from string import Formatter


@dataclass(frozen=True)
class Prompt:
    """A text with named places."""

    text: str

    def filled(self, **values: object) -> str:
        """The text with every place filled. Braces in the values are left as they are."""
        return self.text.format(**values)


def load_prompt(name: str, places: frozenset[str]) -> Prompt:
    """The prompt in prompts/`name`.md. Raises ValueError when its places are not exactly `places`."""
    text = files("rag_assets.answering").joinpath("prompts", f"{name}.md").read_text("utf-8")
    found = {place for _, place, _, _ in Formatter().parse(text) if place is not None}
    if found != places:
        raise ValueError(f"prompts/{name}.md has the places {sorted(found)}, wanted are {sorted(places)}")
    return Prompt(text)


INSTRUCTIONS = load_prompt("answer", frozenset({"min_sources", "refusal", "insufficient"}))
QUESTION = load_prompt("question", frozenset({"sources", "question"}))
JUDGE_INSTRUCTIONS = load_prompt("judge", frozenset())
JUDGED_CLAIM = load_prompt("judged_claim", frozenset({"number", "claim", "quotes"}))
