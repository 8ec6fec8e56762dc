"""Settings: environment over file over default, and a bad one stops the start with its name."""

from pathlib import Path

import pytest

from deerflow_lite.config import load_config
from deerflow_lite.errors import SettingInvalid


def test_a_given_option_goes_over_the_environment_over_the_file_over_the_default(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('port = 1111\nstore = "memory"\nrun_queue = 7\nallowed_hosts = ["a", "b"]\n')
    environ = {"DEERFLOW_LITE_PORT": "2222", "DEERFLOW_LITE_STORE": "sqlite", "DEERFLOW_LITE_INSTANCE": str(tmp_path)}
    config = load_config(environ | {"HOME": "elsewhere"}, port=3333, host=None)
    read = (config.port, config.store, config.run_queue, config.allowed_hosts, config.host, config.instance)
    assert read == (3333, "sqlite", 7, ("a", "b"), "127.0.0.1", tmp_path)


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({"DEERFLOW_LITE_PROT": "1"}, "DEERFLOW_LITE_PROT is not a setting"),
        ({"DEERFLOW_LITE_PORT": "x"}, "DEERFLOW_LITE_PORT must be a whole number from 0 to 65535, not 'x'"),
        ({"DEERFLOW_LITE_PORT": "65536"}, "DEERFLOW_LITE_PORT must be a whole number from 0 to 65535, not '65536'"),
        ({"DEERFLOW_LITE_STORE": "mysql"}, "DEERFLOW_LITE_STORE must be one of sqlite, memory, not 'mysql'"),
    ],
)
def test_an_unknown_or_bad_setting_of_the_environment_is_told_by_its_name(
    tmp_path: Path, environ: dict[str, str], told: str
) -> None:
    with pytest.raises(SettingInvalid) as refused:
        load_config(environ, instance=tmp_path)
    assert refused.value.detail == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("prot = 1", "config.toml: prot is not a setting"),
        ("port = true", "config.toml: port must be a whole number from 0 to 65535, not 'True'"),
        ("store = 5", "config.toml: store must be one of sqlite, memory, not '5'"),
    ],
)
def test_an_unknown_or_bad_setting_of_the_file_is_told_by_its_name(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(SettingInvalid) as refused:
        load_config({}, instance=tmp_path)
    assert refused.value.detail == told


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("port = = 1")
    with pytest.raises(SettingInvalid, match=r"config\.toml is not valid TOML"):
        load_config({}, instance=tmp_path)
