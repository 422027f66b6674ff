"""`audit`: is anything lost, there twice, out of order, missing, or not read yet?

Asks a cluster, or reads the segment files of a broker. Files say more: which producer wrote a
record as its how many-eth, and whether a missing offset was cleaned away or is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.group_offsets import committed_offsets
from odradek.pipelines.clusters import (
    Servers,
    chosen_topics,
    cluster_of,
    ends_of,
    group_ids,
    spark_options,
)
from odradek.pipelines.findings import (
    CLEANED,
    LOST,
    UNTOLD,
    Audit,
    Gap,
    GroupLag,
    Jump,
    Moment,
    PartitionReport,
    Repeated,
)
from odradek.pipelines.mirror import ALL_GROUPS
from odradek.pipelines.session import session
from odradek.runtime.errors import OdradekError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

    from odradek.runtime.disk import Disk

OF_LOGS = "topic,partition,offset,timestamp,isControl,producerId,producerEpoch,sequence"
OF_TOPICS = "topic,partition,offset,timestamp"
BUCKETS = 60
SEQUENCE_END = 2**31
BY_PARTITION = "partition by topic, partition order by offset"
BY_PRODUCER = "partition by topic, partition, producerId, producerEpoch order by offset"
NUMBERED = "not isControl and sequence is not null"


class AuditRefused(OdradekError):
    """Nothing to audit, or too much said about it."""


def audit(
    servers: Servers | None = None,
    topics: Sequence[str] = (),
    *,
    log_dir: str | None = None,
    spark: SparkSession | None = None,
    master: str | None = None,
    identity: str | None = None,
    sequence: str | None = None,
    sequence_of: str = "key",
    groups: Sequence[str] = (),
    rows_max: int = 100,
) -> Audit:
    """Look at all records of topics, and say what is wrong with them.

    servers      bootstrap servers or properties of a client; or else
    log_dir      a folder of `log.dirs`, or a copy of it: all topics if none is named
    identity     an expression in SQL on a record's columns; two records of one topic with the same
                 value are one too many
    sequence     an expression in SQL, a number that grows by one from record to record among those
                 with the same `sequence_of` (an expression too; by default the key)
    groups       consumer groups whose lag is told ("*": all)
    rows_max     how many gaps, duplicates and jumps are listed; they are counted all the same
    """
    if (servers is None) == (log_dir is None):
        raise AuditRefused("an audit is either of a cluster's topics or of a folder of log.dirs")
    if servers is not None and not topics:
        raise AuditRefused("which topics? name some, or * for all")
    wants_records = identity is not None or sequence is not None
    with session(spark, master) as here:
        if log_dir is not None:
            rows = rows_of_logs(here, log_dir, topics, wants_records)
            found = Audit(log_dir)
            look_at_partitions(found, rows, cleaned_until(log_dir), rows_max, is_log=True)
            rows = rows.where("not isControl")
        else:
            assert servers is not None
            named = chosen_topics(cluster_of(servers), topics)
            rows = rows_of_topics(here, servers, named, wants_records)
            found = Audit(str(spark_options(servers)["kafka.bootstrap.servers"]))
            look_at_partitions(found, rows, {}, rows_max, is_log=False)
            look_at_groups(found, servers, named, groups)
        if identity is not None:
            look_for_duplicates(found, rows, identity, rows_max)
        if sequence is not None:
            look_at_sequence(found, rows, sequence, sequence_of, rows_max)
        look_at_times(found, rows)
    return found


def rows_of_logs(
    spark: SparkSession, path: str, topics: Sequence[str], wants_records: bool
) -> DataFrame:
    options = {"columns": OF_LOGS + ",key,value" * wants_records}
    if topics:
        options["topics"] = ",".join(topics)
    return spark.read.format("odradek-log").options(**options).load(path)


def rows_of_topics(
    spark: SparkSession, servers: Servers, topics: Sequence[str], wants_records: bool
) -> DataFrame:
    options = {
        "kafka.isolation.level": "read_committed",
        **spark_options(servers),
        "subscribe": ",".join(topics),
        "columns": OF_TOPICS + ",key,value" * wants_records,
    }
    return spark.read.format("odradek").options(**options).load()


def cleaned_until(log_dir: str) -> dict[tuple[str, int], int]:
    """Up to where the cleaner has been, by partition."""
    from odradek.kafka.storage.checkpoints import CLEANED_OFFSETS, read_offsets
    from odradek.spark.log_files import locate

    files, folder = locate(log_dir)
    if CLEANED_OFFSETS not in files.list_directory(folder):
        return {}
    found = read_offsets(cast("Disk", files), f"{folder}/{CLEANED_OFFSETS}")
    return {(where.topic, where.partition): offset for where, offset in found.items()}


def look_at_partitions(
    found: Audit,
    rows: DataFrame,
    cleaned: Mapping[tuple[str, int], int],
    rows_max: int,
    *,
    is_log: bool,
) -> None:
    """Offsets and times, and in files the producers' numbers."""
    from pyspark.sql.functions import expr

    stepped = rows.selectExpr(
        "topic",
        "partition",
        "offset",
        "isControl" if is_log else "false as isControl",
        f"lag(offset) over ({BY_PARTITION}) as before",
        f"timestamp < lag(timestamp) over ({BY_PARTITION}) as is_back",
    )
    summary = stepped.groupBy("topic", "partition").agg(
        expr("min(offset) as first"),
        expr("max(offset) as last"),
        expr("count_if(not isControl) as records"),
        expr("count_if(isControl) as markers"),
        expr("coalesce(sum(offset - before - 1) filter (where offset > before), 0) as missing"),
        expr("count_if(offset = before) as twice"),
        expr("count_if(is_back) as back"),
    )
    producers = look_at_producers(rows, cleaned) if is_log else {}
    for row in summary.orderBy("topic", "partition").collect():
        found.partitions.append(_partition(row, producers.get((row.topic, row.partition))))
    holes = stepped.where("offset > before + 1").orderBy("topic", "partition", "offset")
    for row in holes.limit(rows_max).collect():
        is_clean = row.before < cleaned.get((row.topic, row.partition), 0)
        kind = (CLEANED if is_clean else LOST) if is_log else UNTOLD
        found.gaps.append(Gap(row.topic, row.partition, row.before + 1, row.offset - 1, kind))


def _partition(row: Row, producers: Row | None) -> PartitionReport:
    return PartitionReport(
        row.topic,
        row.partition,
        row["first"],
        row["last"],
        row.records,
        row.markers,
        row.missing,
        row.twice,
        row.back,
        producers.duplicates if producers else 0,
        producers.missing if producers else 0,
        producers.disorder if producers else 0,
    )


def look_at_producers(
    rows: DataFrame, cleaned: Mapping[tuple[str, int], int]
) -> dict[tuple[str, int], Row]:
    """What the numbers of producers say, by partition; where the cleaner was they have gaps."""
    from pyspark.sql.functions import expr

    limits = [
        f"(topic = '{t}' and partition = {p} and offset < {at})" for (t, p), at in cleaned.items()
    ]
    is_clean = " or ".join(limits) or "false"
    stepped = rows.where(NUMBERED).selectExpr(
        "topic",
        "partition",
        "offset",
        f"lag(sequence) over ({BY_PRODUCER}) as before",
        "sequence",
        "row_number() over (partition by topic, partition, producerId, producerEpoch, sequence"
        " order by offset) as times",
        f"({is_clean}) as is_clean",
    )
    # After the last number comes 0.
    step = f"pmod(cast(sequence as bigint) - before, {SEQUENCE_END})"
    counted = (
        stepped.selectExpr("*", f"{step} as step")
        .groupBy("topic", "partition")
        .agg(
            expr("count_if(times > 1) as duplicates"),
            expr(
                "coalesce(sum(step - 1) filter (where times = 1 and not is_clean and step > 1"
                f" and step < {SEQUENCE_END // 2}), 0) as missing"
            ),
            expr(f"count_if(times = 1 and step >= {SEQUENCE_END // 2}) as disorder"),
        )
    )
    return {(row.topic, row.partition): row for row in counted.collect()}


def look_for_duplicates(found: Audit, rows: DataFrame, identity: str, rows_max: int) -> None:
    """Records that say they are the same."""
    from pyspark.sql.functions import expr

    named = rows.selectExpr(
        "topic", "partition", "offset", f"cast({identity} as string) as identity"
    )
    repeated = (
        named.where("identity is not null")
        .groupBy("topic", "identity")
        .agg(
            expr("count(*) as n"),
            expr("slice(sort_array(collect_list(struct(partition, offset))), 1, 5) as places"),
        )
        .where("n > 1")
    )
    found.repeated_count = _sum(repeated, "n - 1")
    for row in repeated.orderBy(expr("n desc"), "topic", "identity").limit(rows_max).collect():
        places = [f"{place.partition}:{place.offset}" for place in row.places]
        found.repeated.append(Repeated(row.topic, row.identity, row.n, places))


def look_at_sequence(
    found: Audit, rows: DataFrame, sequence: str, sequence_of: str, rows_max: int
) -> None:
    """Numbers that should grow by one."""
    order = "partition by topic, owner order by partition, offset"
    numbered = rows.selectExpr(
        "topic",
        "partition",
        "offset",
        f"cast({sequence_of} as string) as owner",
        f"cast({sequence} as bigint) as number",
    ).where("number is not null")
    stepped = numbered.selectExpr("*", f"lag(number) over ({order}) as before")
    jumps = stepped.where("number <> before + 1")
    found.missing_count = _sum(jumps.where("number > before"), "number - before - 1")
    found.back_count = jumps.where("number <= before").count()
    for row in jumps.orderBy("topic", "owner", "partition", "offset").limit(rows_max).collect():
        jump = Jump(row.topic, row.owner, row.before, row.number, row.partition, row.offset)
        found.jumps.append(jump)


def look_at_times(found: Audit, rows: DataFrame) -> None:
    """How many records belong to which stretch of the time between the first and the last."""
    from pyspark.sql.functions import expr

    timed = rows.selectExpr("topic", "unix_millis(timestamp) as ms").where("ms >= 0")
    bounds = timed.selectExpr("min(ms) as least", "max(ms) as most").head()
    if bounds is None or bounds.least is None:
        return
    width = max(1, -(-(bounds.most - bounds.least + 1) // BUCKETS))
    start = f"{bounds.least} + (ms - {bounds.least}) div {width} * {width}"
    counted = timed.groupBy("topic", expr(f"{start} as from_ms")).count()
    for row in counted.orderBy("topic", "from_ms").collect():
        found.timeline.append(Moment(row.topic, row.from_ms, row["count"]))


def look_at_groups(
    found: Audit, servers: Servers, topics: Sequence[str], groups: Sequence[str]
) -> None:
    """Where groups stand."""
    cluster = cluster_of(servers)
    named = group_ids(cluster) if ALL_GROUPS in groups else list(groups)
    partitions = cluster.partitions_of(topics) if named and topics else []
    ends = ends_of(cluster, partitions)
    for group in named:
        committed = committed_offsets(cluster, group, partitions)
        for (topic, partition), offset in sorted(committed.items()):
            start, end = ends[TopicPartition(topic, partition)]
            found.lags.append(GroupLag(group, topic, partition, offset, start, end))


def _sum(rows: DataFrame, expression: str) -> int:
    row = rows.selectExpr(f"coalesce(sum({expression}), 0) as total").head()
    return int(row.total) if row else 0
