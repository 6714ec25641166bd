package org.draftmill.compute;

/**
 * Element types of stored tensors, by the names that safetensors files and {@code config.json} use.
 */
public enum DType {
  F32(4, "float32"),
  BF16(2, "bfloat16"),
  F16(2, "float16");

  private final int bytes;
  private final String configName;

  DType(int bytes, String configName) {
    this.bytes = bytes;
    this.configName = configName;
  }

  /** Bytes of one element. */
  public int bytes() {
    return bytes;
  }

  /** The name in {@code config.json} and in options, {@code bfloat16} say. */
  public String configName() {
    return configName;
  }
}
