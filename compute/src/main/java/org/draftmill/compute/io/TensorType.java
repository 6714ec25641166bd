package org.draftmill.compute.io;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;
import org.draftmill.compute.DType;

/**
 * Element types that a safetensors file may name. All of them are sized and checked; those with a
 * {@link #dtype()} can be decoded to floats, {@code I64}, {@code I32} and {@code U8} to integers.
 */
public enum TensorType {
  BOOL(1),
  U8(1),
  I8(1),
  F8_E5M2(1),
  F8_E4M3(1),
  I16(2),
  U16(2),
  F16(2),
  BF16(2),
  I32(4),
  U32(4),
  F32(4),
  F64(8),
  I64(8),
  U64(8);

  private final int bytes;

  TensorType(int bytes) {
    this.bytes = bytes;
  }

  /** Bytes of one element. */
  public int bytes() {
    return bytes;
  }

  /** The type as one that workspaces decode, if they do. */
  public Optional<DType> dtype() {
    return switch (this) {
      case F32 -> Optional.of(DType.F32);
      case BF16 -> Optional.of(DType.BF16);
      case F16 -> Optional.of(DType.F16);
      default -> Optional.empty();
    };
  }

  public static TensorType of(DType dtype) {
    return valueOf(dtype.name());
  }

  static Optional<TensorType> named(String name) {
    return Arrays.stream(values()).filter(type -> type.name().equals(name)).findFirst();
  }

  static String names() {
    return Arrays.stream(values()).map(TensorType::name).collect(Collectors.joining(", "));
  }
}
