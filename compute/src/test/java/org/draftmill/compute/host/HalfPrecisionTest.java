package org.draftmill.compute.host;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HalfPrecisionTest {

  @Test
  void everyHalfSurvivesTheWayThroughFloat() {
    for (int bits = 0; bits < 1 << 16; bits++) {
      short half = (short) bits;
      float from16 = HalfPrecision.fromFloat16(half);
      float fromB16 = HalfPrecision.fromBFloat16(half);
      if (from16 == from16) {
        assertThat(HalfPrecision.toFloat16(from16)).as("float16 %x", bits).isEqualTo(half);
      } else {
        assertThat(HalfPrecision.fromFloat16(HalfPrecision.toFloat16(from16))).isNaN();
      }
      if (fromB16 == fromB16) {
        assertThat(HalfPrecision.toBFloat16(fromB16)).as("bfloat16 %x", bits).isEqualTo(half);
      } else {
        assertThat(HalfPrecision.fromBFloat16(HalfPrecision.toBFloat16(fromB16))).isNaN();
      }
    }
  }

  @Test
  void roundsToNearestAndHalvesToEven() {
    assertThat(HalfPrecision.toBFloat16(0x1.01p0f)).isEqualTo((short) 0x3f80);
    assertThat(HalfPrecision.toBFloat16(0x1.03p0f)).isEqualTo((short) 0x3f82);
    assertThat(HalfPrecision.toBFloat16(0x1.010002p0f)).isEqualTo((short) 0x3f81);
    assertThat(HalfPrecision.toFloat16(0x1.002p0f)).isEqualTo((short) 0x3c00);
    assertThat(HalfPrecision.toFloat16(0x1.006p0f)).isEqualTo((short) 0x3c02);
    assertThat(HalfPrecision.toFloat16(0x1.002002p0f)).isEqualTo((short) 0x3c01);
    assertThat(HalfPrecision.toFloat16(0x1.8p-25f)).isEqualTo((short) 1);
    assertThat(HalfPrecision.toFloat16(0x1p-25f)).isEqualTo((short) 0);
  }

  @Test
  void knowsSomeValues() {
    assertThat(HalfPrecision.fromFloat16((short) 0x3c00)).isEqualTo(1f);
    assertThat(HalfPrecision.fromFloat16((short) 0xc000)).isEqualTo(-2f);
    assertThat(HalfPrecision.fromFloat16((short) 0x7bff)).isEqualTo(65504f);
    assertThat(HalfPrecision.fromFloat16((short) 0x0001)).isEqualTo(0x1p-24f);
    assertThat(HalfPrecision.toFloat16(65520f)).isEqualTo((short) 0x7c00);
    assertThat(HalfPrecision.toFloat16(65519f)).isEqualTo((short) 0x7bff);
    assertThat(HalfPrecision.toBFloat16(Float.MAX_VALUE)).isEqualTo((short) 0x7f80);
  }
}
