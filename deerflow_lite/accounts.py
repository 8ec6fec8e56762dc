"""Owners and the tokens that open their chats, with the sessions of the page; it knows no request and no thread.

Invariants: a secret is never stored, only its SHA-256 (it has 256 random bits: a slow hash would protect nothing);
secrets are compared in constant time; a revoked or expired token opens nothing, nor does a session made with it.
"""

import hashlib
import hmac
import re
import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from deerflow_lite import clock
from deerflow_lite.db import Database, Migration
from deerflow_lite.errors import Invalid, TokenAmbiguous, TokenUnknown

# no dot and no space: an owner is also the first part of a namespace of the store
NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
DEFAULT_OWNER: Final = "default"
SESSION_DAYS: Final = 30
_TOKEN: Final = re.compile(r"dfl_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_SESSION: Final = re.compile(r"([0-9a-f]{32})\.([A-Za-z0-9_-]{43})")
_COLUMNS: Final = "t.token_id, t.name, t.owner, t.created_at, t.expires_at, t.revoked_at"
_LIVE: Final = "t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > ?)"
_TABLES: Final = (
    """CREATE TABLE tokens (
        token_id TEXT PRIMARY KEY, name TEXT NOT NULL, owner TEXT NOT NULL, hash BLOB NOT NULL,
        created_at TEXT NOT NULL, expires_at TEXT, revoked_at TEXT
    ) WITHOUT ROWID, STRICT""",
    """CREATE TABLE sessions (
        session_id TEXT PRIMARY KEY, token_id TEXT NOT NULL, hash BLOB NOT NULL, expires_at TEXT NOT NULL
    ) WITHOUT ROWID, STRICT""",
)


def _create(connection: sqlite3.Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)


MIGRATIONS: Final[list[Migration]] = [("accounts", _create)]


@dataclass(frozen=True, slots=True)
class Token:
    """What may be known of a token once it was handed out; its secret is not."""

    token_id: str
    name: str
    owner: str
    created_at: str
    expires_at: str | None
    revoked_at: str | None


def live(token: Token) -> bool:
    """Say whether a token still opens anything."""
    return token.revoked_at is None and (token.expires_at is None or token.expires_at > clock.now())


class Accounts:
    """Hands out tokens and sessions and says whose they are; what one process revokes ends at once in all."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def create(self, name: str, owner: str | None = None, days: int | None = None) -> tuple[Token, str]:
        """Make a token for an owner, by default of its own name, and give it with its text, which is not kept.

        Raises Invalid for a name that no owner can have.
        """
        for field, text in (("name", name), ("owner", owner)):
            if text is not None and not NAME.fullmatch(text):
                raise Invalid({field: ["must be 1 to 64 of A-Z a-z 0-9 _ -"]})
        owner = name if owner is None else owner
        token_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        made = Token(token_id, name, owner, clock.now(), None if days is None else clock.after(days), None)
        with self._db.writing() as connection:
            connection.execute(
                "INSERT INTO tokens (token_id, name, owner, hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
                (token_id, name, owner, _hash(secret), made.created_at, made.expires_at),
            )
        return made, f"dfl_{token_id}_{secret}"

    def listed(self) -> list[Token]:
        """Give every token that was ever made, the oldest first."""
        with self._db.reading() as connection:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM tokens t ORDER BY t.created_at, t.token_id").fetchall()
        return [Token(*row) for row in rows]

    def revoke(self, begins: str) -> Token:
        """End the one token whose id begins so, with every session made with it, and give it as it is now.

        One that was revoked before stays as it is. Raises TokenUnknown, TokenAmbiguous.
        """
        with self._db.writing() as connection:
            token_id = self._named(begins).token_id
            connection.execute(
                "UPDATE tokens SET revoked_at = ? WHERE token_id = ? AND revoked_at IS NULL", (clock.now(), token_id)
            )
            connection.execute("DELETE FROM sessions WHERE token_id = ?", (token_id,))
            return self._named(token_id)

    def _named(self, begins: str) -> Token:
        found = [token for token in self.listed() if begins and token.token_id.startswith(begins)]
        if not found:
            raise TokenUnknown(begins)
        if len(found) > 1:
            raise TokenAmbiguous(begins, [token.token_id for token in found])
        return found[0]

    def of_token(self, text: str) -> Token | None:
        """Give the live token of this text, None for every other text."""
        match = _TOKEN.fullmatch(text)
        if match is None:
            return None
        return self._proved(match[2], f"SELECT {_COLUMNS}, t.hash FROM tokens t WHERE t.token_id = ? AND {_LIVE}",
                            (match[1], clock.now()))  # fmt: skip

    def stands(self, token: Token) -> bool:
        """Say whether a token that was given before still opens anything."""
        with self._db.reading() as connection:
            statement = f"SELECT 1 FROM tokens t WHERE t.token_id = ? AND {_LIVE}"
            return connection.execute(statement, (token.token_id, clock.now())).fetchone() is not None

    def of_session(self, text: str) -> Token | None:
        """Give the live token that this session was made with, None for every other text."""
        match = _SESSION.fullmatch(text)
        if match is None:
            return None
        statement = f"""SELECT {_COLUMNS}, s.hash FROM sessions s JOIN tokens t ON t.token_id = s.token_id
            WHERE s.session_id = ? AND s.expires_at > ? AND {_LIVE}"""
        now = clock.now()
        return self._proved(match[2], statement, (match[1], now, now))

    def sign_in(self, token: Token) -> str:
        """Make a session that ends with its token, at the latest after SESSION_DAYS, and give its text."""
        session_id, secret = secrets.token_hex(16), secrets.token_urlsafe(32)
        with self._db.writing() as connection:
            connection.execute("DELETE FROM sessions WHERE expires_at <= ?", (clock.now(),))
            connection.execute(
                "INSERT INTO sessions (session_id, token_id, hash, expires_at) VALUES (?, ?, ?, ?)",
                (session_id, token.token_id, _hash(secret), clock.after(SESSION_DAYS)),
            )
        return f"{session_id}.{secret}"

    def sign_out(self, text: str) -> None:
        """End a session; the caller has proved that it is one."""
        with self._db.writing() as connection:
            connection.execute("DELETE FROM sessions WHERE session_id = ?", (text.partition(".")[0],))

    def _proved(self, secret: str, statement: str, values: Sequence[Any]) -> Token | None:
        with self._db.reading() as connection:
            row = connection.execute(statement, values).fetchone()
        if row is None or not hmac.compare_digest(_hash(secret), row[-1]):
            return None
        return Token(*row[:-1])


def csrf(session: str) -> str:
    """Give the text that a page must send with a write, for its session; nobody can make one from the other's."""
    return hmac.new(session.encode(), b"csrf", hashlib.sha256).hexdigest()


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
