package kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/** Records that are read, transformed and written again: all of a transaction, or nothing of it. */
public final class Transactions {
    private static final int RECORDS = 40;

    private final String address;
    private final String prefix;
    private final Admin admin;
    private final TopicPartition source;
    private final TopicPartition target;

    private Transactions(String address, String prefix, Admin admin) {
        this.address = address;
        this.prefix = prefix;
        this.admin = admin;
        this.source = new TopicPartition(prefix + ".source", 0);
        this.target = new TopicPartition(prefix + ".target", 0);
    }

    public static void main(String[] arguments) throws Exception {
        try (Admin admin = Clients.patientAdmin(arguments[0])) {
            Transactions itself = new Transactions(arguments[0], arguments[1] + ".transactions", admin);
            Clients.create(admin, itself.source.topic(), 1, Map.of());
            Clients.create(admin, itself.target.topic(), 2, Map.of());
            itself.fill();
            itself.copy();
            itself.tellTarget();
            itself.zombies();
            itself.staleMembers();
            itself.timeOut();
            itself.isolation();
            itself.tellTarget();
        }
    }

    private KafkaProducer<byte[], byte[]> producer(String id, String... settings) {
        List<String> given = new ArrayList<>(List.of("transactional.id", prefix + "." + id,
                "max.block.ms", "15000", "retry.backoff.ms", "20"));
        given.addAll(List.of(settings));
        return Clients.producer(address, given.toArray(new String[0]));
    }

    private ProducerRecord<byte[], byte[]> record(String value) {
        return new ProducerRecord<>(target.topic(), 0, null, value.getBytes());
    }

    private void fill() {
        // One batch, so that readers get the same records at a time from any broker.
        try (KafkaProducer<byte[], byte[]> producer = Clients.producer(address, "linger.ms", "500")) {
            for (int number = 0; number < RECORDS; number++) {
                producer.send(new ProducerRecord<>(source.topic(), 0, null, ("" + number).getBytes()));
            }
        }
    }

    /** Every third transaction is aborted, and what it read is read again. */
    private void copy() throws Exception {
        String group = prefix + ".copy";
        try (Member member = new Member(address, group, List.of(source.topic()),
                        "max.poll.records", "7", "isolation.level", "read_committed");
                KafkaProducer<byte[], byte[]> producer = producer("copy")) {
            producer.initTransactions();
            Member.settle(1, member);
            member.consumer.seekToBeginning(Set.of(source));
            int turn = 0;
            while (member.consumer.position(source) < RECORDS) {
                List<ConsumerRecord<byte[], byte[]>> records =
                        member.consumer.poll(Duration.ofMillis(200)).records(source);
                if (!records.isEmpty()) {
                    copy(producer, member.consumer, records, ++turn);
                }
            }
            Text.tell("turns", turn);
            Text.tell("read up to", (Object) committed(group));
        }
    }

    /**
     * Asked by others: a consumer may answer with what it has heard long before. And by name: of
     * all that a group has, Apache leaves out what a transaction is just about to commit.
     */
    private Map<TopicPartition, OffsetAndMetadata> committed(String group) throws Exception {
        ListConsumerGroupOffsetsOptions stable =
                new ListConsumerGroupOffsetsOptions().requireStable(true);
        ListConsumerGroupOffsetsSpec asked =
                new ListConsumerGroupOffsetsSpec().topicPartitions(List.of(source));
        return admin.listConsumerGroupOffsets(Map.of(group, asked), stable)
                .partitionsToOffsetAndMetadata(group).get();
    }

    private void copy(KafkaProducer<byte[], byte[]> producer, KafkaConsumer<byte[], byte[]> consumer,
            List<ConsumerRecord<byte[], byte[]>> records, int turn) {
        producer.beginTransaction();
        for (ConsumerRecord<byte[], byte[]> each : records) {
            producer.send(record(turn + " copies " + Text.of(each.value())));
        }
        // What was not sent yet would not be sent at all when a transaction is aborted.
        producer.flush();
        long next = records.get(records.size() - 1).offset() + 1;
        producer.sendOffsetsToTransaction(
                Map.of(source, new OffsetAndMetadata(next, Optional.of(0), "in turn " + turn)),
                consumer.groupMetadata());
        if (turn % 3 == 0) {
            producer.abortTransaction();
            consumer.seek(source, records.get(0).offset());
        } else {
            producer.commitTransaction();
        }
    }

    private void tellTarget() {
        for (String level : List.of("read_committed", "read_uncommitted")) {
            try (KafkaConsumer<byte[], byte[]> consumer =
                    Clients.consumer(address, "isolation.level", level)) {
                for (ConsumerRecord<byte[], byte[]> record : Clients.all(consumer, target)) {
                    Text.tell(level, record.offset() + " " + Text.of(record.value()));
                }
            }
        }
    }

    private void zombies() throws Exception {
        KafkaProducer<byte[], byte[]> older = producer("fenced");
        older.initTransactions();
        older.beginTransaction();
        older.send(record("by the zombie")).get();
        try (KafkaProducer<byte[], byte[]> newer = producer("fenced")) {
            newer.initTransactions();
            newer.beginTransaction();
            newer.send(record("by the living")).get();
            Text.tell("the zombie sends", () -> older.send(record("late")).get().offset());
            Text.tell("the zombie commits", () -> {
                older.commitTransaction();
                return "done";
            });
            newer.commitTransaction();
        }
        older.close(Duration.ZERO);
    }

    private void staleMembers() throws Exception {
        String group = prefix + ".stale";
        try (Member member = new Member(address, group, List.of(source.topic()));
                KafkaProducer<byte[], byte[]> producer = producer("stale")) {
            producer.initTransactions();
            Member.settle(1, member);
            ConsumerGroupMetadata now = member.consumer.groupMetadata();
            for (ConsumerGroupMetadata each : List.of(
                    new ConsumerGroupMetadata(group, now.generationId() + 1, now.memberId(), Optional.empty()),
                    new ConsumerGroupMetadata(group, now.generationId(), "somebody", Optional.empty()),
                    new ConsumerGroupMetadata(group, now.generationId(), now.memberId(), Optional.of("x")),
                    new ConsumerGroupMetadata(group), now)) {
                producer.beginTransaction();
                Text.tell("offsets", () -> {
                    producer.sendOffsetsToTransaction(Map.of(source, new OffsetAndMetadata(3)), each);
                    producer.commitTransaction();
                    return committed(group);
                });
                Text.tell("abort", () -> {
                    producer.abortTransaction();
                    return "done";
                });
            }
        }
    }

    private void timeOut() throws Exception {
        Text.tell("a timeout too long", () -> {
            try (KafkaProducer<byte[], byte[]> producer =
                    producer("patient", "transaction.timeout.ms", "900001")) {
                producer.initTransactions();
                return "accepted";
            }
        });
        KafkaProducer<byte[], byte[]> slow = producer("slow", "transaction.timeout.ms", "1000");
        slow.initTransactions();
        slow.beginTransaction();
        slow.send(record("too slow")).get();
        while (state("slow") != TransactionState.COMPLETE_ABORT) {
            Thread.sleep(50);
        }
        Text.tell("it commits", () -> {
            slow.commitTransaction();
            return "done";
        });
        slow.close(Duration.ZERO);
        try (KafkaProducer<byte[], byte[]> again = producer("slow")) {
            again.initTransactions();
            again.beginTransaction();
            again.send(record("in time")).get();
            again.commitTransaction();
        }
    }

    private TransactionState state(String id) throws Exception {
        return admin.describeTransactions(Set.of(prefix + "." + id)).description(prefix + "." + id)
                .get().state();
    }

    /** Readers of what is committed stop where the first open transaction begins. */
    private void isolation() throws Exception {
        try (KafkaProducer<byte[], byte[]> open = producer("open");
                KafkaProducer<byte[], byte[]> quick = producer("quick")) {
            open.initTransactions();
            quick.initTransactions();
            open.beginTransaction();
            open.send(record("open")).get();
            quick.beginTransaction();
            quick.send(record("quick")).get();
            quick.commitTransaction();
            tellEnds("while open");
            open.abortTransaction();
            tellEnds("when aborted");
        }
    }

    private void tellEnds(String what) {
        for (String level : List.of("read_committed", "read_uncommitted")) {
            try (KafkaConsumer<byte[], byte[]> consumer =
                    Clients.consumer(address, "isolation.level", level)) {
                Text.tell(what + ", " + level, (Object) consumer.endOffsets(Set.of(target)));
            }
        }
    }
}
