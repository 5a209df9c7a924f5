"""What a model is asked to return. The field descriptions are part of the prompt: they reach the model as JSON schema.

Nothing in a reply is believed: `parsing` reads malformed ones, `citations.verification` decides what may be published.
"""

from pydantic import BaseModel, Field


class ReplyCitation(BaseModel):
    """One quote that supports a claim."""

    source: int = Field(description="Number of the source the quote stands in.")
    quote: str = Field(description="The words of that source that support the claim, copied exactly, in one piece.")


class ReplyClaim(BaseModel):
    """One statement of the answer."""

    text: str = Field(description="One statement that answers the question or a part of it, in one sentence.")
    citations: list[ReplyCitation] = Field(description="At least one.")


class ModelReply(BaseModel):
    """An answer with the claims it rests on."""

    answer: str = Field(description="The answer in a few sentences, or the refusal sentence.")
    claims: list[ReplyClaim] = Field(description="Every statement of the answer with its evidence; empty to refuse.")
