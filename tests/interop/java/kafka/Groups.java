package kafka;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Members that come, leave, hang, die and return, and who then has which partitions. */
public final class Groups {
    private static final int PARTITIONS = 6;
    private static final String COOPERATIVE =
            "org.apache.kafka.clients.consumer.CooperativeStickyAssignor";
    private static final Duration LONGER_THAN_A_SESSION = Duration.ofSeconds(7);

    private final String address;
    private final String topic;

    private Groups(String address, String topic) {
        this.address = address;
        this.topic = topic;
    }

    public static void main(String[] arguments) throws Exception {
        Groups groups = new Groups(arguments[0], arguments[1] + ".groups");
        try (Admin admin = Clients.patientAdmin(arguments[0])) {
            Clients.create(admin, groups.topic, PARTITIONS, Map.of());
            groups.comeAndGo();
            groups.die();
            groups.hang();
            groups.stayStatic();
            groups.cooperate();
            groups.dieBetweenRounds();
            groups.subscribeToPattern(admin);
        }
    }

    private Member member(String group, String... settings) {
        return new Member(address, topic + "." + group, List.of(topic), settings);
    }

    /** Something to commit, whatever was read so far. */
    private Map<TopicPartition, OffsetAndMetadata> anOffset() {
        return Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(0));
    }

    private void comeAndGo() {
        try (Member first = member("moving")) {
            Member.settle(PARTITIONS, first);
            Text.tell("alone", Member.sizes(first));
            try (Member second = member("moving"); Member third = member("moving")) {
                Member.settle(PARTITIONS, first, second, third);
                Text.tell("three", Member.sizes(first, second, third));
                second.close();
                Member.settle(PARTITIONS, first, third);
                Text.tell("two", Member.sizes(first, third));
                third.consumer.unsubscribe();
                Member.settle(PARTITIONS, first);
            }
            Text.tell("alone again", Member.sizes(first));
            Text.tell("lost", first.lost);
        }
    }

    private void die() throws Exception {
        try (Member first = member("dying")) {
            Member.settle(PARTITIONS, first);
            Process other = new ProcessBuilder("java", "-Xmx128m", "-cp",
                    System.getProperty("java.class.path"), LoneMember.class.getName(),
                    address, topic + ".dying", topic)
                    .redirectError(ProcessBuilder.Redirect.DISCARD).start();
            try (BufferedReader said =
                    new BufferedReader(new InputStreamReader(other.getInputStream()))) {
                Member.until(() -> first.has().size() == PARTITIONS / 2, first);
                Text.tell("the other", said.readLine());
                other.destroyForcibly().waitFor();
                Member.settle(PARTITIONS, first);
                Text.tell("after its death", Member.sizes(first));
            } finally {
                other.destroyForcibly();
            }
        }
    }

    private void hang() throws Exception {
        try (Member first = member("hanging");
                Member hung = member("hanging", "max.poll.interval.ms", "1500")) {
            Member.settle(PARTITIONS, first, hung);
            Member.settle(PARTITIONS, first);
            Text.tell("it hangs", Member.sizes(first));
            Text.tell("its commit", () -> {
                hung.consumer.commitSync(anOffset());
                return "accepted";
            });
            Member.settle(PARTITIONS, first, hung);
            Text.tell("it wakes", Member.sizes(first, hung) + " lost " + hung.lost.size());
        }
    }

    private void stayStatic() throws Exception {
        try (Member a = member("static", "group.instance.id", "a")) {
            Member b = member("static", "group.instance.id", "b");
            Member.settle(PARTITIONS, a, b);
            Text.tell("a", new TreeSet<>(numbers(a)));
            Text.tell("b", new TreeSet<>(numbers(b)));
            int generation = a.generation();
            b.close();
            Member again = member("static", "group.instance.id", "b");
            Member.settle(PARTITIONS, a, again);
            Text.tell("b again", new TreeSet<>(numbers(again)));
            Text.tell("generations since", a.generation() - generation);
            try (Member twin = member("static", "group.instance.id", "b")) {
                Member.until(() -> !twin.has().isEmpty(), twin, a);
                Text.tell("twin", new TreeSet<>(numbers(twin)));
                Text.tell("the twin of it", () -> {
                    Member.until(() -> false, again);
                    return "lives";
                });
                Text.tell("its commit", () -> {
                    again.consumer.commitSync(anOffset());
                    return "accepted";
                });
            }
            again.consumer.close(Duration.ZERO);
        }
    }

    private static List<Integer> numbers(Member member) {
        return member.has().stream().map(TopicPartition::partition).collect(Collectors.toList());
    }

    private void cooperate() {
        String[] settings = {"partition.assignment.strategy", COOPERATIVE};
        try (Member first = member("cooperative", settings)) {
            Member.settle(PARTITIONS, first);
            try (Member second = member("cooperative", settings)) {
                Member.settle(PARTITIONS, first, second);
                Text.tell("given up", first.revoked.size() + " by the first, "
                        + second.revoked.size() + " by the second");
                try (Member third = member("cooperative", settings)) {
                    Member.settle(PARTITIONS, first, second, third);
                    Text.tell("given up", first.revoked.size() + second.revoked.size());
                }
                Member.settle(PARTITIONS, first, second);
                Text.tell("given up", first.revoked.size() + second.revoked.size());
                Text.tell("lost", first.lost.size() + second.lost.size());
            }
        }
    }

    /**
     * A static member dies when it has been told to give up what another is to have in the next round.
     * Who comes in its name has nothing to give up, so it asks for no next round, and nor does anybody
     * else: what was kept back is nobody's until the group rebalances for another reason.
     */
    private void dieBetweenRounds() throws Exception {
        String[] another = {"partition.assignment.strategy", COOPERATIVE};
        String[] named = {"partition.assignment.strategy", COOPERATIVE, "group.instance.id", "a"};
        Member first = member("succeeded", named);
        Member.settle(PARTITIONS, first);
        first.diesGivingUp = true;
        try (Member second = member("succeeded", another)) {
            Text.tell("it dies", () -> {
                Member.until(() -> false, first, second);
                return "lives";
            });
            try (Member again = member("succeeded", named)) {
                Member.until(() -> !again.has().isEmpty(), again, second);
                int generation = again.generation();
                Member.live(LONGER_THAN_A_SESSION, again, second);
                Text.tell("its successor and the other", Member.sizes(again, second));
                Text.tell("generations since", again.generation() - generation);
                again.consumer.enforceRebalance();
                Member.settle(PARTITIONS, again, second);
                Text.tell("after a rebalance", Member.sizes(again, second));
            }
        }
        first.consumer.close(Duration.ZERO);
    }

    private void subscribeToPattern(Admin admin) throws Exception {
        try (Member member = member("pattern", "metadata.max.age.ms", "300")) {
            member.consumer.unsubscribe();
            member.consumer.subscribe(
                    Pattern.compile(Pattern.quote(topic + ".pattern.") + ".*"), member);
            Clients.create(admin, topic + ".pattern.1", 2, Map.of());
            Member.settle(2, member);
            Clients.create(admin, topic + ".pattern.2", 3, Map.of());
            Member.settle(5, member);
            Text.tell("by pattern", new TreeSet<>(member.has().stream().map(TopicPartition::toString)
                    .collect(Collectors.toSet())));
        }
    }
}
