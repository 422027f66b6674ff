"""What Apache Kafka takes and refuses, we take and refuse."""

from __future__ import annotations

import pytest

from odradek.runtime.settings import SettingsRefused
from tests.kafka.settings.server_properties import DATA, read

CASES = [
    line.split("  ", 1)
    for line in (DATA / "verdicts.txt").read_text().splitlines()
    if not line.startswith("#")
]

# Where Apache would not start either, but says so later.
REFUSED_SOONER = {
    "listeners=PLAINTEXT://a:-1",
    "listeners=PLAINTEXT://a:70000",
    "listener.name.plaintext.num.network.threads=x",
}
# There are no classes to look for here.
OF_NO_CONCERN = {"group.consumer.assignors=x.Y", "alter.config.policy.class.name=x"}


@pytest.mark.parametrize(("verdict", "case"), CASES, ids=lambda it: str(it))
def test_a_file_is_judged_as_apache_judges_it(verdict: str, case: str) -> None:
    case = case.strip()
    is_taken = (verdict == "taken" and case not in REFUSED_SOONER) or case in OF_NO_CONCERN
    text = "zookeeper.connect=a\n" + case.replace(" ; ", "\n")
    if is_taken:
        assert read(text).zookeeper_connect == "a"
    else:
        with pytest.raises(SettingsRefused):
            read(text)
