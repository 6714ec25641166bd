package org.draftmill.compute.cuda;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.draftmill.compute.ops.Backend;

/**
 * A planted fault: a file of the backend in which {@code text} reads {@code instead}.
 *
 * @param file {@code norms.cu} or {@code Norms.java}
 */
record Mutant(String fault, String file, String text, String instead) {
  private static final Path JAVA = Path.of("src/main/java/org/draftmill/compute/cuda");

  /** Bytes of a pinned buffer: small, so that several are in use. */
  static final int STAGING = 1 << 14;

  private static final String PACKAGE = "org.draftmill.compute.cuda.";

  @Override
  public String toString() {
    return fault + " in " + file;
  }

  /** A backend that can be opened. */
  interface Planted {
    Backend open();
  }

  /**
   * Compiles the backend with the fault in it.
   *
   * @throws IllegalStateException if the fault cannot be planted any more
   */
  Planted plant(Path folder) {
    return file.endsWith(".cu") ? withKernel() : withClass(folder);
  }

  /** Puts the right kernels back. */
  void remove() {
    if (file.endsWith(".cu")) {
      CudaEmulator.use(EmulatorBuild.kernels(EmulatorBuild.KERNELS.resolve(file)));
    }
  }

  private String changed(Path source) {
    String right = EmulatorBuild.read(source);
    if (!right.contains(text)) {
      throw new IllegalStateException(file + " has no '" + text + "' any more: change this mutant");
    }
    return right.replace(text, instead);
  }

  private Planted withKernel() {
    String source = changed(EmulatorBuild.KERNELS.resolve(file));
    Path library = EmulatorBuild.kernels(file.replace(".cu", ""), source);
    return () -> {
      CudaEmulator.use(library);
      return CudaBackend.open(0, STAGING);
    };
  }

  private Planted withClass(Path folder) {
    compile(changed(JAVA.resolve(file)), folder);
    return () -> openFrom(folder);
  }

  private Backend openFrom(Path folder) {
    try {
      URL[] first = {folder.toUri().toURL(), Path.of("target/classes").toUri().toURL()};
      ClassLoader loader = new OwnLoader(first);
      Class<?> backend = loader.loadClass(PACKAGE + "CudaBackend");
      if (file.startsWith("Cublas")) {
        Class<?> products = loader.loadClass(PACKAGE + "MatrixProducts");
        Object cublas = products.getField("CUBLAS").get(null);
        return (Backend) backend.getMethod("open", int.class, products).invoke(null, 0, cublas);
      }
      Method open = backend.getDeclaredMethod("open", int.class, int.class);
      open.setAccessible(true);
      return (Backend) open.invoke(null, 0, STAGING);
    } catch (InvocationTargetException e) {
      throw new IllegalStateException(e.getCause());
    } catch (ReflectiveOperationException | IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void compile(String source, Path folder) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    JavaFileObject object =
        new SimpleJavaFileObject(URI.create("mutant:///" + file), JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return source;
          }
        };
    List<String> options =
        List.of(
            "-d", folder.toString(), "-cp", System.getProperty("java.class.path"), "-proc:none");
    if (!compiler.getTask(null, null, null, options, null, List.of(object)).call()) {
      throw new IllegalStateException("the mutant does not compile: " + this);
    }
  }

  /** Loads the backend's own package anew; everything else is that of the tests. */
  private static final class OwnLoader extends URLClassLoader {
    OwnLoader(URL[] first) {
      super(first, Mutant.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith(PACKAGE)) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded != null ? loaded : findClass(name);
      }
    }
  }
}
