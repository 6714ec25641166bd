package org.draftmill.operators.jobs;

import java.io.IOException;
import java.io.InputStream;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;
import org.draftmill.corpus.io.ByteSource;
import org.draftmill.corpus.io.ByteSources;

/** A directory on any file system that Flink knows: local, S3, HDFS. */
public final class FlinkByteSources implements ByteSources {
  private final Path directory;

  public FlinkByteSources(Path directory) {
    this.directory = directory;
  }

  @Override
  public ByteSource file(String name) {
    return new FlinkByteSource(new Path(directory, name));
  }

  private record FlinkByteSource(Path path) implements ByteSource {
    @Override
    public InputStream open(long position) throws IOException {
      FSDataInputStream in = path.getFileSystem().open(path);
      try {
        if (position > 0) {
          in.seek(position);
        }
        return in;
      } catch (IOException | RuntimeException e) {
        in.close();
        throw e;
      }
    }

    @Override
    public long length() throws IOException {
      return path.getFileSystem().getFileStatus(path).getLen();
    }

    @Override
    public String name() {
      return path.toString();
    }
  }
}
