"""Each scripted server is understood by the provider's real SDK, records what it was asked and ends
cleanly."""

import http.client
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from pydantic_ai import exceptions as pai

from rag_assets_testing.wire import (
    PROTOCOLS,
    Drop,
    Reply,
    Slow,
    Step,
    WireRequest,
    WireServer,
    WireServerFailed,
    use_wire_environment,
)
from rag_assets_tests.wire.sdk_models import MODEL_NAMES, ask

ANSWER = json.dumps(
    {
        "missing": ["Ferritin fell."],
        "claims": [
            {"text": "Ferritin fell.", "citations": [{"source": 2, "quote": "ferritin fell"}]}
        ],
    }
)


def test_a_structured_answer_is_read_with_its_usage(server: WireServer) -> None:
    """If a reply is not shaped as the provider shapes it, every other test on these servers proves
    nothing."""
    server.answer_with(Reply(ANSWER, n_input_tokens=123, n_output_tokens=45))

    result = ask(server.protocol_name, "Did ferritin fall?")

    assert result.output.claims[0].citations[0].source == 2
    assert (result.usage.input_tokens, result.usage.output_tokens) == (123, 45)
    assert result.response.finish_reason == "stop"


def test_a_request_is_recorded_as_its_provider_reads_it(server: WireServer) -> None:
    """Tests of prompts, keys and call counts look at this record and nowhere else."""
    server.answer_with(Reply(ANSWER))

    ask(server.protocol_name, "Did ferritin fall?")

    (request,) = server.requests
    assert request.prompt == "Did ferritin fall?"
    assert request.messages == (("user", "Did ferritin fall?"),)
    assert request.system == "Answer from the sources only."
    assert request.model == MODEL_NAMES[server.protocol_name]
    assert request.key == server.key
    assert request.schema is not None
    assert set(request.schema["properties"]) == {"missing", "claims"}


def test_a_malformed_answer_gets_a_second_round_that_the_record_shows(server: WireServer) -> None:
    """The repair round is a request like any other: it has to be counted, and to carry what went
    wrong."""
    server.answer_with(Reply('```json\n{"answer": '), Reply(ANSWER))

    result = ask(server.protocol_name, "Did ferritin fall?")

    assert result.output.missing == ["Ferritin fell."]
    assert [role for role, _ in server.requests[1].messages][::2] == ["user", "user"]
    assert '```json\n{"answer": ' in server.requests[1].messages[1][1]


def test_a_scripted_model_answers_by_what_it_was_asked(server: WireServer) -> None:
    """Injection and coverage tests need a model that reads its prompt; the queue still comes
    first."""

    def parrot(request: WireRequest) -> Step:
        return Reply(json.dumps({"claims": [], "missing": [request.prompt.upper()]}))

    server.answer_by(parrot)
    server.answer_with(Reply(ANSWER))

    answers = [
        ask(server.protocol_name, question).output.missing[0] for question in ("first", "second")
    ]

    assert answers == ["Ferritin fell.", "SECOND"]


def test_each_of_many_threads_gets_one_step(server: WireServer) -> None:
    """A step given twice or lost would look like a question asked twice or lost."""
    numbers = [str(n) for n in range(8)]
    server.answer_with(
        *(Slow(0.05, Reply(json.dumps({"claims": [], "missing": [number]}))) for number in numbers)
    )

    with ThreadPoolExecutor(4) as pool:
        results = list(
            pool.map(lambda number: ask(server.protocol_name, number, timeout_s=10), numbers)
        )

    assert sorted(result.output.missing[0] for result in results) == numbers
    assert sorted(request.prompt for request in server.requests) == numbers
    assert 2 <= server.most_in_flight <= 4


def test_one_caller_is_never_counted_as_two_in_flight(server: WireServer) -> None:
    """Concurrency limits are tested by this number: one too many would fail a limiter that
    works."""
    server.answer_by(lambda request: Reply(ANSWER))

    for n in range(5):
        ask(server.protocol_name, str(n))

    assert server.most_in_flight == 1


def test_a_dropped_connection_leaves_the_next_request_unharmed(server: WireServer) -> None:
    """A retry after a lost connection has to reach the server."""
    server.answer_with(Drop(), Reply(ANSWER))

    with pytest.raises(pai.ModelConnectionError):
        ask(server.protocol_name, "one")

    assert ask(server.protocol_name, "one").output.missing == ["Ferritin fell."]


def test_an_unscripted_request_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected call costs money in real life; swallowed as a server error it would pass for a
    fault."""
    wire = WireServer("google")

    def unscripted_call() -> None:
        with wire:
            use_wire_environment(monkeypatch, wire)
            with pytest.raises(pai.ModelServerError):
                ask("google", "Did ferritin fall?")

    with pytest.raises(WireServerFailed, match="no step is left for request 1, 'Did ferritin fall"):
        unscripted_call()


def test_a_scripted_model_that_crashes_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """An assertion inside a scripted model has to be seen, not to hang the client or pass for a
    fault."""
    wire = WireServer("openai")

    def broken(request: WireRequest) -> Step:
        raise KeyError("source 3")

    def call_of_broken_model() -> None:
        with wire:
            use_wire_environment(monkeypatch, wire)
            wire.answer_by(broken)
            with pytest.raises(pai.ModelServerError):
                ask("openai", "Did ferritin fall?")

    with pytest.raises(WireServerFailed, match="KeyError: 'source 3'"):
        call_of_broken_model()


def test_closing_waits_for_no_slow_step_and_leaves_no_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that outlives its test delays all the others, and its sockets turn up as warnings
    elsewhere."""
    before = set(threading.enumerate())
    is_waited_for = threading.Event()
    patience = threading.Timer(60.0, is_waited_for.set)

    with WireServer("google") as server:
        use_wire_environment(monkeypatch, server)
        server.answer_with(Slow(90.0))
        with pytest.raises(pai.ModelTimeoutError):
            ask("google", "Did ferritin fall?", timeout_s=0.2)
        patience.start()

    patience.cancel()
    assert not is_waited_for.is_set()
    assert {
        t
        for t in set(threading.enumerate()) - before
        if "process_request" in t.name or "serve" in t.name
    } == set()


def test_a_connection_is_kept_for_the_next_request_and_does_not_hold_up_closing() -> None:
    """The SDKs keep connections: without that their reuse is never tested, and with it a server may
    wait for ever."""
    with WireServer("openai") as server:
        address = urlsplit(server.base_url)
        connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=5)
        ports = {_port_of_a_request(connection) for _ in range(2)}
        rescue = threading.Timer(
            60.0, connection.close
        )  # else a server that waits for the client waits for ever
        rescue.start()

    was_rescued = rescue.finished.is_set()
    rescue.cancel()
    connection.close()
    assert len(ports) == 1
    assert not was_rescued


def _port_of_a_request(connection: http.client.HTTPConnection) -> int:
    connection.request("POST", "/v1/embeddings", json.dumps({"model": "m", "input": "ferritin"}))
    assert connection.getresponse().read()
    return int(connection.sock.getsockname()[1])


def test_the_keys_of_the_providers_do_not_contain_each_other() -> None:
    """Leak tests search for a key; a key that is part of another would blame the wrong provider."""
    keys = [protocol.key for protocol in PROTOCOLS.values()]

    assert all(keys.count(key) == sum(key in other for other in keys) == 1 for key in keys)
