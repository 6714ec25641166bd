// The end of a step: the norm of the gradient, AdamW, and a hash of the weights. The gradient is what exact
// sums hold: 64-bit integers, times a number that the host knows. Every operation is rounded by itself, as on the
// host, so that the same sums give the same weights to the bit.
#include "device.cuh"

constexpr long long BLOCK = 1 << 16;  // elements whose squares are added up on their own

// squares[b] = Σ (sums[i]·unit)² over i = from + b·BLOCK … of at most BLOCK elements before `to`: four sums of every
// fourth element, in ascending order, (0 + 1) + (2 + 3); what is left of a number of elements that is
// no multiple of four goes to the first. sums [≥ to], squares [ceil((to − from) / BLOCK)] is overwritten.
// Launch: ceil(blocks / 8) blocks of 32 threads, four for each block of elements.
extern "C" __global__ void block_squares(const long long* sums, long long from, long long to, double unit,
                                         double* squares) {
  constexpr int AHEAD = 8;
  int lane = static_cast<int>(threadIdx.x);
  long long block = static_cast<long long>(blockIdx.x) * (WARP / 4) + lane / 4;
  int chain = lane % 4;
  long long begin = from + block * BLOCK;
  int count = static_cast<int>(max(0LL, min(BLOCK, to - begin)));
  int whole = count - count % 4;
  const long long* own = sums + begin;
  double sum = 0;
  for (int i = chain; i < whole; i += 4 * AHEAD) {
    long long value[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
      value[k] = i + 4 * k < whole ? own[i + 4 * k] : 0;
    }
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
      double g = static_cast<double>(value[k]) * unit;
      sum += g * g;  // a zero beyond the end changes nothing
    }
  }
  if (chain == 0) {
    for (int i = whole; i < count; i++) {
      double g = static_cast<double>(own[i]) * unit;
      sum += g * g;
    }
  }
  sum += __shfl_xor_sync(ALL_LANES, sum, 1);
  sum += __shfl_xor_sync(ALL_LANES, sum, 2);
  if (chain == 0 && count > 0) {
    squares[block] = sum;
  }
}

// AdamW on the elements begin … end − 1, with g = (float) (sums[i]·factor):
//   first = beta1·first + gain1·g     second = beta2·second + gain2·g²
//   weight = weight·kept − rate·first / (√(second·secondScale) + epsilon)
// sums and weights [≥ end]; first and second are those of the elements from `from` on; weights, first and second
// are replaced. Launch: ceil((end − begin) / 1024) blocks of 256 threads.
extern "C" __global__ void adamw(const long long* sums, float* weights, float* first, float* second, long long from,
                                 long long begin, long long end, double factor, float beta1, float gain1, float beta2,
                                 float gain2, float rate, float secondScale, float epsilon, float kept) {
  constexpr int EACH = 4;
  constexpr int THREADS = 256;
  long long start = begin + static_cast<long long>(blockIdx.x) * THREADS * EACH + threadIdx.x;
  long long sum[EACH];
  float m[EACH], v[EACH], w[EACH];
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    long long i = start + k * THREADS;
    if (i < end) {
      sum[k] = sums[i];
      m[k] = first[i - from];
      v[k] = second[i - from];
      w[k] = weights[i];
    }
  }
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    long long i = start + k * THREADS;
    if (i < end) {
      float g = static_cast<float>(static_cast<double>(sum[k]) * factor);
      float mean = beta1 * m[k] + gain1 * g;
      float square = beta2 * v[k] + gain2 * (g * g);
      first[i - from] = mean;
      second[i - from] = square;
      weights[i] = w[k] * kept - rate * mean / (sqrtf(square * secondScale) + epsilon);
    }
  }
}

// hash[0] += Σ of each weight's bits mixed with its place, modulo 2^64; weights [n]. Launch: at most
// ceil(n / 1024) blocks of 256 threads.
extern "C" __global__ void fingerprint(const float* weights, long long n, unsigned long long* hash) {
  constexpr int EACH = 4;
  long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  unsigned long long sum = 0;
  for (long long i = globalThread(); i < n; i += EACH * threads) {
    float value[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
      value[k] = i + k * threads < n ? weights[i + k * threads] : 0.f;
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
      unsigned long long place = static_cast<unsigned long long>(i + k * threads);
      unsigned long long mixed = (place << 32 | __float_as_uint(value[k])) * 0x9E3779B97F4A7C15ull;
      sum += place < static_cast<unsigned long long>(n) ? (mixed ^ mixed >> 32) * 0xBF58476D1CE4E5B9ull : 0;
    }
  }
  for (int distance = WARP / 2; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(ALL_LANES, sum, distance);
  }
  if (threadIdx.x % WARP == 0) {
    atomicAdd(hash, sum);
  }
}
