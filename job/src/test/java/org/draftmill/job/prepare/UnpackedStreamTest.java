package org.draftmill.job.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipException;
import org.draftmill.corpus.InputException;
import org.junit.jupiter.api.Test;

class UnpackedStreamTest {
  @Test
  void textOfAnyLengthIsUnpacked() throws Exception {
    byte[] text = new byte[1 << 20];
    Random random = new Random(1);
    for (int i = 0; i < text.length; i++) {
      text[i] = (byte) ('a' + random.nextInt(4));
    }
    assertThat(size(packed(text, 100), 200)).isEqualTo(100L << 20);
  }

  @Test
  void whatIsSmallMayBeAsMonotonousAsItLikes() throws Exception {
    assertThat(size(packed(new byte[1 << 20], 60), 2)).isEqualTo(60L << 20);
  }

  @Test
  void aBombIsRefusedBeforeItIsWholeAndAllowedWhereItIsMeant() throws Exception {
    byte[] bomb = packed(new byte[1 << 20], 200);
    assertThat(bomb.length).isLessThan(300_000);
    assertThatThrownBy(() -> size(bomb, 200))
        .isInstanceOf(InputException.class)
        .hasMessageContaining(
            "The input chats.gz becomes more than 200 times larger when it is unpacked")
        .hasMessageEndingWith("raise --max-unpack-ratio, or unpack it yourself.");
    assertThat(size(bomb, 1100)).isEqualTo(200L << 20);
  }

  @Test
  void manyEmptyMembersAreAnErrorOfTheFile() throws Exception {
    ByteArrayOutputStream members = new ByteArrayOutputStream();
    byte[] empty = packed(new byte[0], 1);
    for (int i = 0; i < 200_000; i++) {
      members.write(empty);
    }
    byte[] bytes = members.toByteArray();
    try {
      assertThat(size(bytes, 200)).isZero(); // a Java that goes through them in a loop
    } catch (ZipException e) {
      assertThat(e).hasMessage("thousands of its members are empty");
    }
  }

  private static byte[] packed(byte[] part, int times) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (OutputStream out = new GZIPOutputStream(bytes)) {
      for (int i = 0; i < times; i++) {
        out.write(part);
      }
    }
    return bytes.toByteArray();
  }

  private static long size(byte[] packed, int ratio) throws IOException {
    try (InputStream in = UnpackedStream.of("chats.gz", new ByteArrayInputStream(packed), ratio)) {
      return in.transferTo(OutputStream.nullOutputStream());
    }
  }
}
