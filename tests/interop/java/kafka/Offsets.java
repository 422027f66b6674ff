package kafka;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/** Where records are, by time; and what is left when some are deleted. */
public final class Offsets {
    private static final long TIME_MS = 1_700_000_000_000L;

    private final String address;
    private final Admin admin;
    private final TopicPartition full;
    private final TopicPartition empty;

    private Offsets(String address, String topic, Admin admin) {
        this.address = address;
        this.admin = admin;
        this.full = new TopicPartition(topic, 0);
        this.empty = new TopicPartition(topic, 1);
    }

    public static void main(String[] arguments) throws Exception {
        String topic = arguments[1] + ".offsets";
        try (Admin admin = Clients.admin(arguments[0])) {
            Clients.create(admin, topic, 2, Map.of("segment.bytes", "2000"));
            Offsets offsets = new Offsets(arguments[0], topic, admin);
            offsets.fill();
            offsets.tellAll();
            offsets.tellTimes();
            offsets.delete();
            offsets.tellAll();
            offsets.tellTimes();
        }
    }

    private void fill() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer =
                Clients.producer(address, "batch.size", "400", "linger.ms", "1000")) {
            for (int number = 0; number < 200; number++) {
                // Times go up and down: the largest is not the last.
                long time = TIME_MS + 100 * number - number % 5 * 300;
                byte[] value = ("value " + number).getBytes();
                producer.send(new ProducerRecord<>(full.topic(), 0, time, null, value));
            }
        }
    }

    private void tellAll() throws Exception {
        for (TopicPartition where : List.of(full, empty, new TopicPartition(full.topic(), 7))) {
            Map<String, OffsetSpec> kinds = new TreeMap<>(Map.of(
                    "earliest", OffsetSpec.earliest(),
                    "latest", OffsetSpec.latest(),
                    "largest", OffsetSpec.maxTimestamp(),
                    "since", OffsetSpec.forTimestamp(TIME_MS + 5050)));
            for (Map.Entry<String, OffsetSpec> kind : kinds.entrySet()) {
                Text.tell(where + " " + kind.getKey(),
                        () -> admin.listOffsets(Map.of(where, kind.getValue())).all().get().values()
                                .stream().map(it -> it.offset() + " at " + it.timestamp()
                                        + " epoch " + it.leaderEpoch().orElse(-1))
                                .collect(Collectors.joining()));
            }
        }
    }

    private void tellTimes() {
        try (KafkaConsumer<byte[], byte[]> consumer = Clients.consumer(address)) {
            for (long since = -500; since < 21_000; since += 770) {
                Text.tell("since " + since,
                        (Object) consumer.offsetsForTimes(Map.of(full, TIME_MS + since, empty, TIME_MS)));
            }
            Text.tell("beginnings", (Object) consumer.beginningOffsets(List.of(full, empty)));
            Text.tell("records", Clients.all(consumer, full).stream().map(Text::of)
                    .collect(Collectors.toList()));
        }
    }

    private void delete() throws Exception {
        for (long offset : List.of(50L, 20L, 1000L)) {
            Text.tell("delete to " + offset, () -> admin.deleteRecords(
                    Map.of(full, RecordsToDelete.beforeOffset(offset)))
                    .lowWatermarks().get(full).get().lowWatermark());
        }
        Text.tell("delete of nothing", () -> admin.deleteRecords(
                Map.of(empty, RecordsToDelete.beforeOffset(-1)))
                .lowWatermarks().get(empty).get().lowWatermark());
        try (KafkaConsumer<byte[], byte[]> consumer = Clients.consumer(address)) {
            consumer.assign(List.of(full));
            consumer.seek(full, 10);
            Text.tell("deleted", () -> consumer.poll(java.time.Duration.ofSeconds(5)).count());
        }
    }
}
