package org.draftmill.compute.host;

/** Conversions between float and the two 16-bit formats, to nearest, halves to even. */
public final class HalfPrecision {
  private HalfPrecision() {}

  public static float fromBFloat16(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }

  /** NaN stays NaN (quiet). */
  public static short toBFloat16(float value) {
    int bits = Float.floatToRawIntBits(value);
    if (value != value) {
      return (short) (bits >>> 16 | 0x40);
    }
    return (short) (bits + 0x7fff + (bits >>> 16 & 1) >>> 16);
  }

  public static float fromFloat16(short half) {
    int sign = (half & 0x8000) << 16;
    int exponent = half >>> 10 & 0x1f;
    int fraction = half & 0x3ff;
    if (exponent == 0) {
      float magnitude = fraction * 0x1p-24f;
      return sign == 0 ? magnitude : -magnitude;
    }
    int bits = exponent == 31 ? 0x7f800000 | fraction << 13 : exponent + 112 << 23 | fraction << 13;
    return Float.intBitsToFloat(sign | bits);
  }

  /** Values beyond 65,504 by half a step or more become infinite; NaN stays NaN (quiet). */
  public static short toFloat16(float value) {
    int bits = Float.floatToRawIntBits(value);
    int sign = bits >>> 16 & 0x8000;
    int magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) {
      return (short) (sign | 0x7e00 | magnitude >>> 13 & 0x3ff);
    }
    if (magnitude >= 0x477ff000) {
      return (short) (sign | 0x7c00);
    }
    if (magnitude < 0x38800000) {
      return (short) (sign | (int) Math.rint(Float.intBitsToFloat(magnitude) * 0x1p24));
    }
    int rounded = magnitude + 0xfff + (magnitude >>> 13 & 1);
    return (short) (sign | rounded - (112 << 23) >>> 13);
  }
}
