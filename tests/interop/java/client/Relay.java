package client;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A way to a server that can be cut. While it is cut, who comes is turned away. */
final class Relay implements AutoCloseable {
    private final ServerSocket listener;
    private final String host;
    private final int port;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile boolean isCut;

    Relay(String server) throws IOException {
        host = server.substring(0, server.lastIndexOf(':'));
        port = Integer.parseInt(server.substring(server.lastIndexOf(':') + 1));
        listener = new ServerSocket(0, 50, InetAddress.getByName(host));
        inBackground(this::accept);
    }

    String address() {
        return host + ":" + listener.getLocalPort();
    }

    synchronized void cut() {
        isCut = true;
        sockets.forEach(Relay::end);
        sockets.clear();
    }

    void heal() {
        isCut = false;
    }

    @Override
    public void close() throws IOException {
        cut();
        listener.close();
    }

    private interface Work {
        void run() throws IOException;
    }

    private void accept() throws IOException {
        while (true) {
            join(listener.accept());
        }
    }

    private synchronized void join(Socket near) throws IOException {
        if (isCut) {
            near.close();
            return;
        }
        Socket far = new Socket(host, port);
        sockets.add(near);
        sockets.add(far);
        inBackground(() -> pump(near, far));
        inBackground(() -> pump(far, near));
    }

    private static void pump(Socket from, Socket to) throws IOException {
        try (from; to) {
            InputStream bytes = from.getInputStream();
            bytes.transferTo(to.getOutputStream());
        }
    }

    private static void end(Socket socket) {
        try {
            socket.close();
        } catch (IOException alreadyEnded) {
            return;
        }
    }

    private static void inBackground(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException ended) {
                return;
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
