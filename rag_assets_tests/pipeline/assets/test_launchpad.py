"""The launchpad: what it offers, what it refuses before a run starts, and what it hands on."""

from typing import Any

import dagster as dg
import pytest

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import Settings, load_settings
from rag_assets.pipeline.assets.resources import (
    launchpad_schema,
    launchpad_values,
    settings_of_run,
)
from rag_assets.pipeline.definitions import build_defs

NOT_OF_A_RUN = {"data_dir", "paper_list", "questions", "server"}
"""Not in the launchpad, or empty by default."""


def refusal(config: dict[str, Any]) -> str:
    """What Dagster says of this configuration, without starting a run; empty if it accepts it."""
    job = build_defs().resolve_job_def("everything")
    try:
        dg.validate_run_config(job, {"resources": {"settings": {"config": config}}})
    except dg.DagsterInvalidConfigError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"chunking": {"max_tokenz": 900}}, 'Received unexpected config entry "max_tokenz"'),
        ({"chunking": {"max_tokens": "many"}}, 'is not valid for expected type "Int"'),
        ({"retrieval": {"fusion": "convx"}}, "not in enum type retrieval_fusion got convx"),
        (
            {"parsing": {"source_order": ["pdf", "tex"]}},
            "not in enum type parsing_source_order got tex",
        ),
        (
            {"chunking": {"target_tokens": -5}},
            "chunking.target_tokens: Input should be greater than",
        ),
        ({"data_dir": "elsewhere"}, 'Received unexpected config entry "data_dir"'),
    ],
)
def test_a_typo_is_refused_before_the_run_starts(config: dict[str, Any], said: str) -> None:
    """A typo must be refused before the run starts: else the run fails, or goes on with other
    settings."""
    assert said in refusal(config)
    assert "unexpected error" not in refusal(config)


@pytest.mark.parametrize(
    "config",
    [
        {"indexing": {"qdrant": {"url": "http://127.0.0.2:6333"}}},
        {"parsing": {"grobid": "http://127.0.0.2:8070"}},
        {"execution": {"cluster": "tcp://127.0.0.2:8786"}},
    ],
)
def test_the_launchpad_sends_keys_and_papers_to_no_other_address(config: dict[str, Any]) -> None:
    """The UI asks for no password: with `--host`, whoever reaches it had the key of the environment
    and all papers sent to a server of theirs."""
    assert "cannot be changed in the launchpad: keys and papers are sent there" in refusal(config)
    with pytest.raises(InvalidSettings, match="cannot be changed in the launchpad"):
        settings_of_run(config, load_settings().model_dump(mode="json"), None)


def test_every_setting_is_accepted_with_its_default_as_its_value() -> None:
    """What is not offered cannot be set; what has another type than the setting cannot be
    written."""
    every = load_settings().model_dump(mode="json", exclude=NOT_OF_A_RUN)

    assert refusal(every) == ""


def test_the_launchpad_says_what_each_setting_is_and_its_value() -> None:
    """It is the one place where the settings are looked up while they are changed; "Scaffold"
    writes the defaults."""
    now = load_settings({"chunking": {"max_tokens": 1300}})
    fields = launchpad_schema(now)

    assert set(Settings.model_fields) - {"data_dir", "server"} <= set(fields)
    chunking = fields["chunking"].config_type.fields  # type: ignore[attr-defined]
    assert (
        chunking["max_tokens"].description == "No chunk is longer; a longer sentence or row is cut."
    )
    assert chunking["max_tokens"].default_value == 1300
    scaffold = {
        name: field.default_value for name, field in fields.items() if field.default_provided
    }
    assert scaffold == now.model_dump(mode="json", exclude={"data_dir", "server"})


def test_texts_of_the_command_line_become_values_of_the_launchpads_types() -> None:
    """`--set chunking.max_tokens=1100` would be refused as a text where a number is wanted."""
    given = {
        "data_dir": "d",
        "chunking": {"max_tokens": "1300"},
        "evaluation": {"floors": {"mrr": "0.5"}},
    }

    values = launchpad_values(given, load_settings(given))

    assert values == {"chunking": {"max_tokens": 1300}, "evaluation": {"floors": {"mrr": 0.5}}}
    assert refusal(values) == ""
