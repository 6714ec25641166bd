/** The target's own tokenizer and chat template, read from its Hugging Face folder. */
package org.draftmill.corpus.text;
