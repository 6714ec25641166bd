package org.draftmill.corpus.io;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** A directory, on whatever file system it lies, whose files are asked for by name. */
@FunctionalInterface
public interface ByteSources {
  /** The file of that name; whether it exists shows when it is opened. */
  ByteSource file(String name);

  /** A directory of the local file system. */
  static ByteSources directory(Path directory) {
    return name -> file(directory.resolve(name));
  }

  /** A file of the local file system. */
  static ByteSource file(Path path) {
    return new ByteSource() {
      @Override
      public InputStream open(long position) throws IOException {
        FileChannel channel = InputFile.open(path);
        try {
          return Channels.newInputStream(channel.position(position));
        } catch (IOException | RuntimeException e) {
          channel.close();
          throw e;
        }
      }

      @Override
      public long length() throws IOException {
        try (FileChannel channel = InputFile.open(path)) {
          return channel.size();
        }
      }

      @Override
      public String name() {
        return path.toString();
      }
    };
  }
}
