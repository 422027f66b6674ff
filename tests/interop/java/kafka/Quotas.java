package kafka;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterClientQuotasOptions;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaAlteration.Op;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.quota.ClientQuotaFilterComponent;

/** Quotas of users, clients and addresses: set, asked for in all ways, and taken back. */
public final class Quotas {
    private final Admin admin;
    private final List<ClientQuotaEntity> entities = new ArrayList<>();

    private Quotas(Admin admin, String prefix) {
        this.admin = admin;
        for (String user : new String[] {prefix + " user/1", null}) {
            entities.add(entity("user", user));
            for (String client : new String[] {prefix + ":client", null}) {
                entities.add(entity("user", user, "client-id", client));
            }
        }
        entities.add(entity("client-id", prefix + ":client"));
        entities.add(entity("client-id", null));
    }

    public static void main(String[] arguments) throws Exception {
        try (Admin admin = Clients.patientAdmin(arguments[0])) {
            Quotas quotas = new Quotas(admin, arguments[1]);
            quotas.set();
            quotas.describe();
            quotas.refuse();
            quotas.unset();
        }
    }

    private static ClientQuotaEntity entity(String... pairs) {
        Map<String, String> names = new HashMap<>();
        for (int at = 0; at < pairs.length; at += 2) {
            names.put(pairs[at], pairs[at + 1]);
        }
        return new ClientQuotaEntity(names);
    }

    private void alter(ClientQuotaEntity entity, boolean isDry, Op... changes) throws Exception {
        Text.tell("alter " + of(entity), () -> admin.alterClientQuotas(
                List.of(new ClientQuotaAlteration(entity, List.of(changes))),
                new AlterClientQuotasOptions().validateOnly(isDry)).all().get());
    }

    private void set() throws Exception {
        double rate = 1000;
        for (ClientQuotaEntity entity : entities) {
            alter(entity, false, new Op("producer_byte_rate", ++rate),
                    new Op("consumer_byte_rate", ++rate), new Op("request_percentage", 150.5),
                    new Op("controller_mutation_rate", 7.25));
        }
        for (String address : new String[] {"127.0.0.9", null}) {
            alter(entity("ip", address), false, new Op("connection_creation_rate", 77.0));
        }
        alter(entities.get(0), true, new Op("producer_byte_rate", 1.0));
        alter(entities.get(1), false, new Op("producer_byte_rate", null));
        tell("all", ClientQuotaFilter.all());
    }

    private void describe() throws Exception {
        for (String type : List.of("user", "client-id", "ip")) {
            List<ClientQuotaFilterComponent> components = List.of(
                    ClientQuotaFilterComponent.ofEntityType(type),
                    ClientQuotaFilterComponent.ofDefaultEntity(type),
                    ClientQuotaFilterComponent.ofEntity(type, "127.0.0.9"));
            for (ClientQuotaFilterComponent each : components) {
                tell("contains " + each, ClientQuotaFilter.contains(List.of(each)));
                tell("only " + each, ClientQuotaFilter.containsOnly(List.of(each)));
            }
        }
        tell("both", ClientQuotaFilter.containsOnly(List.of(
                ClientQuotaFilterComponent.ofEntityType("user"),
                ClientQuotaFilterComponent.ofDefaultEntity("client-id"))));
        tell("user and ip", ClientQuotaFilter.contains(List.of(
                ClientQuotaFilterComponent.ofEntityType("user"),
                ClientQuotaFilterComponent.ofEntityType("ip"))));
        tell("unknown", ClientQuotaFilter.contains(
                List.of(ClientQuotaFilterComponent.ofEntityType("planet"))));
    }

    private void refuse() throws Exception {
        ClientQuotaEntity user = entities.get(0);
        alter(user, false, new Op("no_such_rate", 1.0));
        alter(user, false, new Op("producer_byte_rate", -1.0));
        alter(user, false, new Op("producer_byte_rate", 1.5));
        alter(user, false, new Op("connection_creation_rate", 5.0));
        alter(entity("ip", "127.0.0.9"), false, new Op("producer_byte_rate", 5.0));
        alter(entity("ip", "nowhere.invalid"), false, new Op("connection_creation_rate", 5.0));
        alter(entity("planet", "earth"), false, new Op("producer_byte_rate", 5.0));
        alter(entity("user", ""), false, new Op("producer_byte_rate", 5.0));
    }

    private void unset() throws Exception {
        for (ClientQuotaEntity entity : entities) {
            alter(entity, false, new Op("producer_byte_rate", null), new Op("consumer_byte_rate", null),
                    new Op("request_percentage", null), new Op("controller_mutation_rate", null));
        }
        for (String address : new String[] {"127.0.0.9", null}) {
            alter(entity("ip", address), false, new Op("connection_creation_rate", null));
        }
        tell("none", ClientQuotaFilter.all());
    }

    private void tell(String what, ClientQuotaFilter filter) throws Exception {
        Text.tell(what, () -> admin.describeClientQuotas(filter).entities().get().entrySet().stream()
                .map(it -> of(it.getKey()) + "=" + Text.of(it.getValue())).sorted()
                .collect(Collectors.joining("\n  ", "\n  ", "")));
    }

    private static String of(ClientQuotaEntity entity) {
        return Text.of(entity.entries());
    }
}
