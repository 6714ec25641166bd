package org.draftmill.corpus.text;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;

/**
 * The native library behind the tokenizer, which DJL ships in its jar for Linux, macOS and Windows.
 *
 * <p>DJL would fetch another build where it sees a GPU, and reports its use over the network; both
 * are switched off before its first class loads, unless the user set these properties. One JVM can
 * load the library in one class loader only: a cluster that runs several jobs in a JVM puts the
 * tokenizers jar into Flink's {@code lib/}.
 */
final class NativeTokenizers {
  static {
    setDefault("RUST_FLAVOR", "cpu");
    setDefault("ai.djl.offline", "true");
    setDefault("OPT_OUT_TRACKING", "true");
  }

  private NativeTokenizers() {}

  private static void setDefault(String property, String value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, value);
    }
  }

  /** The library, loaded with the settings above. */
  static TokenizersLibrary load() {
    return TokenizersLibrary.LIB;
  }
}
