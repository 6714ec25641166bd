// Between number formats. Launch: one-dimensional grid, one value a thread.
#include "device.cuh"

// out[n] = in[n], exactly; overwrites.
extern "C" __global__ void decode_bf16(const uint16_t* in, float* out, long long n) {
  long long i = globalThread();
  if (i < n) {
    out[i] = toFloat(bf16{in[i]});
  }
}

// out[n] = in[n], rounded to nearest, halves to even; overwrites.
extern "C" __global__ void encode_bf16(const float* in, uint16_t* out, long long n) {
  long long i = globalThread();
  if (i < n) {
    out[i] = toBf16(in[i]).bits;
  }
}

// out[n] = in[n] of IEEE half precision, exactly; overwrites.
extern "C" __global__ void decode_f16(const uint16_t* in, float* out, long long n) {
  long long i = globalThread();
  if (i < n) {
    unsigned half = in[i];
    unsigned sign = (half & 0x8000u) << 16;
    unsigned exponent = half >> 10 & 0x1fu;
    unsigned fraction = half & 0x3ffu;
    if (exponent == 0) {
      out[i] = __uint_as_float(__float_as_uint(static_cast<float>(fraction) * 0x1p-24f) | sign);
    } else {
      unsigned wide = exponent == 31 ? 0x7f800000u : (exponent + 112) << 23;
      out[i] = __uint_as_float(sign | wide | fraction << 13);
    }
  }
}

// out[n] = in[n], rounded to nearest, halves to even; beyond 65,504 by half a step infinite; NaN stays
// NaN (quiet); overwrites.
extern "C" __global__ void encode_f16(const float* in, uint16_t* out, long long n) {
  long long i = globalThread();
  if (i < n) {
    unsigned bits = __float_as_uint(in[i]);
    unsigned sign = bits >> 16 & 0x8000u;
    unsigned magnitude = bits & 0x7fffffffu;
    unsigned half;
    if (magnitude > 0x7f800000u) {
      half = 0x7e00u | (magnitude >> 13 & 0x3ffu);
    } else if (magnitude >= 0x477ff000u) {
      half = 0x7c00u;
    } else if (magnitude < 0x38800000u) {
      half = static_cast<unsigned>(rintf(__uint_as_float(magnitude) * 0x1p24f));
    } else {
      half = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
    }
    out[i] = static_cast<uint16_t>(sign | half);
  }
}

// A weight as tensor cores read it: out[rows, stride] = bf16(in[rows, columns]), the columns from
// `columns` to `stride` zero; overwrites. n = rows·stride.
extern "C" __global__ void arrange_bf16(const float* in, bf16* out, int columns, int stride, long long n) {
  long long i = globalThread();
  if (i < n) {
    long long row = i / stride;
    int column = static_cast<int>(i - row * stride);
    out[i] = column < columns ? toBf16(in[row * columns + column]) : bf16{0};
  }
}
