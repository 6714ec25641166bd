package org.draftmill.operators.drafter.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.draftmill.operators.drafter.collective.Membership.Member;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class TcpCollectiveFailureTest {
  private static final CollectiveOptions PATIENT =
      new CollectiveOptions(Duration.ofSeconds(30), true, 64);
  private static final CollectiveOptions HASTY =
      new CollectiveOptions(Duration.ofMillis(400), true, 64);
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
      assertThatThrownBy(() -> blocked.get(5, TimeUnit.SECONDS))
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
      assertThatThrownBy(() -> joining.get(5, TimeUnit.SECONDS))
          .hasRootCauseInstanceOf(IOException.class);
    }
  }

  @Test
  void aSlowPeerIsNoSilentPeer() throws Exception {
    try (TestingGroup group = new TestingGroup(HASTY, 0, 1).joined()) {
      group.all(
          member -> {
            if (member.rank() == 1) {
              Thread.sleep(3 * HASTY.timeoutMillis()); // computes: its sender still says so
            }
            member.reduceScatter(new long[1000], HALVES);
          });
    }
  }

  @Test
  void aSilentPeerFailsTheCallAfterTheTimeoutByName() throws Exception {
    try (Listener listener = Listener.open(InetAddress.getLoopbackAddress());
        Listener peer = Listener.open(InetAddress.getLoopbackAddress());
        TcpCollective member = new TcpCollective(0, listener, new LocalMembers(), HASTY)) {
      Membership membership = membership(listener.port(), peer.port());
      peer.accept(new Handshake(membership, 0, 1));
      try (Socket socket = call(membership)) {
        member.join(membership);
        assertThat(socket.isConnected()).isTrue();
        assertThatThrownBy(() -> member.reduceScatter(new long[1000], HALVES))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("drafter 1 at 127.0.0.1:" + peer.port())
            .hasMessageContaining("was silent for 400 ms (drafter.reduce-timeout)");
      }
    }
  }

  @Test
  void aPeerThatDoesNotCallFailsTheJoin() throws Exception {
    try (Listener listener = Listener.open(InetAddress.getLoopbackAddress());
        Listener peer = Listener.open(InetAddress.getLoopbackAddress());
        TcpCollective member = new TcpCollective(0, listener, new LocalMembers(), HASTY)) {
      Membership membership = membership(listener.port(), peer.port());
      peer.accept(new Handshake(membership, 0, 1));
      assertThatThrownBy(() -> member.join(membership))
          .hasMessageContaining("drafter 1 at 127.0.0.1:" + peer.port() + " did not call");
    }
  }

  @Test
  void anUnreachablePeerFailsTheJoin() throws Exception {
    Listener gone = Listener.open(InetAddress.getLoopbackAddress());
    gone.close();
    try (Listener listener = Listener.open(InetAddress.getLoopbackAddress());
        TcpCollective member = new TcpCollective(0, listener, new LocalMembers(), HASTY)) {
      assertThatThrownBy(() -> member.join(membership(listener.port(), gone.port())))
          .hasMessageContaining("Could not reach drafter 1 at 127.0.0.1:" + gone.port());
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
        noisy.setSoTimeout(10_000);
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
    try (java.net.ServerSocket old =
            new java.net.ServerSocket(0, 1, InetAddress.getLoopbackAddress());
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
