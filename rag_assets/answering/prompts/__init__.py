"""The prompts, as files to read. A prompt whose places are not those the code fills is refused when it is loaded, not
when it is sent."""

from dataclasses import dataclass
from importlib.resources import files
from string import Formatter


@dataclass(frozen=True)
class Prompt:
    """A text with named places."""

    text: str

    def filled(self, **values: object) -> str:
        """The text with every place filled. What is filled in is not looked at for places of its own."""
        return self.text.format(**values)


def load_prompt(name: str, places: frozenset[str]) -> Prompt:
    """The prompt in `name`.md. Raises ValueError when its places are not exactly `places`."""
    text = files(__package__).joinpath(f"{name}.md").read_text("utf-8")
    found = {place for _, place, _, _ in Formatter().parse(text) if place is not None}
    if found != places:
        raise ValueError(f"prompts/{name}.md has the places {sorted(found)}, wanted are {sorted(places)}")
    return Prompt(text)
