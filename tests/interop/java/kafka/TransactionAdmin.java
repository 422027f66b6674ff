package kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/** What the admin client is told of transactions, and may do to them. */
public final class TransactionAdmin {
    private final String address;
    private final String prefix;
    private final Admin admin;
    private final TopicPartition where;

    private TransactionAdmin(String address, String prefix, Admin admin) {
        this.address = address;
        this.prefix = prefix;
        this.admin = admin;
        this.where = new TopicPartition(prefix, 0);
    }

    public static void main(String[] arguments) throws Exception {
        Admin admin = Clients.patientAdmin(arguments[0]);
        String prefix = arguments[1] + ".transaction-admin";
        Clients.create(admin, prefix, 3, Map.of());
        TransactionAdmin itself = new TransactionAdmin(arguments[0], prefix, admin);
        itself.look();
        itself.abort();
        itself.fence();
        // Unasked, it would wait a minute for calls that have been given up.
        admin.close(Duration.ZERO);
    }

    private KafkaProducer<byte[], byte[]> begun(String id, int partitions) throws Exception {
        KafkaProducer<byte[], byte[]> producer = Clients.producer(address,
                "transactional.id", prefix + "." + id, "max.block.ms", "15000",
                "transaction.timeout.ms", "30000");
        producer.initTransactions();
        producer.beginTransaction();
        for (int partition = 0; partition < partitions; partition++) {
            producer.send(new ProducerRecord<>(prefix, partition, null, id.getBytes())).get();
        }
        return producer;
    }

    private void look() throws Exception {
        try (KafkaProducer<byte[], byte[]> ongoing = begun("ongoing", 2);
                KafkaProducer<byte[], byte[]> committed = begun("committed", 3);
                KafkaProducer<byte[], byte[]> aborted = begun("aborted", 1);
                KafkaProducer<byte[], byte[]> empty = begun("empty", 0)) {
            committed.commitTransaction();
            aborted.abortTransaction();
            for (String id : List.of("ongoing", "committed", "aborted", "empty", "nobody")) {
                until(id, TransactionState.PREPARE_ABORT, TransactionState.PREPARE_COMMIT);
                describe(id);
            }
            list("all", new ListTransactionsOptions());
            for (TransactionState state : TransactionState.values()) {
                list("" + state, new ListTransactionsOptions().filterStates(Set.of(state)));
            }
            list("nobody's", new ListTransactionsOptions().filterProducerIds(Set.of(123456L)));
            list("long", new ListTransactionsOptions().filterOnDuration(60_000));
            tellProducers();
            ongoing.commitTransaction();
        }
    }

    /** Wait until a transaction has left these states. */
    private void until(String id, TransactionState... states) throws Exception {
        if (!id.equals("nobody")) {
            while (List.of(states).contains(described(id).state())) {
                Thread.sleep(20);
            }
        }
    }

    private TransactionDescription described(String id) throws Exception {
        String name = prefix + "." + id;
        return admin.describeTransactions(Set.of(name)).description(name).get();
    }

    private void describe(String id) throws Exception {
        Text.tell(id, () -> {
            TransactionDescription it = described(id);
            // Of a producer that began anew Apache's broker still tells when the one before began.
            boolean isBegun = it.state() != TransactionState.EMPTY
                    && it.transactionStartTimeMs().isPresent();
            return it.state() + " at " + it.coordinatorId() + " epoch " + it.producerEpoch()
                    + " timeout " + it.transactionTimeoutMs() + " begun " + isBegun + " "
                    + it.topicPartitions().stream().map(each -> "" + each).sorted()
                            .collect(Collectors.toList());
        });
    }

    private void list(String what, ListTransactionsOptions options) throws Exception {
        Text.tell(what, () -> admin.listTransactions(options).all().get().stream()
                .filter(it -> it.transactionalId().startsWith(prefix))
                .map(it -> it.transactionalId() + " " + it.state()).sorted()
                .collect(Collectors.toList()));
    }

    private Collection<ProducerState> producers(TopicPartition partition) throws Exception {
        return admin.describeProducers(List.of(partition)).partitionResult(partition).get()
                .activeProducers();
    }

    private void tellProducers() throws Exception {
        for (int index = 0; index < 3; index++) {
            TopicPartition partition = new TopicPartition(prefix, index);
            Text.tell("" + partition, () -> producers(partition).stream()
                    .map(it -> "epoch " + it.producerEpoch() + " sequence " + it.lastSequence()
                            + " open from " + it.currentTransactionStartOffset()
                            + " coordinator " + it.coordinatorEpoch())
                    .sorted().collect(Collectors.toList()));
        }
    }

    private void abort() throws Exception {
        begun("open", 0).close();
        KafkaProducer<byte[], byte[]> open = begun("open", 1);
        tellStable("open");
        ProducerState state = producers(where).stream()
                .filter(it -> it.currentTransactionStartOffset().isPresent()).findFirst().get();
        for (int epoch : new int[] {state.producerEpoch() - 1, state.producerEpoch()}) {
            Text.tell("abort", () -> admin.abortTransaction(new AbortTransactionSpec(where,
                    state.producerId(), (short) epoch, state.coordinatorEpoch().orElse(0))).all().get());
        }
        tellStable("aborted");
        Text.tell("its coordinator", described("open").state());
        Text.tell("it commits", () -> {
            open.commitTransaction();
            return "done";
        });
        open.close(Duration.ZERO);
    }

    private void tellStable(String what) {
        try (KafkaConsumer<byte[], byte[]> consumer =
                Clients.consumer(address, "isolation.level", "read_committed")) {
            Text.tell(what, (Object) consumer.endOffsets(Set.of(where)));
        }
    }

    private void fence() throws Exception {
        KafkaProducer<byte[], byte[]> fenced = begun("to-fence", 1);
        int epoch = described("to-fence").producerEpoch();
        Text.tell("fence", () -> admin.fenceProducers(
                List.of(prefix + ".to-fence", prefix + ".new")).all().get());
        until("to-fence", TransactionState.PREPARE_ABORT);
        describe("to-fence");
        describe("new");
        Text.tell("epochs since", described("to-fence").producerEpoch() - epoch);
        Text.tell("it sends", () -> fenced.send(
                new ProducerRecord<>(prefix, 0, null, "late".getBytes())).get().offset());
        Text.tell("it commits", () -> {
            fenced.commitTransaction();
            return "done";
        });
        fenced.close(Duration.ZERO);
    }
}
