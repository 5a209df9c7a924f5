"""What is sent is never longer than the model reads, whatever its tokenizer."""

from rag_assets.search.embedding.hosted_models import MARGIN, StandInTokenizer
from rag_assets_tests.search.embedding.reference_texts import LONG, PARAGRAPH, UNTIDY

TOKENS = StandInTokenizer()
BLOB = "QmFzZTY0" * 900
"""7,200 characters without a space: one unknown token to WordPiece, thousands to any other tokenizer."""


def test_prose_is_sent_as_it_is() -> None:
    """Cutting what would have fitted loses text for nothing."""
    for text in (PARAGRAPH, UNTIDY, LONG):
        limit = int(TOKENS.count_tokens([text])[0] / MARGIN) + 8

        assert TOKENS.fitted(text, limit) == text


def test_a_run_of_encoded_data_is_cut_to_what_any_tokenizer_can_read() -> None:
    """Counted as one token, it would be rejected by the provider on every run, and no index ever be published."""
    assert TOKENS.count_tokens([BLOB]) == [3]

    fitted = TOKENS.fitted(f"{PARAGRAPH} {BLOB}", 2048)

    assert fitted.startswith(PARAGRAPH)
    assert len(fitted.encode()) == 2048


def test_what_only_another_tokenizer_would_make_too_long_is_cut() -> None:
    """The provider counts with its own: what just fits by our count may be rejected by its, on every run."""
    limit = TOKENS.count_tokens([LONG])[0] + 1

    assert len(TOKENS.fitted(LONG, limit).encode()) == limit


def test_a_character_is_not_cut_in_two() -> None:
    """Half a character is no text; the provider would reject the request."""
    fitted = TOKENS.fitted("ꙮ" * 1000, 100)

    assert fitted == "ꙮ" * 33
