"""The settings: what is in force, where it comes from, and errors that name the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact import config
from reenact.errors import UsageError
from reenact.inputs import SOURCES, Inputs

FULL = """\
[project]
name = "reenact-user"   # a mention, not a table
text = \"\"\"
[tool.reenact]
seed = "no"
\"\"\"

[tool.reenact]
instrument = [
    "requests",
    "urllib3.util",
]
strategy = "random"
seed = 7

# slice = 3
slice = 50
strict = true
boundary = ["psycopg2:connect", "mylib.native:*"]

[tool.reenact.sources]
clock = "passed"
"sockets" = "refused"
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def file(text: str) -> config.File:
    path = Path.cwd() / "pyproject.toml"
    path.write_bytes(text.encode())
    return config.read(path)


def settled(text: str = "", **options: object) -> config.Settings:
    """Options by the names of settings, with _ for -."""
    given = {name.replace("_", "-"): value for name, value in options.items()}
    return config.settle(given, file(text))


def error(text: str = "", **options: object) -> UsageError:
    with pytest.raises(UsageError) as caught:
        settled(text, **options)
    assert caught.value.advice
    return caught.value


def test_without_anything_everything_is_recorded() -> None:
    settings = config.settle({})
    assert settings.inputs == Inputs()
    assert set(settings.inputs.sources.values()) == {"recorded"}
    assert (settings.packages, settings.strategy) == ((), "queue")
    assert (settings.seed, settings.slice) == (None, None)
    assert (str(settings.origin("seed")), settings.file) == ("default", "")


def test_a_whole_file() -> None:
    settings = settled(FULL)
    assert settings.packages == ("requests", "urllib3.util")
    assert (settings.strategy, settings.seed, settings.slice) == ("random", 7, 50)
    assert settings.inputs.sources["clock"] == "passed"
    assert settings.inputs.sources["sockets"] == "refused"
    assert settings.inputs.sources["files"] == "recorded"
    assert settings.inputs.boundary == ("psycopg2:connect", "mylib.native:*")
    assert settings.inputs.strict
    assert settings.file == "pyproject.toml"


@pytest.mark.parametrize(
    "path, line",
    [
        (("instrument",), 9),
        (("instrument", "urllib3.util"), 9),
        (("strategy",), 13),
        (("seed",), 14),
        (("slice",), 17),
        (("boundary", "mylib.native:*"), 19),
        (("sources",), 21),
        (("sources", "clock"), 22),
        (("sources", "sockets"), 23),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lines(path: tuple[str, ...], line: int, newline: str) -> None:
    settings = settled(FULL.replace("\n", newline))
    assert str(settings.origin(*path)) == f"pyproject.toml line {line}"


@pytest.mark.parametrize(
    "text, line",
    [
        ("[tool]\nx.y = 1\nreenact.seed = 3\n", 3),
        ("\n\ntool.reenact.seed = 3", 3),
        ("[tool]\n\nreenact = { slice = 2, seed = 3 }\n", 3),
        ("[tool.reenact]\nboundary = [\n  'a:b',\n]\nseed = 3\n", 5),
        ("[tool.reenact.sources]\nclock = 'passed'\n[tool.reenact]\nseed = 3\n", 4),
        ("[other]\nseed = 1\n[tool.reenact]\n# seed = 2\n  seed=3\n[more]\nseed = 4\n", 5),
    ],
)
def test_a_line_is_found_however_it_is_written(text: str, line: int) -> None:
    settings = settled(text)
    assert settings.seed == 3
    assert settings.origin("seed") == config.Origin(file="pyproject.toml", line=line)


@pytest.mark.parametrize(
    "setting, words",
    [
        ("colour = 1", "no setting 'colour'"),
        ("no_instrument = true", "no setting 'no_instrument'"),
        ("instrument = 'requests'", 'instrument must be a list of packages, not "requests"'),
        ("instrument = ['a', 'my-pkg']", 'not "my-pkg"'),
        ("instrument = [1]", "not 1"),
        ("no-instrument = 1", "no-instrument must be true or false, not 1"),
        ("strategy = ''", "strategy must be a name"),
        ("strategy = 3", "strategy must be a name"),
        ("seed = true", "seed must be a number from 0 to 18446744073709551615, not true"),
        ("seed = -1", "not -1"),
        ("seed = 1.0", "not 1.0"),
        ("seed = 18446744073709551616", "not 18446744073709551616"),
        ("seed = 2020-01-01", 'not "2020-01-01"'),
        ("slice = 0", "slice must be a number from 1"),
        ("strict = 'yes'", "strict must be true or false"),
        ("boundary = 'a:b'", "boundary must be a list of module:name"),
        ("boundary = ['a:b', 'psycopg2']", 'not "psycopg2"'),
        ("boundary = ['a:']", 'not "a:"'),
        ("boundary = [':b']", 'not ":b"'),
        ("boundary = ['a:b.c']", 'not "a:b.c"'),
        ("boundary = ['a b:c']", 'not "a b:c"'),
        ("boundary = ['a:b:c']", 'not "a:b:c"'),
        ("boundary = [['a:b']]", 'not ["a:b"]'),
        ("sources = ['clock']", "sources must be a table of sources"),
        ("sources.clocks = 'passed'", "no source 'clocks'"),
        ("sources.clock = 'ignored'", 'clock cannot be "ignored"'),
        ("sources.clock = true", "clock cannot be true"),
        ("sources.signals = 'refused'", 'signals cannot be "refused"'),
        ("races = []", "races must be a table with ignore and heuristic, not []"),
        ("races.ignored = []", "no setting 'ignored' of races"),
        ("races.heuristic = 'yes'", "races.heuristic must be true or false"),
        ("races.ignore = 'Account.balance'", "races.ignore must be a list"),
        ("races.ignore = ['']", "races.ignore must be a list"),
    ],
)
def test_a_wrong_setting_is_named_with_its_line(setting: str, words: str) -> None:
    raised = error(f"[project]\nname = 'x'\n\n[tool.reenact]\n{setting}\n")
    assert words in raised.what
    assert raised.where == "pyproject.toml line 5"
    assert str(raised).startswith("pyproject.toml line 5: ")


def test_races_that_are_not_to_be_told() -> None:
    text = '[tool.reenact]\nraces.ignore = ["Account.balance", "app/*.py", "Account.balance"]\n'
    assert settled(text).ignored == ("Account.balance", "app/*.py")
    assert settled(FULL).ignored == ()


def test_advice_says_what_can_be_written() -> None:
    assert "boundary, sources" in error("[tool.reenact]\nx = 1").advice
    assert "clock, random" in error("[tool.reenact.sources]\nx = 'passed'").advice
    assert error("[tool.reenact.sources]\nsignals = 'no'").advice.endswith("recorded, passed.")
    assert error("[tool.reenact]\nseed = 'x'").advice == "For example: seed = 7"
    assert error(seed=-1).advice == "For example: --seed 7"


@pytest.mark.parametrize("name", config.KEYS)
def test_an_example_is_right(name: str) -> None:
    key = config.KEYS[name]
    assert settled(f"[tool.reenact]\n{key.in_file}\n").origin(name).line == 2
    option = {"sources": "--source", "races": ""}.get(name, f"--{name}")
    assert key.as_option.partition(" ")[0] == option


@pytest.mark.parametrize(
    "text, line",
    [("tool = 1\nreenact = 2", 1), ("[tool]\n\nreenact = true", 3), ("[[tool.reenact]]", 1)],
)
def test_what_is_not_a_table(text: str, line: int) -> None:
    raised = error(text)
    assert "is not a table" in raised.what
    assert raised.where == f"pyproject.toml line {line}"


def test_no_ticks_and_more_ticks_contradict_each_other() -> None:
    raised = error("[tool.reenact]\ninstrument = ['a']\nno-instrument = true\n")
    assert "contradict" in raised.what and raised.where == "pyproject.toml line 3"
    assert error(no_instrument=True, instrument=["a"]).where == "--no-instrument"
    settings = settled("[tool.reenact]\ninstrument = ['a']\nno-instrument = false\n")
    assert settings.packages == ("a",)


@pytest.mark.parametrize("boundary", ["requests:get", "requests.api:*"])
def test_a_boundary_in_an_instrumented_package_contradicts_it(boundary: str) -> None:
    text = f"[tool.reenact]\ninstrument = ['requests']\nboundary = ['{boundary}']\n"
    raised = error(text)
    assert "pyproject.toml line 2" in raised.what
    assert raised.where == "pyproject.toml line 3"
    assert error(text.replace("instrument", "#"), instrument=["requests"]).what.endswith(
        "(--instrument)"
    )
    settled(text.replace("['requests']", "['requests_mock']"))
    settled(text, no_instrument=True)


def test_options_win() -> None:
    sources = {"clock": "recorded", "files": "passed"}
    settings = settled(FULL, strategy="queue", seed=0, slice=1, strict=False, sources=sources)
    assert (settings.strategy, settings.seed, settings.slice) == ("queue", 0, 1)
    assert not settings.inputs.strict
    treated = settings.inputs.sources
    assert (treated["clock"], treated["files"]) == ("recorded", "passed")
    assert treated["sockets"] == "refused"
    origins = [str(settings.origin("sources", name)) for name in ("clock", "sockets", "random")]
    assert origins == ["--source", "pyproject.toml line 23", "default"]
    assert str(settings.origin("strict")) == "--no-strict"
    assert str(settled(strict=True).origin("strict")) == "--strict"


def test_lists_add_up() -> None:
    settings = settled(FULL, instrument=["mine", "requests"], boundary=["z:*"])
    assert settings.packages == ("requests", "urllib3.util", "mine")
    assert settings.inputs.boundary == ("psycopg2:connect", "mylib.native:*", "z:*")
    assert str(settings.origin("boundary", "z:*")) == "--boundary"
    assert settings.origin("boundary", "mylib.native:*").line == 19


def test_an_option_decides_whether_there_are_ticks() -> None:
    assert settled(FULL, no_instrument=True).packages is None
    assert settled("[tool.reenact]\nno-instrument = true").packages is None
    assert settled("[tool.reenact]\nno-instrument = true", instrument=["a"]).packages == ("a",)


@pytest.mark.parametrize(
    "text, line",
    [
        ("[tool.reenact]\nseed = \n", 2),
        ("[tool.reenact]\nseed = 1\nseed = 2\n", 3),
        ("[tool.reenact\n", 1),
        ("reenact = 1\nb = [1,\n", 2),
        ("reenact = 1\n'''", 2),
    ],
)
def test_a_broken_file_is_named_with_its_line(text: str, line: int) -> None:
    raised = error(text)
    assert raised.what.startswith("it is not TOML: ") and "(at" not in raised.what
    assert raised.where == f"pyproject.toml line {line}"
    assert "--no-config" in raised.advice


def test_a_file_that_is_not_text(here: Path) -> None:
    (here / "pyproject.toml").write_bytes(b"a = 1\nb = '\xff'\n")
    with pytest.raises(UsageError, match=r"pyproject\.toml line 2: it is not UTF-8"):
        config.read(here / "pyproject.toml")


def test_the_nearest_file_counts(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = here / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "pyproject.toml").mkdir()  # not a file
    assert config.find(inner) != inner / "pyproject.toml"
    (here / "pyproject.toml").write_text("[tool.reenact]\nseed = 1\n")
    assert config.find(inner) == here / "pyproject.toml"
    monkeypatch.chdir(inner)
    settings = config.settle({}, config.read(here / "pyproject.toml"))
    assert str(settings.origin("seed")) == "../../pyproject.toml line 2"
    (here / "a" / "pyproject.toml").write_text("")
    assert config.find(inner) == here / "a" / "pyproject.toml"


def test_a_named_file_must_be_there_and_have_settings(here: Path) -> None:
    with pytest.raises(UsageError, match=r"missing\.toml: it cannot be read: No such file"):
        config.read_named("missing.toml")
    (here / "x.toml").write_text("[project]\n")
    with pytest.raises(UsageError, match=r"x\.toml: it has no table \[tool\.reenact\]"):
        config.read_named("x.toml")
    (here / "x.toml").write_text("[tool.reenact]\n")
    assert config.read_named("x.toml").values == {}


@pytest.mark.parametrize(
    "inputs",
    [
        Inputs(),
        Inputs({"clock": "passed", "signals": "passed", "files": "refused"}),
        Inputs({}, ("a:b", "a.b:*", "\u00e4:\u00f6"), True),
        Inputs(dict.fromkeys(SOURCES, "passed"), ("strict:strict",), False),
    ],
)
def test_inputs_travel_as_text(inputs: Inputs) -> None:
    parsed = Inputs.parse(inputs.text())
    assert parsed == inputs and hash(parsed) == hash(inputs)
    assert "\0" not in inputs.text() and repr(inputs.text()) in repr(parsed)
    assert list(parsed.sources) == list(SOURCES)


def test_inputs_differ() -> None:
    assert len({Inputs(), Inputs(strict=True), Inputs({"files": "passed"}, ("a:b",))}) == 3
    assert Inputs() != Inputs(strict=True) and Inputs() != ""
