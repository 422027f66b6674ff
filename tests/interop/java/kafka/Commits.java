package kafka;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/** Offsets that are committed with all that belongs to them, and where readers begin. */
public final class Commits {
    private static final int RECORDS = 20;

    private final String address;
    private final TopicPartition full;
    private final TopicPartition empty;

    private Commits(String address, String topic) {
        this.address = address;
        this.full = new TopicPartition(topic, 0);
        this.empty = new TopicPartition(topic, 1);
    }

    public static void main(String[] arguments) throws Exception {
        Commits commits = new Commits(arguments[0], arguments[1] + ".commits");
        try (Admin admin = Clients.patientAdmin(arguments[0])) {
            Clients.create(admin, commits.full.topic(), 2, Map.of());
            commits.fill();
            commits.commit();
            commits.goOn();
            commits.reset();
            commits.commitAlone();
        }
    }

    private void fill() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = Clients.producer(address)) {
            for (int number = 0; number < RECORDS; number++) {
                producer.send(new ProducerRecord<>(full.topic(), 0, null, ("" + number).getBytes()));
            }
        }
    }

    private Member member() {
        return new Member(address, full.topic() + ".members", List.of(full.topic()),
                "max.poll.records", "3");
    }

    private void commit() throws Exception {
        try (Member member = member()) {
            Member.settle(2, member);
            KafkaConsumer<byte[], byte[]> consumer = member.consumer;
            Text.tell("nothing yet", (Object) consumer.committed(Set.of(full, empty)));
            for (OffsetAndMetadata each : List.of(
                    new OffsetAndMetadata(5), new OffsetAndMetadata(7, "with words"),
                    new OffsetAndMetadata(9, Optional.of(0), "words and epoch"),
                    new OffsetAndMetadata(1000, Optional.empty(), "past the end"),
                    new OffsetAndMetadata(4, "x".repeat(4096)),
                    new OffsetAndMetadata(3, "x".repeat(4097)),
                    new OffsetAndMetadata(11, Optional.of(0), "ends here"))) {
                Text.tell("commit " + each.offset(), () -> {
                    consumer.commitSync(Map.of(full, each, empty, new OffsetAndMetadata(0, "none")));
                    return "accepted";
                });
                Text.tell("committed", (Object) consumer.committed(Set.of(full, empty)));
            }
            Text.tell("no such partition", () -> {
                TopicPartition absent = new TopicPartition(full.topic(), 5);
                consumer.commitSync(Map.of(absent, new OffsetAndMetadata(1)), Duration.ofSeconds(2));
                return "accepted";
            });
        }
    }

    private void goOn() {
        try (Member member = member()) {
            Member.settle(2, member);
            KafkaConsumer<byte[], byte[]> consumer = member.consumer;
            Text.tell("goes on at", consumer.position(full) + " and " + consumer.position(empty));
            for (int offset : new int[] {3, 18, 0}) {
                consumer.seek(full, offset);
                tellFirst("seek " + offset, consumer);
            }
            consumer.seek(full, new OffsetAndMetadata(6, Optional.of(0), ""));
            tellFirst("seek with epoch", consumer);
            consumer.seekToBeginning(Set.of(full));
            Text.tell("beginning", consumer.position(full));
            consumer.seekToEnd(Set.of(full));
            Text.tell("end", consumer.position(full));
            consumer.seek(full, 5000);
            tellFirst("too far", consumer);
        }
    }

    private static void tellFirst(String what, KafkaConsumer<byte[], byte[]> consumer) {
        for (int turn = 0; turn < 100; turn++) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                Text.tell(what, record.offset() + " " + Text.of(record.value()));
                return;
            }
        }
        Text.tell(what, "nothing");
    }

    private void reset() throws Exception {
        for (String policy : List.of("earliest", "latest", "none")) {
            try (KafkaConsumer<byte[], byte[]> consumer = Clients.consumer(address,
                    "group.id", full.topic() + "." + policy, "auto.offset.reset", policy)) {
                consumer.assign(Set.of(full));
                Text.tell(policy, () -> consumer.position(full));
                consumer.seek(full, 5000);
                Text.tell(policy + " from too far", () -> {
                    for (int turn = 0; turn < 10 && consumer.position(full) == 5000; turn++) {
                        consumer.poll(Duration.ofMillis(100));
                    }
                    return consumer.position(full) <= RECORDS;
                });
            }
        }
    }

    /** A reader that assigns itself commits too, unless the group has members. */
    private void commitAlone() throws Exception {
        try (KafkaConsumer<byte[], byte[]> alone = Clients.consumer(address,
                "group.id", full.topic() + ".members", "enable.auto.commit", "false")) {
            alone.assign(Set.of(full));
            Text.tell("alone", () -> {
                alone.commitSync(Map.of(full, new OffsetAndMetadata(2, "by hand")));
                return alone.committed(Set.of(full));
            });
            try (Member member = member()) {
                Member.settle(2, member);
                Text.tell("beside members", () -> {
                    alone.commitSync(Map.of(full, new OffsetAndMetadata(3)));
                    return "accepted";
                });
            }
        }
    }
}
