package kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Clients of one broker, each with the settings that it is given. */
public final class Clients {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private Clients() {}

    public static Admin admin(String address) {
        // What is not there is asked for again and again, until this long has passed.
        return Admin.create(properties(address, "default.api.timeout.ms", "3000",
                "request.timeout.ms", "2000"));
    }

    /** For those who ask only for what is there, and can wait for it. */
    public static Admin patientAdmin(String address) {
        return Admin.create(properties(address));
    }

    public static KafkaProducer<byte[], byte[]> producer(String address, String... settings) {
        Properties properties = properties(address, settings);
        return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    }

    public static KafkaConsumer<byte[], byte[]> consumer(String address, String... settings) {
        Properties properties = properties(address, settings);
        properties.putIfAbsent("auto.offset.reset", "none");
        return new KafkaConsumer<>(
                properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Keys and values, one after the other. */
    public static Properties properties(String address, String... settings) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", address);
        for (int at = 0; at < settings.length; at += 2) {
            properties.put(settings[at], settings[at + 1]);
        }
        return properties;
    }

    public static void create(Admin admin, String name, int partitions, Map<String, String> configs)
            throws Exception {
        NewTopic topic = new NewTopic(name, partitions, (short) 1).configs(configs);
        admin.createTopics(List.of(topic)).all().get();
    }

    /** All records of partitions, from their beginning to their end. */
    public static List<ConsumerRecord<byte[], byte[]>> all(
            KafkaConsumer<byte[], byte[]> consumer, TopicPartition... partitions) {
        Collection<TopicPartition> assigned = Arrays.asList(partitions);
        consumer.assign(assigned);
        consumer.seekToBeginning(assigned);
        Map<TopicPartition, Long> ends = consumer.endOffsets(assigned);
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (assigned.stream().anyMatch(it -> consumer.position(it) < ends.get(it))) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("waited in vain at " + records.size());
            }
            consumer.poll(Duration.ofMillis(100)).forEach(records::add);
        }
        return records;
    }
}
