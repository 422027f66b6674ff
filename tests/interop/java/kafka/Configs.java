package kafka;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.ConfigResource.Type;

/** All configs of topics and brokers, before and after they are changed. */
public final class Configs {
    private final Admin admin;

    private Configs(Admin admin) {
        this.admin = admin;
    }

    public static void main(String[] arguments) throws Exception {
        String topic = arguments[1] + ".configs";
        try (Admin admin = Clients.admin(arguments[0])) {
            Clients.create(admin, topic, 1, Map.of("flush.ms", "1000", "segment.ms", "99"));
            Configs configs = new Configs(admin);
            ConfigResource itself = new ConfigResource(Type.TOPIC, topic);
            configs.describe(itself);
            configs.changeTopic(itself);
            configs.describe(itself);
            configs.describe(new ConfigResource(Type.BROKER, "1"));
            configs.changeBroker();
            configs.describe(new ConfigResource(Type.TOPIC, "no.such.topic"));
            configs.describe(new ConfigResource(Type.BROKER, "9"));
        }
    }

    private void describe(ConfigResource resource) throws Exception {
        Text.tell("" + resource, () -> {
            Map<ConfigResource, Config> found = admin.describeConfigs(List.of(resource),
                    new DescribeConfigsOptions().includeSynonyms(true)).all().get();
            return found.get(resource).entries().stream()
                    .sorted(Comparator.comparing(ConfigEntry::name))
                    .map(Configs::of).collect(Collectors.joining("\n  ", "\n  ", ""));
        });
    }

    private static String of(ConfigEntry entry) {
        String synonyms = entry.synonyms().stream()
                .map(it -> it.name() + "=" + it.value() + " " + it.source())
                .collect(Collectors.joining(", "));
        return entry.name() + "=" + entry.value() + " " + entry.source() + " " + entry.type()
                + (entry.isReadOnly() ? " read-only" : "") + (entry.isSensitive() ? " secret" : "")
                + (entry.isDefault() ? " default" : "") + " [" + synonyms + "]";
    }

    private void changeTopic(ConfigResource topic) throws Exception {
        change(topic, "retention.ms", "5", OpType.SET);
        change(topic, "cleanup.policy", "compact", OpType.APPEND);
        change(topic, "cleanup.policy", "delete", OpType.SUBTRACT);
        change(topic, "segment.ms", "", OpType.DELETE);
        change(topic, "no.such", "1", OpType.SET);
        change(topic, "retention.ms", "long", OpType.SET);
        change(topic, "retention.ms", "1", OpType.APPEND);
    }

    private void changeBroker() throws Exception {
        ConfigResource one = new ConfigResource(Type.BROKER, "1");
        ConfigResource all = new ConfigResource(Type.BROKER, "");
        change(one, "log.retention.ms", "66666", OpType.SET);
        change(all, "log.retention.ms", "77777", OpType.SET);
        change(all, "max.connections.per.ip", "700", OpType.SET);
        change(all, "log.cleaner.threads", "2", OpType.SET);
        change(one, "broker.id", "8", OpType.SET);
        change(all, "num.io.threads", "-4", OpType.SET);
        describe(all);
        describe(one);
        for (String key : List.of("log.retention.ms", "max.connections.per.ip", "log.cleaner.threads")) {
            change(all, key, "", OpType.DELETE);
        }
        change(one, "log.retention.ms", "", OpType.DELETE);
        describe(all);
    }

    private void change(ConfigResource resource, String key, String value, OpType kind)
            throws Exception {
        Collection<AlterConfigOp> changes =
                List.of(new AlterConfigOp(new ConfigEntry(key, value), kind));
        Text.tell(kind + " " + key + " " + value,
                () -> admin.incrementalAlterConfigs(Map.of(resource, changes)).all().get());
    }
}
