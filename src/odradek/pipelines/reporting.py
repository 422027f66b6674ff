"""Queries that tell how they stand, in a topic of their cluster: the console shows it.

Whatever runs in a session can be told of, not only what comes with Odradek. A report is never in a
query's way: it leaves from a thread of its own, the newest of each query every two seconds, and a
cluster that does not take it now is told later.
"""

from __future__ import annotations

import json
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from odradek.kafka.client.brokers import Brokers
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import BrokerRefused, KafkaClientError
from odradek.kafka.client.recording import Recorder
from odradek.kafka.client.settings import client_settings
from odradek.kafka.client.topic_admin import create_topic
from odradek.kafka.wire.errors import ErrorCode
from odradek.pipelines.clusters import Servers, properties_of
from odradek.pipelines.progress import Progress
from odradek.pipelines.standing import TOPIC, Standing, after_batch, after_round
from odradek.runtime.clock import wall_clock_ms

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TELL_EACH_S = 2.0
CLOSE_WITHIN_S = 15.0
ENDS_WITHIN_S = 10.0
LOOK_AGAIN_S = 0.05
SETTINGS = {"cleanup.policy": "compact,delete", "retention.ms": str(7 * 24 * 3600 * 1000)}
# A report that is there twice says nothing else; who waits for it is told the next one.
BRIEFLY = {
    "enable.idempotence": "false",
    "delivery.timeout.ms": "10000",
    "default.api.timeout.ms": "10000",
}
TROUBLE_CHARACTERS_MAX = 500


class Reporter:
    """Keeps the newest word of each query until the cluster has it; `close` at the end."""

    def __init__(self, servers: Servers, name: str = "") -> None:
        """Tell a cluster; queries that have no name are told under this one."""
        self._name = name
        self._properties = BRIEFLY | properties_of(servers)
        self._standings: dict[str, Standing] = {}
        self._untold: set[str] = set()
        self._own_id = str(uuid4())
        self._has_topic = False
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._listener: Any = None
        self._session: SparkSession | None = None
        self._thread = threading.Thread(target=self._tell_for_ever, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def listen_to(self, spark: SparkSession) -> None:
        """Hear of all queries of a session, from now on."""
        from odradek.pipelines.hearing import listener_for

        self._session, self._listener = spark, listener_for(self)
        spark.streams.addListener(self._listener)

    def close(self) -> None:
        """Hear no more, and tell what is left to tell."""
        if self._own_id in self._standings:
            self.ended(self._own_id)
        if self._session is not None:
            self._await_ends(self._session)
            self._session.streams.removeListener(self._listener)
            self._session = None
        self._closed.set()
        self._thread.join(CLOSE_WITHIN_S)

    def _await_ends(self, spark: SparkSession) -> None:
        """Spark tells of a query's last batch, and of its end, some time after it."""
        running = {str(it.id) for it in spark.streams.active}
        deadline, between_looks = monotonic() + ENDS_WITHIN_S, threading.Event()
        while gone := self._believed_running() - running:
            if monotonic() > deadline:
                for query in gone:
                    self.ended(query)
            between_looks.wait(LOOK_AGAIN_S)

    def _believed_running(self) -> set[str]:
        with self._lock:
            return {it.query for it in self._standings.values() if it.is_running}

    # What is heard

    def hear(self, said: Progress) -> None:
        """Take the word of a pipeline that is no query of Spark's."""
        self._put(after_round(self._known(self._own_id), said, wall_clock_ms()))

    def started(self, query: str, name: str | None) -> None:
        self._put(Standing(query, name or self._name or query, wall_clock_ms()))

    def progressed(self, query: str, said: dict[str, Any]) -> None:
        self._put(after_batch(self._known(query), said, wall_clock_ms()))

    def ended(self, query: str, trouble: str | None = None) -> None:
        first = (trouble or "").partition("\n")[0][:TROUBLE_CHARACTERS_MAX]
        self._put(self._known(query).ended(wall_clock_ms(), first))

    def _known(self, query: str) -> Standing:
        return self._standings.get(query) or Standing(query, self._name or query, wall_clock_ms())

    def _put(self, standing: Standing) -> None:
        with self._lock:
            self._standings[standing.query] = standing
            self._untold.add(standing.query)

    # What is told

    def _tell_for_ever(self) -> None:
        while not self._closed.wait(TELL_EACH_S):
            self._tell()
        self._tell()

    def _tell(self) -> None:
        with self._lock:
            standings = [self._standings[it] for it in self._untold]
            self._untold.clear()
        if not standings:
            return
        try:
            if not self._has_topic:
                ensure_topic(self._properties)
                self._has_topic = True
            write(self._properties, standings)
        except (KafkaClientError, OSError):
            with self._lock:
                self._untold |= {it.query for it in standings}


def write(properties: dict[str, str], standings: list[Standing]) -> None:
    """Write each under its query; return when they are safe."""
    with Recorder(TOPIC, properties) as recorder:
        for it in standings:
            recorder.send(it.query.encode(), json.dumps(it.to_json()).encode())


def ensure_topic(properties: dict[str, str]) -> None:
    """Make the topic if there is none."""
    brokers = Brokers(client_settings(properties))
    try:
        cluster = Cluster(brokers)
        if TOPIC in cluster.topics():
            return
        create_topic(cluster, TOPIC, partitions=1, configs=SETTINGS)
    except BrokerRefused as error:
        if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
            raise
    finally:
        brokers.close()


def report_progress(spark: SparkSession, servers: Servers) -> Reporter:
    """Let all queries of a session tell the cluster how they stand, until `close`.

    servers    bootstrap servers, or properties of Kafka's clients
    """
    reporter = Reporter(servers)
    reporter.listen_to(spark)
    return reporter
