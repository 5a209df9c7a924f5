"""Where settings come from, and what they refuse."""

from pathlib import Path

import pytest

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import (
    AnsweringSettings,
    ChunkingSettings,
    JudgeSettings,
    ParseLimits,
    ParsingSettings,
    Settings,
    StageSettings,
    load_settings,
)


def test_the_launchpad_wins_over_the_environment_and_the_environment_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A precedence that flips makes a run use other settings than its user sees."""
    config = tmp_path / "rag_assets.toml"
    config.write_text("[chunking]\nmax_tokens = 2000\noverlap_tokens = 20\nmin_tokens = 7\n")
    monkeypatch.setenv("RAG_ASSETS_CONFIG", str(config))
    monkeypatch.setenv("RAG_ASSETS_CHUNKING__MAX_TOKENS", "3000")
    monkeypatch.setenv("RAG_ASSETS_CHUNKING__OVERLAP_TOKENS", "30")

    chunking = load_settings({"chunking": {"max_tokens": 4000}}).chunking

    assert (chunking.max_tokens, chunking.overlap_tokens, chunking.min_tokens) == (4000, 30, 7)


def test_a_short_name_in_the_environment_wins_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who tries another model for one run would be answered, and billed, by that of the file."""
    config = tmp_path / "rag_assets.toml"
    config.write_text('[answering]\nmodel = "openai:gpt-5-mini"\nk = 7\n')
    monkeypatch.setenv("RAG_ASSETS_CONFIG", str(config))
    monkeypatch.setenv("RAG_ASSETS_ANSWER_MODEL", "google:gemini-2.5-flash")

    answering = load_settings().answering

    assert (answering.model, answering.k) == ("google:gemini-2.5-flash", 7)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"chunking": {"max_tokenz": 1}},
            "chunking.max_tokenz: there is no such setting; is chunking.max_tokens meant?",
        ),
        (
            {"retrieval": {"dense_weight": 2}},
            "retrieval.dense_weight: Input should be less than or equal to 1",
        ),
        (
            {"chunking": {"target_tokens": 500, "max_tokens": 400}},
            "chunking: Value error, target_tokens (500) must not exceed max_tokens (400)",
        ),
        (
            {"answering.extractive.min_relevance": 0.5},
            'answering.extractive.min_relevance: write it as {"answering": {"extractive": {"min_relevance": ...}}}',
        ),
        (
            {"paper_summaries": {"model": "none"}},
            "paper_summaries: is no setting any more; delete it",
        ),
        (
            {"model_access": {"google": {"max_concurrent": 2}}},
            "model_access.google: is no setting any more; delete it",
        ),
        ({"parsing": {"docling": ""}}, "parsing.docling: is no setting any more; delete it"),
        (
            {"parsing": {"running_header_share": 0.5}},
            "parsing.running_header_share: is no setting any more; delete it",
        ),
    ],
)
def test_a_wrong_setting_is_named(wrong: dict[str, object], message: str) -> None:
    """A typo that is silently ignored is a setting the user believes in."""
    with pytest.raises(InvalidSettings) as caught:
        load_settings(wrong)

    assert str(caught.value) == (
        f"Settings cannot be used (rag_assets.toml, environment, .env or launchpad):\n  {message}"
    )


def test_a_variable_that_names_no_setting_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """pydantic-settings reads past it in silence."""
    monkeypatch.setenv("RAG_ASSETS_CHUNKNG__MAX_TOKENS", "5")

    with pytest.raises(
        InvalidSettings, match="sets RAG_ASSETS_CHUNKNG__MAX_TOKENS, which name no setting"
    ):
        load_settings()


@pytest.mark.parametrize(
    "variable", ["RAG_ASSETS_PAPER_SUMMARIES__MODEL", "RAG_ASSETS_PARSING__DOCLING"]
)
def test_a_variable_of_a_setting_that_went_is_told_to_be_deleted(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """A list of all names leaves the user to guess what became of the one in their .env."""
    monkeypatch.setenv(variable, "60")

    with pytest.raises(InvalidSettings, match="is no setting any more; delete it"):
        load_settings()


def test_a_group_inside_a_group_is_recomputed_on_its_own() -> None:
    """A raised limit would parse every paper again, another judge would ask for every answer
    again."""
    parsing = ParsingSettings(limits=ParseLimits(max_pages=5))
    answering = AnsweringSettings(judge=JudgeSettings(model="google:gemini-2.5-flash"))

    assert parsing.fingerprint() == ParsingSettings().fingerprint()
    assert parsing.limits.fingerprint() != ParseLimits().fingerprint()
    assert answering.fingerprint() == AnsweringSettings().fingerprint()


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        (
            "RAG_ASSETS_CONFIG",
            "nowhere.toml",
            "RAG_ASSETS_CONFIG names nowhere.toml, which is not a file",
        ),
        ("RAG_ASSETS_CHUNKING", "{bad", "Settings cannot be read"),
    ],
)
def test_settings_that_cannot_be_read_are_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, message: str
) -> None:
    """A typo in the name of the file would run on the defaults; a traceback names no remedy."""
    monkeypatch.setenv(variable, value)

    with pytest.raises(InvalidSettings, match=message):
        load_settings()


def test_every_field_of_a_stage_is_in_its_fingerprint() -> None:
    """A field the fingerprint forgets is a setting whose change recomputes nothing."""
    base = ChunkingSettings()
    changed = {
        "target_tokens": 900,
        "max_tokens": 1300,
        "overlap_tokens": 100,
        "min_tokens": 1,
        "min_chars": 1,
        "include_front": True,
        "tokenizer": "wordpiece",
    }
    assert changed.keys() == ChunkingSettings.model_fields.keys()

    prints = {ChunkingSettings(**{name: value}).fingerprint() for name, value in changed.items()}

    assert len(prints | {base.fingerprint()}) == len(changed) + 1


def test_every_setting_says_what_it_does() -> None:
    """The table in docs/settings.md is made from these descriptions."""
    for name, stage in Settings.model_fields.items():
        if isinstance(stage.annotation, type) and issubclass(stage.annotation, StageSettings):
            for field_name, field in stage.annotation.model_fields.items():
                is_group = isinstance(field.annotation, type) and issubclass(
                    field.annotation, StageSettings
                )
                assert field.description or is_group, f"{name}.{field_name}"


def test_the_names_of_adr_0004_choose_the_models(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They stand in users' .env files and in the documents this project was made from."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text(
        "RAG_ASSETS_ANSWER_MODEL=ollama:llama3.2\nEMBED_PROVIDER=google\n"
    )
    monkeypatch.setenv("EMBED_MODEL", "gemini-embedding-001")

    settings = load_settings()

    assert settings.answering.model == "ollama:llama3.2"
    assert settings.embedding.model == "google:gemini-embedding-001"


def test_the_full_name_of_a_setting_wins_over_its_short_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two names for one thing need an order."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_ASSETS_ANSWER_MODEL", "ollama:llama3.2")
    monkeypatch.setenv("RAG_ASSETS_ANSWERING__MODEL", "extractive")
    monkeypatch.setenv("RAG_ASSETS_ANSWERING__K", "7")

    settings = load_settings()

    assert (settings.answering.model, settings.answering.k) == ("extractive", 7)


def test_a_byte_order_mark_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some editors write one; a key that is lost by it is looked for everywhere but there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_ASSETS_CONFIG", "rag_assets.toml")
    (tmp_path / "rag_assets.toml").write_text("[answering]\nk = 9\n", "utf-8-sig")
    (tmp_path / ".env").write_text("RAG_ASSETS_ANSWERING__MIN_SOURCES=1\n", "utf-8-sig")

    answering = load_settings().answering

    assert (answering.k, answering.min_sources) == (9, 1)
