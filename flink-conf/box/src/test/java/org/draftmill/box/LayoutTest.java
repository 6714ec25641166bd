package org.draftmill.box;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LayoutTest {
  @TempDir Path dir;

  @Test
  void membersAreThoseWithAPidInTheOrderOfTheirNumbers() throws Exception {
    Layout layout = new Layout(dir);
    assertThat(layout.members()).isEmpty();
    assertThat(layout.nextNumber(Role.TASKMANAGER)).isEqualTo(1);
    Files.createDirectories(layout.run());
    for (int number : List.of(10, 9, 2)) {
      Files.writeString(layout.pidFile(Role.TASKMANAGER.member(number)), "1");
    }
    Files.createFile(layout.argumentsFile(Role.TASKMANAGER.member(11)));

    assertThat(layout.members())
        .containsExactly("taskmanager-2", "taskmanager-9", "taskmanager-10");
    assertThat(layout.nextNumber(Role.TASKMANAGER)).isEqualTo(12);
    assertThat(layout.nextNumber(Role.JOBMANAGER)).isEqualTo(1);
  }

  @Test
  void aFolderOfSomebodyElseIsNotTaken() throws Exception {
    Layout layout = new Layout(dir.resolve("cluster"));
    assertThat(layout.isVacant()).isTrue();
    layout.claim();
    Files.createFile(layout.root().resolve("file"));
    assertThat(layout.isVacant()).isTrue();

    Files.createFile(dir.resolve("thesis.tex"));
    assertThat(new Layout(dir).isVacant()).isFalse();
    assertThat(new Layout(dir.resolve("thesis.tex")).isVacant()).isFalse();
  }

  @Test
  void aProcessThatWasGivenTheIdOfADeadMemberIsNotTouched() throws Exception {
    Layout layout = new Layout(dir);
    Files.createDirectories(layout.run());
    long self = ProcessHandle.current().pid();
    Files.writeString(layout.pidFile("jobmanager-1"), Long.toString(self));
    Member member = new Member(layout, "jobmanager-1");

    assertThat(member.isAlive()).isFalse();
    member.stop(Duration.ofSeconds(1));

    assertThat(layout.members()).isEmpty();
  }
}
