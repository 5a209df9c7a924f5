"""Keys and addresses: where they come from, and what is said when they are missing."""

from pathlib import Path

import pytest

from rag_assets.core.errors import InvalidSettings, MissingKey
from rag_assets.hosted.access import ModelName, require_access
from rag_assets_testing.wire import use_wire_environment


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No provider has a key or an address, and the working folder has no `.env`."""
    use_wire_environment(monkeypatch)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("provider", "variables"),
    [
        ("google", "GEMINI_API_KEY or GOOGLE_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("openai", "OPENAI_API_KEY"),
    ],
)
def test_a_missing_key_is_named(provider: str, variables: str) -> None:
    """The one thing the user must do next."""
    with pytest.raises(MissingKey) as raised:
        require_access(provider)

    assert str(raised.value) == (
        f"Models of {provider} need a key. Set {variables} in the environment or in .env, or use what needs none: "
        'answering.model = "extractive", answering.judge.model = "none", a local embedding.model.'
    )


@pytest.mark.parametrize("variable", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
def test_either_name_of_the_google_key_will_do(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Google's own documents use both."""
    monkeypatch.setenv(variable, "secret")

    access = require_access("google")

    assert access.key is not None
    assert access.key.get_secret_value() == "secret"


def test_a_key_is_read_from_env_file_and_the_environment_wins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Keys lie in `.env` on a laptop and in the environment on a server."""
    (tmp_path / ".env").write_text("OPENAI_API_KEY=from-file\nANTHROPIC_API_KEY=from-file\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-environment")

    keys = [require_access(provider).key for provider in ("openai", "anthropic")]

    assert [key.get_secret_value() for key in keys if key] == ["from-file", "from-environment"]


def test_a_key_is_not_shown_by_accident() -> None:
    """Objects end up in logs and tracebacks."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("OPENAI_API_KEY", "very-secret")
        access = require_access("openai")

    assert "very-secret" not in f"{access} {access!r}"
    assert access.redacted("Bearer very-secret!") == "Bearer [key]!"


def test_a_password_in_an_address_is_a_secret_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxies in front of a model server are often opened this way."""
    monkeypatch.setenv("OPENAI_BASE_URL", "https://user:pass-word@gpu.example.org/v1")

    access = require_access("openai")

    assert "pass-word" not in f"{access!r}{access.server}"
    assert (
        access.redacted("cannot reach https://user:pass-word@gpu")
        == "cannot reach https://user:[key]@gpu"
    )


def test_a_key_is_found_in_any_spelling_of_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some gateways take the key in the address, and errors repeat addresses."""
    monkeypatch.setenv(
        "OPENAI_BASE_URL", "https://token-0123456789@gpu.example.org/v1?api-key=abc0123456789"
    )
    monkeypatch.setenv("OPENAI_API_KEY", "sk+0123/456789")

    access = require_access("openai")

    echoed = (
        "https://token-0123456789@gpu.example.org/v1?api-key=abc0123456789&key=sk%2B0123%2F456789"
    )
    assert not any(secret in access.redacted(echoed) for secret in ("token-01", "abc01", "sk%2B"))


@pytest.mark.parametrize(
    ("variable", "base_url"),
    [
        (None, "http://localhost:11434/v1"),
        ("http://gpu:11434", "http://gpu:11434/v1"),
        ("http://gpu:11434/v1/", "http://gpu:11434/v1"),
    ],
)
def test_ollama_s_address_is_found_however_it_is_written(
    variable: str | None, base_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ollama's own tools want it without the path, OpenAI's protocol with it."""
    if variable:
        monkeypatch.setenv("OLLAMA_BASE_URL", variable)

    assert require_access("ollama").base_url == base_url


@pytest.mark.parametrize(
    "address",
    [
        "localhost:8000",
        "http://",
        "http://[::1",
        "http://localhost:port/v1",
        "http://’x",
        "ftp://host/v1",
    ],
)
def test_an_address_that_is_none_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the SDK's error speaks of sockets, or of nothing."""
    monkeypatch.setenv("OPENAI_BASE_URL", address)

    with pytest.raises(InvalidSettings, match=r"OPENAI_BASE_URL is not an address"):
        require_access("openai")


@pytest.mark.parametrize(
    "key", ["sk-first-line\nsk-second-line", "sk-with blank", "sk-with-’quote’", "sk-\x00"]
)
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(
    key: str, tmp_path: Path
) -> None:
    """The HTTP library's own error shows the header, and with it the key."""
    (tmp_path / ".env").write_text(f'GEMINI_API_KEY="{key}"\n')

    with pytest.raises(InvalidSettings, match=r"The key of google .* holds blanks") as raised:
        require_access("google")

    assert "sk-" not in str(raised.value)


@pytest.mark.parametrize("word", ["none", "EMPTY", "ollama"])
def test_a_word_that_serves_as_a_key_stays_a_word(
    word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Local servers are given what their manuals show; papers use these words, too, and quotes must
    be found again."""
    monkeypatch.setenv("OPENAI_API_KEY", word)

    assert (
        require_access("openai").redacted(f"12% in {word} of the runs")
        == f"12% in {word} of the runs"
    )


def test_a_model_of_another_server_is_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """llama3.2 here may not be llama3.2 there: answers of one must not pass for those of the
    other."""
    name = ModelName.parse("ollama:llama3.2", setting="answering.model", instead="extractive")
    here = require_access("ollama").model_id(name)
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://gpu:11434")
    there = require_access("ollama").model_id(name)

    assert here == "ollama:llama3.2"
    assert there.startswith("ollama:llama3.2@")
    assert "gpu" not in there


@pytest.mark.parametrize(
    "text", ["gemini-2.5-flash", "mistral:large", "google:", "google:a b", "openai:x\ny"]
)
def test_a_model_that_cannot_exist_is_refused_by_the_setting_s_name(text: str) -> None:
    """A typo found after an hour of embedding is an hour lost."""
    with pytest.raises(
        InvalidSettings,
        match=r"answering\.model = .* does not exist\. It is extractive, or a model",
    ):
        ModelName.parse(text, setting="answering.model", instead="extractive")
