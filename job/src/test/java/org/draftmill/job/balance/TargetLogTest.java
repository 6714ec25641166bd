package org.draftmill.job.balance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.draftmill.job.balance.TargetLog.Row;
import org.draftmill.job.balance.TargetLog.Total;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TargetLogTest {
  @TempDir Path directory;
  private Path file;
  private TargetLog log;

  @BeforeEach
  void make() {
    file = directory.resolve("log/targets.csv");
    log = new TargetLog(file);
  }

  @Test
  void withoutAFileNothingIsKnown() throws IOException {
    assertThat(log.total()).isEqualTo(new Total(0, 0, 0));
  }

  @Test
  void whatWasDoneBetweenRowsIsAddedUp() throws IOException {
    log.start(100);
    log.append(new Row(110, 5_000, 8));
    log.append(new Row(120, 9_000, 15.5));

    assertThat(log.total()).isEqualTo(new Total(9_000, 15.5, 20));
  }

  @Test
  void processesAndRestartsCountFromZero() throws IOException {
    log.start(100);
    log.append(new Row(110, 5_000, 8));
    log.start(500);
    log.append(new Row(510, 1_000, 2));
    log.append(new Row(520, 400, 1)); // the tasks were restarted
    log.append(new Row(530, 900, 3));

    assertThat(log.total()).isEqualTo(new Total(6_500, 12, 30));
  }

  @Test
  void aLineThatACrashCutShortIsPassedOver() throws IOException {
    log.start(100);
    log.append(new Row(110, 5_000, 8));
    Files.writeString(file, "120.0,90", StandardOpenOption.APPEND);

    assertThat(log.total()).isEqualTo(new Total(5_000, 8, 10));
  }

  @Test
  void bytesThatAreNoTextArePassedOver() throws IOException {
    log.start(100);
    log.append(new Row(110, 5_000, 8));
    Files.write(file, new byte[] {(byte) 0xff, 0, (byte) 0xc3, '\n'}, StandardOpenOption.APPEND);

    assertThat(log.total()).isEqualTo(new Total(5_000, 8, 10));
  }
}
