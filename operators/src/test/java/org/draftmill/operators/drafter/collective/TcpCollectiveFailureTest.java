package org.draftmill.operators.drafter.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.draftmill.operators.drafter.collective.Membership.Member;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(600)
class TcpCollectiveFailureTest {
  private static final CollectiveOptions PATIENT =
      new CollectiveOptions(Duration.ofMinutes(5), true, 64);
  private static final CollectiveOptions HASTY =
      new CollectiveOptions(Duration.ofMillis(400), true, 64);
  private static final Member PEER = new Member(1, "127.0.0.1", 1, UUID.randomUUID());
  private static final int[] HALVES = {0, 500, 1000};

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aPeerThatLeavesIsNamed(int process) throws Exception {
    try (TestingGroup group = new TestingGroup(PATIENT, 0, process).joined()) {
      Future<?> blocked =
          group.start(group.members.get(0), m -> m.reduceScatter(new long[1000], HALVES));
      group.members.get(1).close();
      assertThatThrownBy(() -> TestingGroup.get(blocked))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("drafter 1");
      assertThatThrownBy(() -> group.members.get(0).allReduce(new long[1]))
          .as("a broken ring stays broken")
          .isInstanceOf(IOException.class)
          .hasMessageContaining("drafter 1");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void closingFromAnotherThreadEndsABlockedCallAtOnce(int process) throws Exception {
    try (TestingGroup group = new TestingGroup(PATIENT, 0, process).joined()) {
      TcpCollective member = group.members.get(0);
      Future<?> blocked = group.start(member, m -> m.reduceScatter(new long[1000], HALVES));
      member.close();
      assertThatThrownBy(() -> blocked.get(5, TimeUnit.MINUTES))
          .hasRootCauseInstanceOf(IOException.class)
          .hasMessageContaining("Drafter 0");
    }
  }

  @Test
  void closingEndsAJoinThatWaitsForItsPeers() throws Exception {
    try (TestingGroup group = new TestingGroup(PATIENT, 0, 1)) {
      TcpCollective member = group.members.get(0);
      Future<?> joining = group.start(member, m -> member.join(group.membership));
      member.close();
      assertThatThrownBy(() -> joining.get(5, TimeUnit.MINUTES))
          .hasRootCauseInstanceOf(IOException.class);
    }
  }

  @Test
  void aPeerThatComputesSaysThatItIsAlive() throws Exception {
    List<IOException> failed = new CopyOnWriteArrayList<>();
    try (Connection connection = new Connection();
        TcpDownstream computing = new TcpDownstream(connection.one, PEER, HASTY, failed::add)) {
      FrameFormat frames = new FrameFormat(64 * Long.BYTES);
      for (int sign = 0; sign < 5; sign++) {
        frames.read(connection.other.getInputStream());
        assertThat(frames.kind()).isEqualTo(FrameFormat.ALIVE);
      }
      assertThat(failed).as("failures of %s", computing).isEmpty();
    }
  }

  @Test
  void whatAPeerSaysWhileItComputesIsReadOver() throws Exception {
    try (Connection connection = new Connection();
        TcpUpstream upstream = new TcpUpstream(connection.one, PEER, PATIENT)) {
      FrameFormat frames = new FrameFormat(64 * Long.BYTES);
      OutputStream out = connection.other.getOutputStream();
      for (int sign = 0; sign < 5; sign++) {
        out.write(
            frames.write(FrameFormat.ALIVE, (byte) 0, 0, 0, 0).array(), 0, FrameFormat.HEADER);
      }
      Transfer.Longs transfer = new Transfer.Longs();
      frames.payload().putLong(42);
      ByteBuffer sent = frames.write(FrameFormat.DATA, transfer.code(), 1, 0, Long.BYTES);
      out.write(sent.array(), 0, sent.limit());
      long[] values = new long[1];
      upstream.receive(transfer.of(values), 1, 0, 1);
      assertThat(values).containsExactly(42);
    }
  }

  @Test
  void aSilentPeerFailsTheCallAfterTheTimeoutByName() throws Exception {
    try (AmongTwoProcesses among = new AmongTwoProcesses();
        Socket socket = among.call()) {
      among.member.join(among.membership);
      assertThat(socket.isConnected()).isTrue();
      assertThatThrownBy(
              () -> among.member.reduceScatter(new long[1000], new int[] {0, 300, 600, 1000}))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("drafter 2 at 127.0.0.1:" + AmongTwoProcesses.ANY_PORT)
          .hasMessageContaining("was silent for 400 ms (drafter.reduce-timeout)");
    }
  }

  @Test
  void aPeerThatDoesNotCallFailsTheJoin() throws Exception {
    try (AmongTwoProcesses among = new AmongTwoProcesses()) {
      assertThatThrownBy(() -> among.member.join(among.membership))
          .hasMessageContaining("drafter 2 at 127.0.0.1:" + AmongTwoProcesses.ANY_PORT)
          .hasMessageContaining(" did not call within 400 ms (drafter.reduce-timeout)");
    }
  }

  @Test
  void anUnreachablePeerFailsTheJoin() throws Exception {
    try (Socket taken = new Socket(); // nobody listens there, and nobody else comes to
        Listener listener = Listener.open(InetAddress.getLoopbackAddress());
        TcpCollective member = new TcpCollective(0, listener, new LocalMembers(), HASTY)) {
      taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      int port = taken.getLocalPort();
      assertThatThrownBy(() -> member.join(membership(listener.port(), port)))
          .hasMessageContaining("Could not reach drafter 1 at 127.0.0.1:" + port);
    }
  }

  @Test
  void strangersAreTurnedAwayAndDisturbNobody() throws Exception {
    try (TestingGroup group = new TestingGroup(PATIENT, 0, 1)) {
      int port = group.membership.members().get(0).port();
      TcpCollective first = group.members.get(0);
      TcpCollective second = group.members.get(1);
      Future<?> joining = group.start(first, m -> first.join(group.membership));
      try (Socket silent = new Socket("127.0.0.1", port);
          Socket noisy = new Socket("127.0.0.1", port)) {
        noisy
            .getOutputStream()
            .write("GET / HTTP/1.1\r\nHost: drafter\r\n\r\n".getBytes("US-ASCII"));
        noisy.setSoTimeout(300_000);
        noisy.getInputStream().readAllBytes(); // ends: it was turned away
        assertThat(silent.isConnected()).isTrue();

        Membership wrong =
            new Membership(
                group.membership.group(), TestingGroup.secret(2), group.membership.members());
        try (Socket impostor = new Socket("127.0.0.1", port)) {
          assertThatThrownBy(() -> new Handshake(wrong, 1, 0).call(impostor))
              .isInstanceOf(IOException.class);
        }
        try (Socket misled = new Socket("127.0.0.1", port)) {
          Membership other = new Membership(UUID.randomUUID(), wrong.secret(), wrong.members());
          assertThatThrownBy(() -> new Handshake(other, 1, 0).call(misled))
              .isInstanceOf(IOException.class);
        }
        second.join(group.membership);
        TestingGroup.get(joining);
        group.all(m -> m.reduceScatter(new long[1000], HALVES));
      }
    }
  }

  @Test
  void aCallerWhoSpeaksAByteAtATimeIsTurnedAwayAfterAllTheTime() throws Exception {
    try (Listener listener =
        Listener.open(InetAddress.getLoopbackAddress(), Duration.ofMillis(500))) {
      listener.accept(new Handshake(membership(listener.port(), 1), 1, 0));
      try (Socket slow = new Socket("127.0.0.1", listener.port())) {
        Awaitility.await()
            .atMost(Duration.ofMinutes(5))
            .pollInterval(Duration.ofMillis(100)) // each byte comes well within the time
            .until(() -> isTurnedAway(slow));
      }
    }
  }

  private static boolean isTurnedAway(Socket socket) {
    try {
      socket.getOutputStream().write(ByteBuffer.allocate(4).putInt(Handshake.MAGIC).get(0));
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  @Test
  void aCrowdOfStrangersKeepsNobodyOut() throws Exception {
    try (TestingGroup group = new TestingGroup(PATIENT, 0, 1)) {
      int port = group.membership.members().get(0).port();
      TcpCollective first = group.members.get(0);
      Future<?> joining = group.start(first, m -> first.join(group.membership));
      List<Socket> crowd = new ArrayList<>();
      try {
        for (int i = 0; i < 100; i++) {
          crowd.add(new Socket("127.0.0.1", port));
        }
        group.members.get(1).join(group.membership);
        TestingGroup.get(joining);
      } finally {
        for (Socket stranger : crowd) {
          stranger.close();
        }
      }
    }
  }

  @Test
  void anImpostorThatListensIsNotTrusted() throws Exception {
    try (Listener listener = Listener.open(InetAddress.getLoopbackAddress());
        Listener impostor = Listener.open(InetAddress.getLoopbackAddress());
        TcpCollective member = new TcpCollective(0, listener, new LocalMembers(), PATIENT)) {
      Membership membership = membership(listener.port(), impostor.port());
      impostor.accept(
          new Handshake(membership, 0, 1) {
            @Override
            byte[] secret() {
              return TestingGroup.secret(9);
            }

            @Override
            void checkProof(String role, byte[] challenge, ByteBuffer message) {}
          });
      assertThatThrownBy(() -> member.join(membership))
          .hasMessageContaining("does not know the secret of this group");
    }
  }

  @Test
  void anotherVersionIsRefusedByName() throws Exception {
    try (ServerSocket old = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Listener listener = Listener.open(InetAddress.getLoopbackAddress());
        TcpCollective member = new TcpCollective(0, listener, new LocalMembers(), PATIENT)) {
      Thread server =
          new Thread(
              () -> {
                try (Socket socket = old.accept()) {
                  DataOutputStream out = new DataOutputStream(socket.getOutputStream());
                  out.writeInt(Handshake.MAGIC);
                  out.writeInt(7);
                  out.write(new byte[16]);
                  socket.getInputStream().readAllBytes();
                } catch (IOException e) {
                  // the caller hung up
                }
              });
      server.start();
      assertThatThrownBy(() -> member.join(membership(listener.port(), old.getLocalPort())))
          .hasMessageContaining(
              "speaks version 7 of the drafters' protocol, this process version 1");
      server.join();
    }
  }

  @Test
  void anOversizedFrameIsRefusedUnread() throws Exception {
    assertFrameRefused(
        frame(Integer.MAX_VALUE), "it sent a frame of 2147483647 bytes where at most 512 are");
    assertFrameRefused(frame(-8), "it sent a frame of 4294967288 bytes where at most 512 are");
  }

  @Test
  void aDamagedFrameIsRefused() throws Exception {
    assertFrameRefused(frame(512), "a frame of 512 bytes was damaged on its way");
  }

  private static void assertFrameRefused(byte[] frame, String message) throws Exception {
    try (Listener listener = Listener.open(InetAddress.getLoopbackAddress());
        Listener peer = Listener.open(InetAddress.getLoopbackAddress());
        TcpCollective member = new TcpCollective(0, listener, new LocalMembers(), PATIENT)) {
      Membership membership = membership(listener.port(), peer.port());
      peer.accept(new Handshake(membership, 0, 1));
      try (Socket socket = call(membership)) {
        member.join(membership);
        socket.getOutputStream().write(frame);
        assertThatThrownBy(() -> member.reduceScatter(new long[1000], HALVES))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("drafter 1 at")
            .hasMessageContaining(message);
      }
    }
  }

  private static byte[] frame(int length) {
    ByteBuffer frame = ByteBuffer.allocate(FrameFormat.HEADER + 512).order(ByteOrder.LITTLE_ENDIAN);
    return frame.putInt(length).put(FrameFormat.DATA).array();
  }

  /** Two ends of a connection without a handshake. */
  private static final class Connection implements AutoCloseable {
    final Socket one;
    final Socket other;

    Connection() throws IOException {
      try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        one = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort());
        other = server.accept();
      }
    }

    @Override
    public void close() throws IOException {
      one.close();
      other.close();
    }
  }

  /**
   * Drafter 0, whose next one is drafter 1 in its process, and whose previous one is drafter 2 in
   * another: so its short timeout is for what drafter 2 does, and for nothing else.
   */
  private static final class AmongTwoProcesses implements AutoCloseable {
    static final int ANY_PORT = 1; // nobody calls there
    final TcpCollective member;
    final Membership membership;
    private final Listener listener = Listener.open(InetAddress.getLoopbackAddress());

    AmongTwoProcesses() throws IOException {
      LocalMembers local = new LocalMembers();
      member = new TcpCollective(0, listener, local, HASTY);
      membership =
          new Membership(
              UUID.randomUUID(),
              TestingGroup.secret(1),
              List.of(
                  new Member(0, "127.0.0.1", listener.port(), local.process()),
                  new Member(1, "127.0.0.1", ANY_PORT, local.process()),
                  new Member(2, "127.0.0.1", ANY_PORT, UUID.randomUUID())));
    }

    /** The whole of drafter 2's call, before drafter 0 joins. */
    Socket call() throws Exception {
      Future<Socket> accepted = listener.accept(new Handshake(membership, 2, 0));
      Socket socket = new Socket("127.0.0.1", listener.port());
      new Handshake(membership, 2, 0).call(socket);
      accepted.get();
      return socket;
    }

    @Override
    public void close() {
      member.close();
    }
  }

  /** Drafter 1's call at drafter 0, which joins later: the answer waits in the socket. */
  private static Socket call(Membership membership) throws Exception {
    Socket socket = new Socket("127.0.0.1", membership.members().get(0).port());
    Thread thread =
        new Thread(
            () -> {
              try {
                new Handshake(membership, 1, 0).call(socket);
              } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
              }
            });
    thread.start();
    return socket;
  }

  private static Membership membership(int port, int peerPort) {
    return new Membership(
        UUID.randomUUID(),
        TestingGroup.secret(1),
        List.of(
            new Member(0, "127.0.0.1", port, UUID.randomUUID()),
            new Member(1, "127.0.0.1", peerPort, UUID.randomUUID())));
  }
}
