package client;

import static org.apache.zookeeper.CreateMode.EPHEMERAL;
import static org.apache.zookeeper.ZooDefs.Ids.OPEN_ACL_UNSAFE;

import org.apache.zookeeper.Watcher.Event.KeeperState;

/** A session belongs to who knows its id and password, and to nobody else. */
public final class MovedSession {
    private MovedSession() {}

    public static void main(String[] arguments) throws Exception {
        String server = arguments[0];
        Witness first = Witness.of(server);
        first.zookeeper.create("/mine", null, OPEN_ACL_UNSAFE, EPHEMERAL);
        long id = first.zookeeper.getSessionId();
        byte[] password = first.zookeeper.getSessionPasswd();

        refuse(server, id, "not the password".getBytes());
        refuse(server, 4711, password);
        try (Witness second = Witness.claiming(server, id, password)) {
            second.await(KeeperState.SyncConnected);
            first.await(KeeperState.Disconnected);
            System.out.println("the same session: " + (second.zookeeper.getSessionId() == id));
            System.out.println("timeout: " + second.zookeeper.getSessionTimeout());
            Text.tell("what it owned", () -> second.zookeeper.getEphemerals());
            Text.tell("as it was", () -> second.zookeeper.exists("/mine", false));
        }
        first.await(KeeperState.Expired);
        refuse(server, id, password);
        try (Witness third = Witness.of(server)) {
            Text.tell("it went with its session", () -> third.zookeeper.exists("/mine", false));
        }
    }

    private static void refuse(String server, long id, byte[] password) throws Exception {
        try (Witness stranger = Witness.claiming(server, id, password)) {
            System.out.println("a stranger: " + stranger.next().getState());
        }
    }
}
