"""`python -m tests.interop.record_kafka`: record anew what Apache's broker says to dialogues."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.interop.apache_kafka import apache_broker
from tests.kafka.server.dialogues import DIALOGUES, SETTINGS
from tests.kafka.server.recorded import answers_path, answers_to
from tests.zookeeper.server.running import running_server


def main() -> None:
    with TemporaryDirectory() as name, running_server(Path(name) / "zookeeper") as zookeeper:
        settings = {"zookeeper.connect": f"{zookeeper.connect_string}/theirs", **SETTINGS}
        with apache_broker(Path(name) / "broker", **settings) as broker:
            for dialogue in DIALOGUES:
                path = answers_path(dialogue)
                path.write_text(answers_to(dialogue, broker.port))
                print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
