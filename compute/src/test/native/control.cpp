// What the tests ask of the emulator: the native methods of org.draftmill.compute.cuda.CudaEmulator.
#include "emulator.h"

#include <jni.h>

using namespace emulator;

#define NATIVE(type, name) extern "C" JNIEXPORT type JNICALL Java_org_draftmill_compute_cuda_CudaEmulator_##name

NATIVE(jstring, addKernels)(JNIEnv* env, jclass, jstring path) {
  const char* text = env->GetStringUTFChars(path, nullptr);
  bool done = addKernels(text);
  env->ReleaseStringUTFChars(path, text);
  return done ? nullptr : env->NewStringUTF(trouble().c_str());
}
NATIVE(void, setDevices)(JNIEnv*, jclass, jint count) { settings().devices = count; }
NATIVE(void, setDevice)(JNIEnv*, jclass, jint capability, jlong bytes, jint driver, jint ptxVersion) {
  settings().capability = capability;
  settings().memory = static_cast<size_t>(bytes);
  settings().driver = driver;
  settings().ptxVersion = ptxVersion;
}
NATIVE(void, setOrder)(JNIEnv*, jclass, jint order, jlong ownSeed) {
  settings().order = order;
  seed(static_cast<uint64_t>(ownSeed));
}
NATIVE(void, setRaceChecks)(JNIEnv*, jclass, jboolean on) { checkRaces(on); }
NATIVE(void, failAllocation)(JNIEnv*, jclass, jint afterwards) {
  settings().allocationsUntilFailure = afterwards;
}
NATIVE(void, setLibrary)(JNIEnv*, jclass, jboolean starts) { settings().library = starts; }
NATIVE(void, setPeers)(JNIEnv*, jclass, jboolean reach) { settings().peers = reach; }
NATIVE(jlong, copiesBetweenDevices)(JNIEnv*, jclass, jboolean straight) { return copiesBetweenDevices(straight); }
NATIVE(jlong, live)(JNIEnv*, jclass, jint kind) { return live(kind); }
NATIVE(jlong, launched)(JNIEnv*, jclass) { return launches(); }
