package kafka;

import java.util.Map;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.common.Cluster;

/** Every other record to every other partition: the same at each run. */
public final class RoundPartitioner implements Partitioner {
    private int next;

    @Override
    public int partition(String topic, Object key, byte[] keyBytes, Object value,
            byte[] valueBytes, Cluster cluster) {
        return next++ % cluster.partitionCountForTopic(topic);
    }

    @Override
    public void configure(Map<String, ?> settings) {}

    @Override
    public void close() {}
}
