package org.draftmill.job.config;

import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.description.HtmlFormatter;

/** The documentation of all options as Markdown: {@code docs/options.md} is what this renders. */
public final class OptionsTable {
  private OptionsTable() {}

  public static String render() {
    StringBuilder page = new StringBuilder();
    page.append("# Options\n\n")
        .append("All keys of `run.yaml`; a dot stands for a level of nesting. `-D key=value` on")
        .append(" the command line goes before the file, `null` unsets.\n")
        .append(
            "Keys below `flink.` are handed to Flink: `-D flink.taskmanager.network.memory.max=2gb`.\n")
        .append("This page is generated from the options themselves.\n");
    String group = "";
    for (Class<?> holder : KnownOptions.holders()) {
      for (ConfigOption<?> option : KnownOptions.declaredBy(holder)) {
        String first = option.key().substring(0, option.key().indexOf('.'));
        if (!first.equals(group)) {
          group = first;
          page.append("\n## ").append(group).append("\n\n");
          page.append("| key | default | takes | what it does |\n| --- | --- | --- | --- |\n");
        }
        row(page, option);
      }
    }
    return page.toString();
  }

  private static void row(StringBuilder page, ConfigOption<?> option) {
    String description = new HtmlFormatter().format(option.description());
    List<String> cells =
        List.of(
            "`" + option.key() + "`",
            option.hasDefaultValue() ? "`" + defaultOf(option) + "`" : "",
            OptionTypes.describe(option),
            description.replace("|", "\\|").replace("\n", " "));
    page.append("| ").append(String.join(" | ", cells)).append(" |\n");
  }

  private static String defaultOf(ConfigOption<?> option) {
    Object value = ResolvedRunFile.plain(new Configuration().get(option));
    return String.valueOf(value);
  }
}
