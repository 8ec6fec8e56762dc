"""Where the service listens: HOST, the address behind it and a port that nobody else has; it listens on nothing."""

import errno
import socket
from contextlib import closing
from dataclasses import dataclass, replace

from deerflow_lite.config import Config
from deerflow_lite.errors import SettingInvalid
from deerflow_lite.server.lifeline import CannotServe


@dataclass(frozen=True)
class Address:
    """Where the service listens: HOST as it was given, the address behind it, and the port."""

    host: str
    ip: str
    port: int

    @property
    def authority(self) -> str:
        """Host and port as they stand in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The URL that is printed."""
        return f"http://{self.authority}"

    @property
    def family(self) -> socket.AddressFamily:
        """IPv6 or IPv4."""
        return socket.AF_INET6 if ":" in self.ip else socket.AF_INET


def resolved(config: Config) -> Address:
    """Find the address behind HOST, IPv4 first; raises SettingInvalid for one that others reach while AUTH is none."""
    try:
        found = socket.getaddrinfo(config.host, config.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SettingInvalid(f"HOST {config.host!r} is no address: {error}") from None
    ip = str(min(found, key=lambda each: each[0] != socket.AF_INET)[4][0])
    if config.auth == "none" and not ip.startswith("127.") and ip != "::1":
        raise SettingInvalid(f"HOST {config.host} is not a loopback address and AUTH is none: anybody could call it")
    return Address(config.host, ip, config.port)


def free(address: Address) -> Address:
    """Find out the number behind port 0; raises CannotServe when somebody listens there already."""
    with closing(bound(address, socket.SO_REUSEADDR)) as probe:
        return replace(address, port=probe.getsockname()[1])


def bound(address: Address, *options: int) -> socket.socket:
    """Bind a socket that does not listen; raises CannotServe naming the port and what is wrong with it."""
    made = socket.socket(address.family, socket.SOCK_STREAM)
    for option in options:
        made.setsockopt(socket.SOL_SOCKET, option, 1)
    try:
        made.bind((address.ip, address.port))
    except OSError as error:
        made.close()
        reason = "is in use; choose another PORT" if error.errno == errno.EADDRINUSE else f"refuses: {error.strerror}"
        raise CannotServe(f"{address.authority} {reason}") from None
    return made
