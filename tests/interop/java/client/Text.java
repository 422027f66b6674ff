package client;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/** What is printed of a thing: all that any two servers must have in common. */
public final class Text {
    private Text() {}

    /** Something that may be refused. */
    public interface Attempt {
        Object make() throws Exception;
    }

    /** Print what an attempt gives, or why it was refused. */
    public static void tell(String what, Attempt attempt) throws Exception {
        String outcome;
        try {
            outcome = of(attempt.make());
        } catch (KeeperException refusal) {
            outcome = refusal.code() + " " + refusal.getPath();
        }
        System.out.println(what + ": " + outcome);
    }

    public static String of(Object thing) {
        if (thing instanceof Stat) {
            return ofStat((Stat) thing);
        }
        if (thing instanceof byte[]) {
            return new String((byte[]) thing);
        }
        if (thing instanceof List) {
            return ofList((List<?>) thing);
        }
        if (thing instanceof ACL) {
            ACL entry = (ACL) thing;
            return entry.getPerms() + " " + entry.getId().getScheme() + ":" + entry.getId().getId();
        }
        if (thing instanceof WatchedEvent) {
            WatchedEvent event = (WatchedEvent) thing;
            String what = event.getState() + " " + event.getType();
            return what + " " + event.getPath() + " " + event.getZxid();
        }
        return String.valueOf(thing);
    }

    private static String ofList(List<?> things) {
        List<String> texts = new ArrayList<>();
        things.forEach(thing -> texts.add(of(thing)));
        Collections.sort(texts);
        return texts.toString();
    }

    private static String ofStat(Stat stat) {
        boolean isOwned = stat.getEphemeralOwner() != 0;
        boolean isTimed = stat.getCtime() > 0 && stat.getMtime() >= stat.getCtime();
        return String.format(
                "zxids %d/%d/%d versions %d/%d/%d length %d children %d%s%s",
                stat.getCzxid(), stat.getMzxid(), stat.getPzxid(),
                stat.getVersion(), stat.getCversion(), stat.getAversion(),
                stat.getDataLength(), stat.getNumChildren(),
                isOwned ? " owned" : "", isTimed ? " timed" : "");
    }
}
