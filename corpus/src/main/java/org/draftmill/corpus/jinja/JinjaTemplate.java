package org.draftmill.corpus.jinja;

import java.time.ZonedDateTime;
import java.util.Map;
import org.draftmill.corpus.jinja.Statements.Body;

/** A parsed template. Immutable; rendered by any number of threads. */
public final class JinjaTemplate {
  private final Body body;

  private JinjaTemplate(Body body) {
    this.body = body;
  }

  /**
   * Parses a template.
   *
   * @throws JinjaException naming the line and the construct, if it is no Jinja or uses a tag,
   *     filter or test that is not known
   */
  public static JinjaTemplate parse(String source) {
    return new JinjaTemplate(TemplateParser.parse(source));
  }

  /**
   * Renders the template.
   *
   * @param variables values by name: {@code String}, {@code Boolean}, {@code Long}, {@code Double},
   *     {@code List}, {@code Map} with text keys, or null for None; they are not changed
   * @param now the time that {@code strftime_now} tells
   * @throws JinjaException naming the line, if rendering fails, is refused by the template or
   *     exceeds a limit
   */
  public String render(Map<String, ?> variables, ZonedDateTime now, Limits limits) {
    Rendering rendering = new Rendering(limits, now);
    try {
      body.run(rendering, Scope.outermost(variables));
    } catch (StackOverflowError e) {
      throw new JinjaException(
          JinjaException.Kind.LIMIT, "its values are nested too deep to be followed");
    }
    return rendering.output();
  }
}
