package kafka;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListConsumerGroupsOptions;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.ConsumerGroupState;
import org.apache.kafka.common.TopicPartition;

/** What the admin client is told of groups, and may do to them. */
public final class GroupAdmin {
    private final String address;
    private final String topic;
    private final Admin admin;
    private final TopicPartition first;
    private final TopicPartition second;
    private final TopicPartition unknown = new TopicPartition("none", 3);

    private GroupAdmin(String address, String topic, Admin admin) {
        this.address = address;
        this.topic = topic;
        this.admin = admin;
        this.first = new TopicPartition(topic, 0);
        this.second = new TopicPartition(topic, 1);
    }

    public static void main(String[] arguments) throws Exception {
        try (Admin admin = Clients.patientAdmin(arguments[0])) {
            String topic = arguments[1] + ".group-admin";
            Clients.create(admin, topic, 2, Map.of());
            GroupAdmin itself = new GroupAdmin(arguments[0], topic, admin);
            itself.offsetsOfAnEmptyGroup();
            itself.aLivingGroup();
            itself.describe("living");
            itself.deleteGroups();
        }
    }

    private String group(String name) {
        return topic + "." + name;
    }

    private void offsetsOfAnEmptyGroup() throws Exception {
        String group = group("empty");
        alter(group, Map.of(first, new OffsetAndMetadata(4, "by the admin"),
                second, new OffsetAndMetadata(0), unknown, new OffsetAndMetadata(1)));
        tellOffsets(group);
        describe("empty");
        tellAll();
        Text.tell("delete offset", () -> deleteOffsets(group, first));
        Text.tell("delete absent", () -> deleteOffsets(group, new TopicPartition(topic, 9)));
        Text.tell("of nobody", () -> deleteOffsets(group("nobody"), first));
        tellOffsets(group);
        tellOffsets(group("nobody"));
        describe("nobody");
    }

    private void aLivingGroup() throws Exception {
        String group = group("living");
        try (Member a = member("a"); Member b = member("b"); Member c = member(null)) {
            Member.until(() -> a.has().size() + b.has().size() + c.has().size() == 2
                    && a.generation() == c.generation() && b.generation() == c.generation(), a, b, c);
            a.consumer.commitSync(a.has().stream().collect(
                    Collectors.toMap(it -> it, it -> new OffsetAndMetadata(2, "living"))));
            tellOffsets(group);
            describe("living");
            tellAll();
            alter(group, Map.of(first, new OffsetAndMetadata(1)));
            Text.tell("delete offset", () -> deleteOffsets(group, first));
            Text.tell("delete", () -> admin.deleteConsumerGroups(List.of(group)).all().get());
            Text.tell("remove z", () -> remove(group, "z"));
            Text.tell("remove b", () -> remove(group, "b"));
            Text.tell("it is fenced", () -> {
                Member.until(() -> false, b);
                return "lives";
            });
            Member.until(() -> a.has().size() + c.has().size() == 2
                    && a.generation() == c.generation(), a, c);
            describe("living");
        }
        Text.tell("remove all", () -> admin.removeMembersFromConsumerGroup(
                group, new RemoveMembersFromConsumerGroupOptions()).all().get());
    }

    private Member member(String instance) {
        String[] settings = instance == null ? new String[] {"client.id", "dynamic"}
                : new String[] {"group.instance.id", instance, "client.id", "client-" + instance};
        return new Member(address, group("living"), List.of(topic), settings);
    }

    private void deleteGroups() throws Exception {
        for (String name : List.of("living", "empty", "empty", "nobody")) {
            Text.tell("delete " + name,
                    () -> admin.deleteConsumerGroups(List.of(group(name))).all().get());
        }
        tellAll();
    }

    private void alter(String group, Map<TopicPartition, OffsetAndMetadata> offsets) throws Exception {
        for (TopicPartition where : List.of(first, second, unknown)) {
            if (!offsets.containsKey(where)) {
                continue;
            }
            Text.tell("alter " + where, () -> admin.alterConsumerGroupOffsets(group, offsets)
                    .partitionResult(where).get());
        }
    }

    private Object deleteOffsets(String group, TopicPartition where) throws Exception {
        return admin.deleteConsumerGroupOffsets(group, Set.of(where)).partitionResult(where).get();
    }

    private Object remove(String group, String instance) throws Exception {
        return admin.removeMembersFromConsumerGroup(group, new RemoveMembersFromConsumerGroupOptions(
                Set.of(new MemberToRemove(instance)))).memberResult(new MemberToRemove(instance)).get();
    }

    private void tellOffsets(String group) throws Exception {
        for (boolean isStable : new boolean[] {false, true}) {
            Text.tell("offsets of " + group, () -> admin.listConsumerGroupOffsets(
                    Map.of(group, new ListConsumerGroupOffsetsSpec(),
                            group("empty"), new ListConsumerGroupOffsetsSpec().topicPartitions(List.of(first))),
                    new ListConsumerGroupOffsetsOptions().requireStable(isStable)).all().get());
        }
    }

    private void describe(String name) throws Exception {
        Text.tell("describe " + name, () -> of(admin.describeConsumerGroups(List.of(group(name)))
                .all().get().get(group(name))));
    }

    private static String of(ConsumerGroupDescription it) {
        Collection<String> members = it.members().stream()
                .sorted(Comparator.comparing(MemberDescription::clientId))
                .map(GroupAdmin::of).collect(Collectors.toList());
        return it.state() + " coordinated by " + it.coordinator().id() + " " + it.partitionAssignor()
                + (it.isSimpleConsumerGroup() ? " simple" : "") + " " + it.authorizedOperations()
                + " " + members;
    }

    private static String of(MemberDescription it) {
        boolean isNamed = it.consumerId().startsWith(it.groupInstanceId().orElse(it.clientId()) + "-");
        return it.clientId() + (isNamed ? " named so" : " named otherwise") + " " + it.host() + " "
                + it.groupInstanceId() + " " + it.assignment().topicPartitions().size();
    }

    private void tellAll() throws Exception {
        tellAll("all", new ListConsumerGroupsOptions());
        for (ConsumerGroupState state : List.of(ConsumerGroupState.STABLE, ConsumerGroupState.EMPTY)) {
            tellAll("" + state, new ListConsumerGroupsOptions().inStates(Set.of(state)));
        }
    }

    private void tellAll(String what, ListConsumerGroupsOptions options) throws Exception {
        Text.tell(what, () -> admin.listConsumerGroups(options).all().get().stream()
                .filter(it -> it.groupId().startsWith(topic))
                .map(it -> it.groupId() + " " + it.state().get() + (it.isSimpleConsumerGroup() ? " simple" : ""))
                .sorted().collect(Collectors.toList()));
    }
}
