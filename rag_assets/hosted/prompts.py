"""A prompt: a text from a file beside the code that uses it, with the places that the code fills."""

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


def load_prompt(package: str, name: str, places: frozenset[str]) -> Prompt:
    """The prompt in prompts/`name`.md of a package. Raises ValueError when its places are not exactly `places`."""
    text = files(package).joinpath("prompts", f"{name}.md").read_text("utf-8")
    found = {place for _, place, _, _ in Formatter().parse(text) if place is not None}
    if found != places:
        raise ValueError(f"prompts/{name}.md has the places {sorted(found)}, wanted are {sorted(places)}")
    return Prompt(text)
