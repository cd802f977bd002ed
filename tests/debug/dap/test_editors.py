"""What is documented for editors is what the adapter takes."""

from __future__ import annotations

import json
import re
from pathlib import Path

from .client import Adapter
from .conftest import Recorded

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "editors.md").read_text("utf-8")
(DEBUGGER,) = json.loads((ROOT / "editors/vscode/package.json").read_text("utf-8"))["contributes"][
    "debuggers"
]


def test_the_launch_configuration_opens_a_recording(recorded: Recorded) -> None:
    (text,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    (configuration,) = json.loads(text)["configurations"]
    assert configuration["type"] == DEBUGGER["type"]
    configuration["recording"] = str(recorded("turns"))
    with Adapter() as adapter:
        assert adapter.client.begin(**configuration)["reason"] == "exception"


def test_every_attribute_is_documented_and_its_default_is_taken(recorded: Recorded) -> None:
    attributes = DEBUGGER["configurationAttributes"]["launch"]["properties"]
    documented = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(documented) == sorted(attributes)
    given = {name: each["default"] for name, each in attributes.items() if "default" in each}
    with Adapter() as adapter:
        stopped = adapter.client.begin(recording=str(recorded("turns")), **given)
        assert stopped["reason"] == "exception"
