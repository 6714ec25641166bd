package org.draftmill.serializers;

/** How the hidden states of a chunk are stored. */
public enum HiddenDType {
  FLOAT32(0, 4, "float32"),
  BFLOAT16(1, 2, "bfloat16"),
  FLOAT16(2, 2, "float16");

  private final int code;
  private final int bytes;
  private final String configName;

  HiddenDType(int code, int bytes, String configName) {
    this.code = code;
    this.bytes = bytes;
    this.configName = configName;
  }

  /** The number that stands for this type in a record; never changes. */
  int code() {
    return code;
  }

  /** Bytes of one element. */
  public int bytes() {
    return bytes;
  }

  /** The name in options, {@code bfloat16} say. */
  public String configName() {
    return configName;
  }

  @Override
  public String toString() {
    return configName;
  }

  static HiddenDType ofCode(int code) throws RecordFormatException {
    for (HiddenDType dtype : values()) {
      if (dtype.code == code) {
        return dtype;
      }
    }
    throw new RecordFormatException("A hidden state chunk names the unknown dtype " + code + ".");
  }
}
