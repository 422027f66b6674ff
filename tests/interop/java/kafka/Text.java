package kafka;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.header.Header;

/** What is printed of a thing: all that any two brokers must have in common. */
public final class Text {
    private Text() {}

    /** Something that may be refused. */
    public interface Attempt {
        Object make() throws Exception;
    }

    /** Print what an attempt gives, or why it was refused; the words of a refusal are free. */
    public static void tell(String what, Attempt attempt) throws Exception {
        Object outcome;
        try {
            outcome = attempt.make();
        } catch (ExecutionException refusal) {
            outcome = refusal.getCause().getClass().getSimpleName();
        } catch (RuntimeException refusal) {
            outcome = refusal.getClass().getSimpleName();
        }
        tell(what, outcome);
    }

    public static void tell(String what, Object outcome) {
        System.out.println(what + ": " + of(outcome));
    }

    public static String of(Object thing) {
        if (thing instanceof Map) {
            return of((Map<?, ?>) thing);
        }
        if (thing instanceof Collection) {
            return ((Collection<?>) thing).stream().map(Text::of).collect(Collectors.joining("; "));
        }
        if (thing instanceof byte[]) {
            return new String((byte[]) thing);
        }
        return String.valueOf(thing);
    }

    private static String of(Map<?, ?> map) {
        Map<String, String> sorted = new TreeMap<>();
        map.forEach((key, value) -> sorted.put(of(key), of(value)));
        return sorted.toString();
    }

    public static String of(TopicPartitionInfo partition) {
        return partition.partition() + " led by " + partition.leader().id() + " of "
                + ids(partition.replicas()) + " in sync " + ids(partition.isr());
    }

    public static String ids(Collection<Node> nodes) {
        return nodes.stream().map(node -> "" + node.id()).collect(Collectors.joining(",", "[", "]"));
    }

    public static String of(ConsumerRecord<byte[], byte[]> record) {
        StringBuilder headers = new StringBuilder();
        for (Header header : record.headers()) {
            headers.append(' ').append(header.key()).append('=').append(of(header.value()));
        }
        return record.partition() + "/" + record.offset() + " epoch " + record.leaderEpoch().get()
                + " " + record.timestampType() + " " + record.timestamp() + " "
                + of(record.key()) + " -> " + of(record.value()) + headers;
    }
}
