package kafka;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/** Records with keys and headers, in every codec, by producers with and without a memory. */
public final class Records {
    private static final long TIME_MS = 1_700_000_000_000L;
    private static final String[] CODECS = {"none", "gzip", "snappy", "lz4", "zstd"};

    private final String address;
    private final String prefix;
    private final Admin admin;

    private Records(String address, String prefix, Admin admin) {
        this.address = address;
        this.prefix = prefix;
        this.admin = admin;
    }

    public static void main(String[] arguments) throws Exception {
        try (Admin admin = Clients.admin(arguments[0])) {
            Records records = new Records(arguments[0], arguments[1] + ".records.", admin);
            for (String codec : CODECS) {
                records.sendIn(codec);
            }
            records.recompress();
            records.remember();
            records.stamp();
            records.refuse();
        }
    }

    private ProducerRecord<byte[], byte[]> record(String topic, int number) {
        byte[] key = number % 7 == 0 ? null : ("key " + number % 3).getBytes();
        byte[] value = number % 11 == 5 ? null : ("value " + "x".repeat(number) + number).getBytes();
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(topic, null, TIME_MS + number, key, value);
        if (number % 4 == 1) {
            record.headers().add("number", ("" + number).getBytes()).add("none", null);
        }
        return record;
    }

    private void sendIn(String codec) throws Exception {
        String topic = prefix + codec;
        Clients.create(admin, topic, 2, Map.of());
        // Whoever wants no answer may lose what it sends before the leader knows that it leads.
        for (String acks : List.of("1", "0", "all")) {
            try (KafkaProducer<byte[], byte[]> producer = Clients.producer(address,
                    "compression.type", codec, "acks", acks, "enable.idempotence", "false",
                    "partitioner.class", RoundPartitioner.class.getName(), "linger.ms", "50")) {
                send(producer, topic, 40);
            }
        }
        tellAll(topic, 2);
    }

    private void send(KafkaProducer<byte[], byte[]> producer, String topic, int count)
            throws Exception {
        List<Future<RecordMetadata>> answers = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            answers.add(producer.send(record(topic, number)));
        }
        producer.flush();
        long last = -1;
        for (Future<RecordMetadata> answer : answers) {
            last = Math.max(last, answer.get().offset());
        }
        Text.tell(topic + " last offset", last);
    }

    private void tellAll(String topic, int partitions) {
        for (int index = 0; index < partitions; index++) {
            // Partitions are read one by one, for their records come in no common order.
            try (KafkaConsumer<byte[], byte[]> consumer = Clients.consumer(address)) {
                for (ConsumerRecord<byte[], byte[]> record
                        : Clients.all(consumer, new TopicPartition(topic, index))) {
                    System.out.println("  " + Text.of(record));
                }
            }
        }
    }

    private void recompress() throws Exception {
        for (String codec : List.of("uncompressed", "gzip", "snappy", "lz4", "zstd")) {
            String topic = prefix + "to-" + codec;
            Clients.create(admin, topic, 1, Map.of("compression.type", codec));
            try (KafkaProducer<byte[], byte[]> producer =
                    Clients.producer(address, "compression.type", "lz4")) {
                send(producer, topic, 30);
            }
            tellAll(topic, 1);
        }
    }

    private void remember() throws Exception {
        String topic = prefix + "idempotent";
        Clients.create(admin, topic, 1, Map.of());
        try (KafkaProducer<byte[], byte[]> producer = Clients.producer(address,
                "enable.idempotence", "true", "batch.size", "200", "linger.ms", "0")) {
            for (int number = 0; number < 300; number++) {
                producer.send(record(topic, number % 20));
            }
            producer.flush();
        }
        TopicPartition where = new TopicPartition(topic, 0);
        admin.describeProducers(List.of(where)).all().get().get(where).activeProducers().forEach(
                it -> System.out.println("producer epoch " + it.producerEpoch() + " last sequence "
                        + it.lastSequence() + " at " + it.lastTimestamp()));
        tellAll(topic, 1);
    }

    private void stamp() throws Exception {
        String topic = prefix + "stamped";
        Clients.create(admin, topic, 1, Map.of("message.timestamp.type", "LogAppendTime"));
        try (KafkaProducer<byte[], byte[]> producer = Clients.producer(address)) {
            RecordMetadata answer = producer.send(record(topic, 1)).get();
            Text.tell("stamped", answer.timestamp() > TIME_MS + 1000);
        }
        try (KafkaConsumer<byte[], byte[]> consumer = Clients.consumer(address)) {
            ConsumerRecord<byte[], byte[]> record =
                    Clients.all(consumer, new TopicPartition(topic, 0)).get(0);
            Text.tell("read", record.timestampType() + " " + (record.timestamp() > TIME_MS + 1000));
        }
    }

    private void refuse() throws Exception {
        String small = prefix + "small";
        String keyed = prefix + "keyed";
        Clients.create(admin, small, 1, Map.of("max.message.bytes", "100"));
        Clients.create(admin, keyed, 1, Map.of("cleanup.policy", "compact"));
        try (KafkaProducer<byte[], byte[]> producer = Clients.producer(address, "max.block.ms", "3000")) {
            Text.tell("too large", () -> producer.send(record(small, 300)).get().offset());
            Text.tell("small", () -> producer.send(record(small, 1)).get().offset());
            Text.tell("no key", () -> producer.send(record(keyed, 7)).get().offset());
            Text.tell("keyed", () -> producer.send(record(keyed, 1)).get().offset());
            Text.tell("bad name", () -> producer.send(record("a b", 1)).get().offset());
        }
    }
}
