package client;

import static org.apache.zookeeper.CreateMode.EPHEMERAL;
import static org.apache.zookeeper.CreateMode.PERSISTENT;
import static org.apache.zookeeper.ZooDefs.Ids.OPEN_ACL_UNSAFE;

import org.apache.zookeeper.Watcher.Event.KeeperState;

/** A session that is silent for too long ends: others see it first, its owner on return. */
public final class ExpiredSession {
    private static final int SHORT_MS = 3000;

    private ExpiredSession() {}

    public static void main(String[] arguments) throws Exception {
        try (Relay relay = new Relay(arguments[0]);
                Witness other = Witness.of(arguments[0]);
                Witness silent = Witness.of(relay.address(), SHORT_MS)) {
            Text.tell("its timeout", () -> silent.zookeeper.getSessionTimeout());
            Text.tell("the other's", () -> other.zookeeper.getSessionTimeout());
            other.zookeeper.create("/expired", null, OPEN_ACL_UNSAFE, PERSISTENT);
            silent.zookeeper.create("/expired/e", null, OPEN_ACL_UNSAFE, EPHEMERAL);
            silent.zookeeper.exists("/expired", true);
            other.zookeeper.exists("/expired/e", true);
            relay.cut();
            silent.await(KeeperState.Disconnected);
            System.out.println("others: " + Text.of(other.next()));
            Text.tell("afterwards", () -> other.zookeeper.exists("/expired", false));
            relay.heal();
            System.out.println("the owner: " + Text.of(silent.next()));
            Text.tell("its calls", () -> silent.zookeeper.exists("/expired", false));
            other.zookeeper.delete("/expired", -1);
        }
    }
}
