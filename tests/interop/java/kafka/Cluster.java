package kafka;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.LogDirDescription;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.quota.ClientQuotaFilter;

/** The cluster as an operator sees it: brokers, directories, leaders, reassignments. */
public final class Cluster {
    private final Admin admin;
    private final TopicPartition first;
    private final TopicPartition absent;

    private Cluster(Admin admin, String topic) {
        this.admin = admin;
        this.first = new TopicPartition(topic, 0);
        this.absent = new TopicPartition(topic, 9);
    }

    public static void main(String[] arguments) throws Exception {
        String topic = arguments[1] + ".cluster";
        try (Admin admin = Clients.admin(arguments[0])) {
            Clients.create(admin, topic, 2, Map.of());
            try (KafkaProducer<byte[], byte[]> producer = Clients.producer(arguments[0])) {
                byte[] value = "some".getBytes();
                producer.send(new ProducerRecord<>(topic, 1, 1L, null, value)).get();
            }
            Cluster cluster = new Cluster(admin, topic);
            cluster.describe();
            cluster.tellDirectories(topic);
            cluster.elect();
            cluster.reassign();
            cluster.tellTheRest();
        }
    }

    private void describe() throws Exception {
        DescribeClusterResult found = admin.describeCluster(
                new DescribeClusterOptions().includeAuthorizedOperations(true));
        Text.tell("nodes", found.nodes().get());
        Text.tell("controller", found.controller().get());
        Text.tell("operations", new TreeSet<>(found.authorizedOperations().get()));
        Text.tell("cluster id of", found.clusterId().get().length());
    }

    private void tellDirectories(String topic) throws Exception {
        for (LogDirDescription directory
                : admin.describeLogDirs(List.of(1)).allDescriptions().get().get(1).values()) {
            Text.tell("error", directory.error());
            Text.tell("sizes", directory.totalBytes().isPresent() && directory.usableBytes().isPresent());
            Map<String, String> replicas = new TreeMap<>();
            directory.replicaInfos().forEach((where, info) -> {
                if (where.topic().equals(topic)) {
                    replicas.put("" + where, info.size() + " bytes, lag " + info.offsetLag()
                            + (info.isFuture() ? " future" : ""));
                }
            });
            Text.tell("replicas", (Object) replicas);
        }
        Text.tell("another broker", () -> admin.describeLogDirs(List.of(7)).allDescriptions().get());
    }

    private void elect() throws Exception {
        for (ElectionType kind : ElectionType.values()) {
            for (TopicPartition where : List.of(first, absent)) {
                Text.tell(kind + " " + where, () -> {
                    Optional<Throwable> outcome =
                            admin.electLeaders(kind, Set.of(where)).partitions().get().get(where);
                    return outcome.map(it -> it.getClass().getSimpleName()).orElse("elected");
                });
            }
            Text.tell(kind + " all",
                    () -> admin.electLeaders(kind, null).partitions().get().values());
        }
    }

    private void reassign() throws Exception {
        Text.tell("reassignments", () -> admin.listPartitionReassignments().reassignments().get());
        for (List<Integer> replicas : List.of(List.of(1), List.of(1, 1), List.of(5), List.of(-1))) {
            Text.tell("to " + replicas, () -> reassign(first, Optional.of(replicas)));
        }
        Text.tell("absent", () -> reassign(absent, Optional.of(List.of(1))));
        Text.tell("cancel", () -> reassign(first, Optional.empty()));
        Text.tell("reassignments", () -> admin.listPartitionReassignments().reassignments().get());
    }

    private Object reassign(TopicPartition where, Optional<List<Integer>> replicas)
            throws Exception {
        return admin.alterPartitionReassignments(
                Map.of(where, replicas.map(NewPartitionReassignment::new))).all().get();
    }

    private void tellTheRest() throws Exception {
        Text.tell("features", () -> admin.describeFeatures().featureMetadata().get());
        Text.tell("quotas", () -> admin.describeClientQuotas(ClientQuotaFilter.all()).entities().get());
        Text.tell("scram", () -> admin.describeUserScramCredentials().all().get());
        Text.tell("acls", () -> admin.describeAcls(
                org.apache.kafka.common.acl.AclBindingFilter.ANY).values().get());
        Text.tell("tokens", () -> admin.describeDelegationToken().delegationTokens().get());
        Text.tell("producers", () -> admin.describeProducers(List.of(absent)).all().get()
                .values().stream().map(it -> it.activeProducers()).collect(Collectors.toList()));
    }
}
