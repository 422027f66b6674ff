package kafka;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.CreateTopicsResult;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.Uuid;

/** Topics from their creation to their deletion. */
public final class Topics {
    private final Admin admin;
    private final String prefix;

    private Topics(Admin admin, String prefix) {
        this.admin = admin;
        this.prefix = prefix;
    }

    public static void main(String[] arguments) throws Exception {
        try (Admin admin = Clients.admin(arguments[0])) {
            Topics topics = new Topics(admin, arguments[1] + ".topics.");
            topics.create();
            topics.refuse();
            topics.grow();
            topics.look();
            topics.delete();
        }
    }

    private String create(NewTopic topic, boolean onlyValidate) throws Exception {
        CreateTopicsResult result = admin.createTopics(
                List.of(topic), new CreateTopicsOptions().validateOnly(onlyValidate));
        result.all().get();
        String configs = result.config(topic.name()).get().entries().stream()
                .filter(entry -> !entry.isDefault())
                .map(entry -> entry.name() + "=" + entry.value() + " " + entry.source())
                .sorted()
                .collect(Collectors.joining(", "));
        boolean hasId = !result.topicId(topic.name()).get().equals(Uuid.ZERO_UUID);
        return result.numPartitions(topic.name()).get() + " partitions, "
                + result.replicationFactor(topic.name()).get() + " replicas, " + configs
                + (hasId ? ", with an id" : "");
    }

    private void create() throws Exception {
        Text.tell("plain", () -> create(new NewTopic(prefix + "a", 3, (short) 1), false));
        Text.tell("defaults", () -> create(
                new NewTopic(prefix + "b", Optional.empty(), Optional.empty()), false));
        NewTopic configured = new NewTopic(prefix + "c", Map.of(0, List.of(1), 1, List.of(1)))
                .configs(Map.of("cleanup.policy", "compact", "max.message.bytes", "5000"));
        Text.tell("configured", () -> create(configured, false));
        Text.tell("validated", () -> create(new NewTopic(prefix + "d", 9, (short) 1), true));
    }

    private void refuse() throws Exception {
        Text.tell("there", () -> create(new NewTopic(prefix + "a", 1, (short) 1), false));
        Text.tell("name", () -> create(new NewTopic(prefix + " ", 1, (short) 1), false));
        Text.tell("no partitions", () -> create(new NewTopic(prefix + "d", 0, (short) 1), false));
        Text.tell("replicas", () -> create(new NewTopic(prefix + "d", 1, (short) 3), false));
        Map<String, String> bad = Map.of("retention.ms", "never");
        Text.tell("config", () -> create(
                new NewTopic(prefix + "d", 1, (short) 1).configs(bad), false));
    }

    private void grow() throws Exception {
        Text.tell("grow", () -> grow("a", NewPartitions.increaseTo(5)));
        Text.tell("assigned", () -> grow("b", NewPartitions.increaseTo(3, List.of(List.of(1)))));
        Text.tell("shrink", () -> grow("a", NewPartitions.increaseTo(2)));
        Text.tell("nowhere", () -> grow("x", NewPartitions.increaseTo(2)));
    }

    private Object grow(String name, NewPartitions partitions) throws Exception {
        return admin.createPartitions(Map.of(prefix + name, partitions)).all().get();
    }

    private void look() throws Exception {
        Text.tell("list", new TreeSet<>(admin.listTopics().names().get().stream()
                .filter(name -> name.startsWith(prefix)).collect(Collectors.toList())));
        for (String name : List.of("a", "b", "c", "x")) {
            Text.tell(name, () -> described(admin.describeTopics(
                    List.of(prefix + name),
                    new DescribeTopicsOptions().includeAuthorizedOperations(true))
                    .allTopicNames().get().values()));
        }
        Uuid id = admin.describeTopics(List.of(prefix + "a")).allTopicNames().get()
                .get(prefix + "a").topicId();
        Text.tell("by id", () -> described(admin.describeTopics(
                TopicCollection.ofTopicIds(List.of(id))).allTopicIds().get().values()));
        Uuid unknown = new Uuid(7, 7);
        Text.tell("by an unknown id", () -> described(admin.describeTopics(
                TopicCollection.ofTopicIds(List.of(unknown))).allTopicIds().get().values()));
    }

    private static String described(Collection<TopicDescription> topics) {
        return topics.stream().map(topic -> topic.name() + (topic.isInternal() ? " internal" : "")
                + " " + new TreeSet<>(topic.authorizedOperations() == null
                        ? List.of() : topic.authorizedOperations())
                + topic.partitions().stream().map(Text::of).collect(Collectors.joining("; ")))
                .collect(Collectors.joining());
    }

    private void delete() throws Exception {
        for (String name : List.of("a", "a", "x")) {
            Text.tell("delete " + name, () -> admin.deleteTopics(List.of(prefix + name)).all().get());
        }
        Uuid id = admin.describeTopics(List.of(prefix + "b")).allTopicNames().get()
                .get(prefix + "b").topicId();
        for (Uuid each : List.of(id, new Uuid(7, 7))) {
            Text.tell("delete by id", () -> admin.deleteTopics(
                    TopicCollection.ofTopicIds(List.of(each))).all().get());
        }
    }
}
