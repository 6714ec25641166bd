package org.draftmill.operators.drafter.collective;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * How two members make sure of each other before the first frame. Big-endian; every message has a
 * fixed length and begins with magic and version.
 *
 * <pre>
 *  listener → caller   magic int32 | version int32 | challenge [16]
 *  caller → listener   magic int32 | version int32 | group [16] | from int32 | to int32 | challenge [16] | proof [32]
 *  listener → caller   magic int32 | version int32 | proof [32]
 * </pre>
 *
 * A proof is HMAC-SHA-256, keyed with the group's secret, of the role, the other side's challenge,
 * the group and both ranks. The secret itself never travels; frames are neither encrypted nor
 * signed.
 */
class Handshake {
  static final int MAGIC = 0x444D5247; // "DMRG"
  static final int VERSION = 1;

  private static final int CHALLENGE = 16;
  private static final int PROOF = 32;
  private static final int GREETING = 8 + CHALLENGE;
  private static final int CLAIM = 8 + 16 + 8 + CHALLENGE + PROOF;
  private static final int WELCOME = 8 + PROOF;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Membership membership;
  private final int from;
  private final int to;

  /** The link of a group that leads from a rank to a rank. */
  Handshake(Membership membership, int from, int to) {
    this.membership = membership;
    this.from = from;
    this.to = to;
  }

  /** The caller's side. */
  void call(Socket socket) throws IOException {
    ByteBuffer greeting = read(socket, GREETING);
    byte[] theirs = challenge(greeting);
    byte[] mine = challenge();
    ByteBuffer claim = message(CLAIM);
    claim.putLong(membership.group().getMostSignificantBits());
    claim.putLong(membership.group().getLeastSignificantBits());
    claim.putInt(from).putInt(to).put(mine).put(proof("call", theirs));
    write(socket, claim);
    checkProof("answer", mine, read(socket, WELCOME));
  }

  /** The listener's side. */
  void answer(Socket socket) throws IOException {
    byte[] mine = challenge();
    write(socket, message(GREETING).put(mine));
    ByteBuffer claim = read(socket, CLAIM);
    UUID group = new UUID(claim.getLong(), claim.getLong());
    int claimedFrom = claim.getInt();
    int claimedTo = claim.getInt();
    byte[] theirs = challenge(claim);
    if (!group.equals(membership.group()) || claimedFrom != from || claimedTo != to) {
      throw new Refused(
          "it is drafter %d of group %s and looks for drafter %d; expected was drafter %d of group %s for drafter %d"
              .formatted(claimedFrom, group, claimedTo, from, membership.group(), to));
    }
    checkProof("call", mine, claim);
    write(socket, message(WELCOME).put(proof("answer", theirs)));
  }

  private static byte[] challenge() {
    byte[] bytes = new byte[CHALLENGE];
    RANDOM.nextBytes(bytes);
    return bytes;
  }

  private static byte[] challenge(ByteBuffer message) {
    byte[] bytes = new byte[CHALLENGE];
    message.get(bytes);
    return bytes;
  }

  void checkProof(String role, byte[] challenge, ByteBuffer message) throws IOException {
    byte[] given = new byte[PROOF];
    message.get(given);
    if (!MessageDigest.isEqual(given, proof(role, challenge))) {
      throw new Refused("it does not know the secret of this group");
    }
  }

  byte[] secret() {
    return membership.secret();
  }

  private byte[] proof(String role, byte[] challenge) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret(), "HmacSHA256"));
      mac.update(role.getBytes(StandardCharsets.US_ASCII));
      mac.update(challenge);
      ByteBuffer rest = ByteBuffer.allocate(24);
      rest.putLong(membership.group().getMostSignificantBits());
      rest.putLong(membership.group().getLeastSignificantBits());
      rest.putInt(from).putInt(to);
      return mac.doFinal(rest.array());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Every Java has HMAC-SHA-256.", e);
    }
  }

  private static ByteBuffer message(int length) {
    return ByteBuffer.allocate(length).putInt(MAGIC).putInt(VERSION);
  }

  private static void write(Socket socket, ByteBuffer message) throws IOException {
    socket.getOutputStream().write(message.array());
  }

  /** Reads a message and checks magic and version. */
  private static ByteBuffer read(Socket socket, int length) throws IOException {
    byte[] bytes = new byte[length];
    DataInputStream in = new DataInputStream(socket.getInputStream());
    try {
      in.readFully(bytes, 0, 8);
      ByteBuffer message = ByteBuffer.wrap(bytes);
      int magic = message.getInt();
      int version = message.getInt();
      if (magic != MAGIC) {
        throw new Refused("it does not speak the drafters' protocol");
      }
      if (version != VERSION) {
        throw new Refused(
            "it speaks version %d of the drafters' protocol, this process version %d; run all TaskManagers from the same build"
                .formatted(version, VERSION));
      }
      in.readFully(bytes, 8, length - 8);
      return message;
    } catch (EOFException e) {
      throw new EOFException("it closed the connection during the handshake");
    }
  }

  /** The other side is not who it should be; trying again will not help. */
  static final class Refused extends IOException {
    private static final long serialVersionUID = 1L;

    Refused(String message) {
      super(message);
    }
  }
}
