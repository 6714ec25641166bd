package org.draftmill.compute.cpu;

import java.io.IOException;
import java.io.InputStream;
import org.draftmill.compute.ops.Backend;

/**
 * Loads this package once more with vectors of another width: the width is a constant of the loaded
 * classes.
 */
final class OtherVectorWidth extends ClassLoader {
  private static final String PACKAGE = CpuBackend.class.getPackageName() + ".";

  private OtherVectorWidth() {
    super(CpuBackend.class.getClassLoader());
  }

  static Backend open(int bits, int threads) throws ReflectiveOperationException {
    System.setProperty(VectorKernels.BITS, Integer.toString(bits));
    try {
      Class<?> backend = new OtherVectorWidth().loadClass(CpuBackend.class.getName());
      return (Backend) backend.getConstructor(int.class).newInstance(threads);
    } finally {
      System.clearProperty(VectorKernels.BITS);
    }
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(PACKAGE)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded != null ? loaded : define(name);
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    try (InputStream code = getResourceAsStream(name.replace('.', '/') + ".class")) {
      byte[] bytes = code.readAllBytes();
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }
}
