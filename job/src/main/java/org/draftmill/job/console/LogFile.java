package org.draftmill.job.console;

import java.nio.file.Path;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.builder.api.AppenderComponentBuilder;
import org.apache.logging.log4j.core.config.builder.api.ConfigurationBuilder;
import org.apache.logging.log4j.core.config.builder.api.ConfigurationBuilderFactory;
import org.apache.logging.log4j.core.config.builder.impl.BuiltConfiguration;
import org.apache.logging.log4j.status.StatusLogger;

/**
 * Sends the logs of Flink and of the stages to a file, so that the terminal keeps what a user
 * reads. Before a file is open, warnings go to the standard error.
 */
public final class LogFile {
  private static final String PATTERN = "%d{HH:mm:ss.SSS} %-5p [%t] %c{1.} - %m%n%ex";

  private LogFile() {}

  /** Warnings of Draftmill alone, to the standard error. */
  public static void none() {
    ConfigurationBuilder<BuiltConfiguration> builder = builder();
    AppenderComponentBuilder console =
        builder
            .newAppender("console", "Console")
            .addAttribute("target", "SYSTEM_ERR")
            .add(builder.newLayout("PatternLayout").addAttribute("pattern", "warning: %m%n"));
    builder
        .add(console)
        .add(builder.newLogger("org.draftmill", Level.WARN).add(builder.newAppenderRef("console")))
        .add(builder.newRootLogger(Level.OFF));
    Configurator.reconfigure(builder.build());
  }

  /** Everything from {@code INFO} on to {@code file}, which is appended to. */
  public static void open(Path file) {
    ConfigurationBuilder<BuiltConfiguration> builder = builder();
    AppenderComponentBuilder appender =
        builder
            .newAppender("file", "File")
            .addAttribute("fileName", file.toString())
            .add(builder.newLayout("PatternLayout").addAttribute("pattern", PATTERN));
    builder
        .add(appender)
        .add(builder.newLogger("org.apache.pekko", Level.WARN))
        .add(builder.newRootLogger(Level.INFO).add(builder.newAppenderRef("file")));
    Configurator.reconfigure(builder.build());
    // Trouble with the log itself, a full disk say, is met by whatever else is written there.
    StatusLogger.getLogger().getFallbackListener().setLevel(Level.OFF);
  }

  private static ConfigurationBuilder<BuiltConfiguration> builder() {
    return ConfigurationBuilderFactory.newConfigurationBuilder()
        .setStatusLevel(Level.OFF)
        // The clean stop on Ctrl-C is worth logging; the JVM's end closes the file all the same.
        .setShutdownHook("disable");
  }
}
