package kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/** One member of a group, and what became of its partitions. It lives while it is polled. */
final class Member implements ConsumerRebalanceListener, AutoCloseable {
    private static final Duration TURN = Duration.ofMillis(50);
    private static final long PATIENCE_NS = Duration.ofSeconds(40).toNanos();

    final KafkaConsumer<byte[], byte[]> consumer;
    final List<TopicPartition> revoked = new ArrayList<>();
    final List<TopicPartition> lost = new ArrayList<>();
    boolean diesGivingUp;

    Member(String address, String group, List<String> topics, String... settings) {
        List<String> given = new ArrayList<>(List.of("group.id", group,
                "auto.offset.reset", "earliest", "enable.auto.commit", "false",
                "session.timeout.ms", "6000", "heartbeat.interval.ms", "200",
                "retry.backoff.ms", "20"));
        given.addAll(List.of(settings));
        consumer = Clients.consumer(address, given.toArray(new String[0]));
        consumer.subscribe(topics, this);
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {}

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        if (diesGivingUp) {
            throw new IllegalStateException("dead");
        }
        revoked.addAll(partitions);
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        lost.addAll(partitions);
    }

    Set<TopicPartition> has() {
        return consumer.assignment();
    }

    int generation() {
        return consumer.groupMetadata().generationId();
    }

    @Override
    public void close() {
        consumer.close();
    }

    /** Poll all members in turn until a condition holds. */
    static void until(BooleanSupplier condition, Member... members) {
        long deadline = System.nanoTime() + PATIENCE_NS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("waited in vain");
            }
            for (Member each : members) {
                each.consumer.poll(TURN);
            }
        }
    }

    /** Poll all members in turn for this long. */
    static void live(Duration time, Member... members) {
        long end = System.nanoTime() + time.toNanos();
        until(() -> System.nanoTime() > end, members);
    }

    /** Poll all until they share this many partitions evenly, and each partition has one owner. */
    static void settle(int partitions, Member... members) {
        until(() -> {
            List<TopicPartition> owned = new ArrayList<>();
            boolean isEven = true;
            for (Member each : members) {
                owned.addAll(each.has());
                isEven &= Math.abs(each.has().size() * members.length - partitions) < members.length;
            }
            return isEven && owned.size() == partitions && Set.copyOf(owned).size() == partitions;
        }, members);
    }

    static List<Integer> sizes(Member... members) {
        return List.of(members).stream().map(it -> it.has().size()).sorted()
                .collect(Collectors.toList());
    }
}
