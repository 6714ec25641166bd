package org.draftmill.job.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** What {@code --version} prints. */
public final class Version implements IVersionProvider {

  /** The version of this build, {@code 0.1.0-SNAPSHOT} say. */
  public static String number() {
    return property("version");
  }

  @Override
  public String[] getVersion() {
    return new String[] {
      "draftmill " + number() + " (Flink " + property("flink") + ")",
      "Java " + Runtime.version() + ", " + System.getProperty("java.vm.name")
    };
  }

  private static String property(String name) {
    Properties properties = new Properties();
    try (InputStream in = Version.class.getResourceAsStream("/draftmill.properties")) {
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty(name);
  }
}
