"""The prompts, and what cached answers and verdicts of a model behind an API are recognised by. Loads no SDK."""

from dataclasses import dataclass
from importlib.resources import files
from string import Formatter

from rag_assets.answering.model_replies.parsing import ModelReply
from rag_assets.hosted.access import Access, ModelName
from rag_assets.incremental import fingerprint


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


HOSTED_VERSION = 2
"""Raise it when the code makes another prompt of the same sources, or another draft of the same reply."""
INSTRUCTIONS = load_prompt("answer", frozenset({"min_sources", "refusal", "insufficient"}))
JUDGE_VERSION = 1
"""As HOSTED_VERSION, for what a judge is asked and how its verdicts are read."""
JUDGE_INSTRUCTIONS = load_prompt("judge", frozenset())
JUDGED_CLAIM = load_prompt("judged_claim", frozenset({"number", "claim", "quotes"}))
QUESTION = load_prompt("question", frozenset({"sources", "question"}))


def hosted_answerer_id(name: ModelName, access: Access) -> str:
    """The model, readably, and a hash of the prompts, the reply's schema and the code between them."""
    prompts = fingerprint(INSTRUCTIONS.text, QUESTION.text, ModelReply.model_json_schema(), HOSTED_VERSION)
    return f"{access.model_id(name)} prompt-{prompts[:8]}"


def judge_id(name: ModelName, access: Access) -> str:
    """As `hosted_answerer_id`, of a model that judges claims."""
    prompts = fingerprint(JUDGE_INSTRUCTIONS.text, JUDGED_CLAIM.text, JUDGE_VERSION)
    return f"{access.model_id(name)} judge-{prompts[:8]}"
