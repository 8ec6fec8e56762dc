"""Tokens and sessions: who has one, how it ends, and that no file holds a secret."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from deerflow_lite.accounts import NAME, Accounts, csrf, live
from deerflow_lite.config import Config
from deerflow_lite.errors import Invalid, TokenAmbiguous, TokenUnknown
from deerflow_lite.gateway import open_accounts

PAST = "2020-01-01T00:00:00.000000+00:00"


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(instance=tmp_path)


@pytest.fixture
def accounts(config: Config) -> Iterator[Accounts]:
    with open_accounts(config) as opened:
        yield opened


def write(config: Config, statement: str, *values: object) -> None:
    connection = sqlite3.connect(config.database)
    with connection:
        connection.execute(statement, values)
    connection.close()


def test_a_token_opens_the_chats_of_its_name_or_of_the_owner_that_is_named(accounts: Accounts) -> None:
    alice, text = accounts.create("alice")
    assert (alice.owner, alice.expires_at, alice.revoked_at, live(alice)) == ("alice", None, None, True)
    assert accounts.of_token(text) == alice
    laptop, text = accounts.create("laptop", "alice")
    assert (laptop.name, laptop.owner) == ("laptop", "alice")
    assert accounts.of_token(text) == laptop
    assert accounts.listed() == [alice, laptop]


@pytest.mark.parametrize("wrong", ["", "a.b", "a b", "é", "x" * 65, "a\n", "a%"])
def test_a_name_that_no_owner_can_have_is_refused(accounts: Accounts, wrong: str) -> None:
    assert NAME.fullmatch(wrong) is None
    with pytest.raises(Invalid, match="^name: "):
        accounts.create(wrong)
    with pytest.raises(Invalid, match="^owner: "):
        accounts.create("a", wrong)
    assert accounts.listed() == []


def test_nothing_but_the_whole_text_opens(accounts: Accounts) -> None:
    _, text = accounts.create("alice")
    _, other = accounts.create("bob")
    begins, ends = text[:17], text[17:]
    for wrong in ("", "x", text[:-1], text + "x", text + "\n", " " + text, text.upper(), ends, begins + other[17:],
                  begins + "A" * 43, text.replace("dfl_", "dfl-"), "é" * 60):  # fmt: skip
        assert accounts.of_token(wrong) is None
        assert accounts.of_session(wrong) is None


def test_a_revoked_token_opens_nothing_in_any_process_and_takes_its_sessions_with_it(config: Config) -> None:
    with open_accounts(config) as here, open_accounts(config) as there:
        alice, text = here.create("alice")
        kept, kept_text = here.create("alice")
        session, kept_session = here.sign_in(alice), here.sign_in(kept)
        assert there.of_session(session) == alice
        ended = there.revoke(alice.token_id[:6])
        assert (ended.token_id, live(ended), here.stands(alice)) == (alice.token_id, False, False)
        assert (here.of_token(text), here.of_session(session)) == (None, None)
        assert (here.of_token(kept_text), here.of_session(kept_session)) == (kept, kept)
        assert there.revoke(alice.token_id) == ended


def test_a_token_is_revoked_by_a_beginning_that_it_alone_has(accounts: Accounts) -> None:
    made = [accounts.create("a")[0].token_id for _ in range(17)]
    shared = next(first for first in "0123456789abcdef" if sum(one.startswith(first) for one in made) > 1)
    with pytest.raises(TokenAmbiguous):
        accounts.revoke(shared)
    for begins in ("", "x", made[0] + "0"):
        with pytest.raises(TokenUnknown):
            accounts.revoke(begins)
    assert all(live(token) for token in accounts.listed())


def test_an_expired_token_and_an_old_session_open_nothing(accounts: Accounts, config: Config) -> None:
    alice, text = accounts.create("alice", days=1)
    bob, bob_text = accounts.create("bob")
    session, old = accounts.sign_in(alice), accounts.sign_in(bob)
    assert alice.expires_at is not None and alice.expires_at[:10] > alice.created_at[:10]
    write(config, "UPDATE tokens SET expires_at = ? WHERE name = 'alice'", PAST)
    write(config, "UPDATE sessions SET expires_at = ? WHERE token_id = ?", PAST, bob.token_id)
    assert (accounts.of_token(text), accounts.of_session(session), accounts.stands(alice)) == (None, None, False)
    assert (accounts.of_token(bob_text), accounts.of_session(old)) == (bob, None)
    assert [live(token) for token in accounts.listed()] == [False, True]


def test_a_session_ends_when_it_is_signed_out_and_no_other_with_it(accounts: Accounts) -> None:
    alice, _ = accounts.create("alice")
    one, other = accounts.sign_in(alice), accounts.sign_in(alice)
    accounts.sign_out(one)
    assert (accounts.of_session(one), accounts.of_session(other)) == (None, alice)
    assert len({csrf(one), csrf(other)}) == 2


def test_no_file_holds_the_text_of_a_token_or_of_a_session(tmp_path: Path) -> None:
    config = Config(instance=tmp_path)
    with open_accounts(config) as accounts:
        alice, text = accounts.create("alice")
        session = accounts.sign_in(alice)
        files = list(tmp_path.iterdir())
        stored = b"".join(path.read_bytes() for path in files)
    assert alice.token_id.encode() in stored
    for secret in (text[17:], session.partition(".")[2], csrf(session)):
        assert secret.encode() not in stored
