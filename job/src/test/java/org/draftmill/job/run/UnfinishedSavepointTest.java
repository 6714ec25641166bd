package org.draftmill.job.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnfinishedSavepointTest {
  private static final String JOB = "a1b2c3d4e5f60718293a4b5c6d7e8f90";

  @TempDir Path dir;

  private RunDirectory run;

  @BeforeEach
  void makeRun() {
    run = RunDirectory.create(dir);
  }

  private Path folder(String name, String... files) throws IOException {
    Path folder = Files.createDirectories(run.checkpoints().resolve(name));
    for (String file : files) {
      Files.createFile(folder.resolve(file));
    }
    return folder;
  }

  @Test
  void goesWithAllThatWasWrittenOfIt() throws Exception {
    UnfinishedSavepoint.begin(run, JOB);
    Path empty = folder("savepoint-a1b2c3-000000000001");
    Path begun = folder("savepoint-a1b2c3-000000000002", "0b1c", "._metadata.inprogress");

    UnfinishedSavepoint.discard(run);

    assertThat(empty).doesNotExist();
    assertThat(begun).doesNotExist();
    assertThat(run.checkpoints()).isDirectoryNotContaining("glob:**savepoint-*");
  }

  /** Flink may have made the folder after all when the process ended. */
  @Test
  void goesWhenTheNextProcessBegins() throws Exception {
    UnfinishedSavepoint.begin(run, JOB);
    UnfinishedSavepoint.discard(run);
    Path late = folder("savepoint-a1b2c3-000000000001", "0b1c");

    UnfinishedSavepoint.end(run);

    assertThat(late).doesNotExist();
    assertThat(run.checkpoints()).isEmptyDirectory();
  }

  @Test
  void nothingElseGoes() throws Exception {
    Path users = folder("savepoint-a1b2c3-000000000001"); // asked for before
    UnfinishedSavepoint.begin(run, JOB);
    Path complete = folder("savepoint-a1b2c3-000000000002", "_metadata");
    Path setAside = folder("savepoint-a1b2c3-000000000003", "_metadata.damaged");
    Path ofAnother = folder("savepoint-ffffff-000000000004");
    Path checkpoint = folder(JOB + "/chk-5");
    Path elsewhere = Files.createDirectory(dir.resolve("elsewhere"));
    Path link =
        Files.createSymbolicLink(
            run.checkpoints().resolve("savepoint-a1b2c3-000000000006"), elsewhere);

    UnfinishedSavepoint.discard(run);
    UnfinishedSavepoint.end(run);
    UnfinishedSavepoint.end(run);

    for (Path path : new Path[] {users, complete, setAside, ofAnother, checkpoint, elsewhere}) {
      assertThat(path).isDirectory();
    }
    assertThat(link).isSymbolicLink();
  }

  @Test
  void nothingGoesOfARunThatWasNotToStop() throws Exception {
    Path users = folder("savepoint-a1b2c3-000000000001");

    UnfinishedSavepoint.end(run);

    assertThat(users).isDirectory();
  }

  @Test
  void oneThatWasBeingDeletedIsDeletedInTheEnd() throws Exception {
    UnfinishedSavepoint.begin(run, JOB);
    folder(".savepoint-a1b2c3-000000000001", "0b1c");
    folder(".savepoint-a1b2c3-000000000002", "_metadata"); // it became complete at that moment

    UnfinishedSavepoint.end(run);

    assertThat(run.checkpoints().resolve(".savepoint-a1b2c3-000000000001")).doesNotExist();
    assertThat(run.checkpoints().resolve("savepoint-a1b2c3-000000000002/_metadata")).exists();
  }
}
