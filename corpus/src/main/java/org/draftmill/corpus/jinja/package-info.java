/**
 * An interpreter of Jinja as Hugging Face chat templates use it.
 *
 * <p>The dialect is Jinja2's with {@code trim_blocks} and {@code lstrip_blocks}, loop controls, no
 * autoescaping, an immutable sandbox, {@code raise_exception}, {@code strftime_now}, a plain {@code
 * tojson} and the {@code generation} block. Values are Java's: {@code String}, {@code Boolean},
 * {@code Long}, {@code Double}, {@code List}, {@code Map}; {@code null} is None.
 *
 * <p>{@link org.draftmill.corpus.jinja.JinjaTemplate} is the entrance. A template becomes a tree of
 * expressions and statements once and is then walked by any number of threads; every walk is
 * bounded by {@link org.draftmill.corpus.jinja.Limits}.
 */
package org.draftmill.corpus.jinja;
