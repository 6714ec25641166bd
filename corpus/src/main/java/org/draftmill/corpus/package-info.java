/**
 * From text to a plan: rows are rendered and tokenized ({@code rows}, {@code text}, {@code jinja}),
 * kept as an Arrow dataset ({@code dataset}) and divided into extraction jobs ({@code plan}).
 *
 * <p>Nothing here knows Flink; the batch job and the source that use it live in other modules.
 */
package org.draftmill.corpus;
