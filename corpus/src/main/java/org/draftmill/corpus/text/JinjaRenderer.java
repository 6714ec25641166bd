package org.draftmill.corpus.text;

import java.time.ZonedDateTime;
import java.util.Map;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.jinja.JinjaException;
import org.draftmill.corpus.jinja.JinjaTemplate;
import org.draftmill.corpus.jinja.Limits;

/** Renders with this project's own interpreter; see docs/chat-templates.md for why. */
final class JinjaRenderer implements ChatRenderer {
  private final JinjaTemplate template;
  private final ZonedDateTime now;

  /**
   * @param place the file and entry of the template, for messages
   * @throws InputException if the template cannot be parsed
   */
  JinjaRenderer(String source, String place, ZonedDateTime now) {
    this.now = now;
    try {
      this.template = JinjaTemplate.parse(source);
    } catch (JinjaException e) {
      throw new InputException(
          "The chat template in %s cannot be rendered: %s.".formatted(place, e.getMessage()), e);
    }
  }

  @Override
  public String render(Map<String, ?> variables) throws RenderException {
    try {
      return template.render(variables, now, Limits.DEFAULT);
    } catch (JinjaException e) {
      boolean unsupported = e.kind() == JinjaException.Kind.UNSUPPORTED;
      throw new RenderException(e.getMessage(), unsupported, e);
    }
  }
}
